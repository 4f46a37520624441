"""Outputs of a run as other tools read them: columns, types, descriptions, values (SPEC 6)."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import fastavro
import pandas
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from goodgain.transforms.core.metrics.groups import column_of
from goodgain.transforms.core.ranking.names import column_name
from tests.core.files.samples import both_readings
from tests.pipeline.runs import FULL, SAMPLE, contents, manifest, names_in, rows, run

pytestmark = pytest.mark.slow

DATASETS = ("iterations", "conversations", "calls", "duplicates", "means", "rejected", "late")
FORMATS = ("avro", "parquet", "jsonl")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Copied from SPEC 6.
SPEC_COLUMNS = {
    "iterations": """conversation_id, turn, attributes, i, iteration, calls, R_i, UR_i, GR_i, Dup_i,
        G_i, unlabelled_i, AvgGain_i, R_at_i, UR_at_i, GR_at_i, DupR_at_i, CG_at_i, RG_at_i,
        DCG_at_i, DRG_at_i, RAG_at_i, DRAG_at_i, SRE_at_i, SRR_at_i""",
    "conversations": """conversation_id, turn, attributes, N, calls, R, UR, GR, DupR, CG, RG, DCG,
        DRG, RAG, DRAG, SRE, SRR, iterations_for_all_good_results, iterations_after_last_good,
        unlabelled, label_conflicts, rejected_records, redelivered, first_timestamp,
        last_timestamp""",
    "means": """slice, metric, i, population, n, undefined, mean, stddev, stderr, ci_low, ci_high,
        clusters, min, max, p10, p50, p90""",
}


def spec_columns(dataset):
    return [name.strip() for name in SPEC_COLUMNS[dataset].split(",")]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """One run in each format."""
    folder = tmp_path_factory.mktemp("outputs")
    for name in FORMATS:
        assert run(folder / name, [SAMPLE], *FULL, f"--format={name}") == 0
    return folder


def part(outputs, file_format, dataset):
    (path,) = (outputs / file_format / dataset).iterdir()
    assert path.suffix == f".{file_format}"
    return path


def avro_records(path):
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        return reader.writer_schema, list(reader)


def json_rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_folder_contains_the_documented_files(outputs):
    for name in FORMATS:
        assert names_in(outputs / name) == sorted(
            [*DATASETS, "manifest.json", "means.csv", "report.html"]
        )
        assert set(manifest(outputs / name)["datasets"]) == set(DATASETS)


@pytest.mark.parametrize("dataset", DATASETS)
def test_all_formats_have_the_same_rows(dataset, outputs):
    avro, parquet, jsonl = (rows(outputs / name, dataset) for name in FORMATS)
    assert avro == parquet == jsonl
    assert len(avro) == manifest(outputs / "avro")["datasets"][dataset]
    assert avro or dataset == "late"


@pytest.mark.parametrize("dataset", DATASETS)
def test_all_formats_have_the_same_columns(dataset, outputs):
    schema, _ = avro_records(part(outputs, "avro", dataset))
    columns = pq.read_schema(part(outputs, "parquet", dataset)).names
    avro_names = [column_name(column_of(name)) for name in columns]
    assert [field["name"] for field in schema["fields"]] == avro_names
    for row in json_rows(part(outputs, "jsonl", dataset)):
        assert list(row) == columns


@pytest.mark.parametrize("dataset", SPEC_COLUMNS)
def test_columns_are_in_the_order_of_the_spec(dataset, outputs):
    expected = spec_columns(dataset)
    names = pq.read_schema(part(outputs, "parquet", dataset)).names
    columns = [name for name in names if "cost" not in name and not name.startswith("CG_per.")]
    if dataset == "conversations":
        ranking = manifest(outputs / "parquet")["parameters"]["metrics"]
        in_vain = ["calls_empty", "calls_failed", "queries_repeated"]
        assert columns == [*expected, *ranking, *in_vain]
    else:
        added = set()
        if dataset == "means":
            added = {"note", "worst", "best", "skewness", "interval"}
            added |= {"effective_clusters", "intraclass_correlation", "stderr_within"}
        assert [name for name in columns if name not in added] == expected
        assert set(columns) - set(expected) == added


@pytest.mark.parametrize("dataset", DATASETS)
def test_avro_schema_describes_every_field(dataset, outputs):
    schema, _ = avro_records(part(outputs, "avro", dataset))
    assert schema["name"] == f"goodgain.{dataset}"
    assert schema["doc"]
    for field in schema["fields"]:
        assert field["doc"]
        kind = field["type"]
        if isinstance(kind, list):
            null, kind = kind
            assert null == "null"
            assert field["default"] is None
        if field["name"].endswith("timestamp"):
            assert kind == {"type": "long", "logicalType": "timestamp-millis"}


def test_fastavro_reads_avro(outputs):
    _, records = avro_records(part(outputs, "avro", "conversations"))
    assert len(records) == 60
    expected = rows(outputs / "avro", "conversations")
    for record, row in zip(records, expected, strict=True):
        millis = row["last_timestamp"]
        time = None if millis is None else EPOCH + timedelta(milliseconds=millis)
        assert record["last_timestamp"] == time
        assert record["ndcg_at_10"] == row["ndcg@10"]
        assert record["rbp_p_8"] == row["rbp.8"]


def test_pyarrow_reads_parquet(outputs):
    table = pyarrow.dataset.dataset(outputs / "parquet" / "conversations").to_table()
    schema = table.schema
    assert schema.field("last_timestamp").type == pa.timestamp("ms", tz="UTC")
    assert schema.field("attributes").type == pa.map_(pa.string(), pa.string())
    assert schema.field("CG").type == pa.int64()
    assert not schema.field("conversation_id").nullable
    assert schema.field("CG").nullable
    assert all(field.metadata[b"description"] for field in schema)
    expected = rows(outputs / "parquet", "conversations")
    assert table.column("ndcg@10").to_pylist() == [row["ndcg@10"] for row in expected]


def test_duckdb_reads_parquet(outputs):
    pattern = outputs / "parquet" / "conversations" / "*.parquet"
    found = duckdb.sql(
        f"select attributes['arm'], count(*), avg(CG), max(last_timestamp) from '{pattern}' "
        "where N > 0 and rejected_records = 0 group by 1 order by 1"
    ).fetchall()
    means = {
        row["slice"]["arm"]: row
        for row in rows(outputs / "parquet", "means")
        if list(row["slice"]) == ["arm"]
        and row["metric"] == "CG"
        and row["i"] is None
        and row["population"] == "all"
    }
    assert [arm for arm, *_ in found] == sorted(means)
    for arm, n, mean, _ in found:
        assert n == means[arm]["n"]
        assert mean == pytest.approx(means[arm]["mean"], rel=1e-12)


def test_pandas_reads_json_lines(outputs):
    frame = pandas.read_json(part(outputs, "jsonl", "conversations"), lines=True)
    expected = rows(outputs / "jsonl", "conversations")
    assert frame["conversation_id"].tolist() == [row["conversation_id"] for row in expected]
    assert frame["R"].tolist() == [row["R"] for row in expected]
    times = pandas.to_datetime(frame["last_timestamp"]).dropna()
    millis = [row["last_timestamp"] for row in expected if row["last_timestamp"] is not None]
    assert [round(time.timestamp() * 1_000) for time in times] == millis
    assert len(millis) > 50


def test_rows_within_a_file_are_sorted(outputs):
    orders = {
        "iterations": ("conversation_id", "i"),
        "conversations": ("conversation_id",),
        "calls": ("conversation_id", "i", "call_position"),
        "duplicates": ("conversation_id", "i", "call_position", "rank"),
    }
    for dataset, names in orders.items():
        places = [[row[name] for name in names] for row in rows(outputs / "avro", dataset)]
        assert places == sorted(places)
    assert rows(outputs / "avro", "means")[0]["slice"] == {}


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("file_format", "reading"), both_readings(FORMATS, ["avro"]), indirect=["reading"]
)
def test_every_process_writes_the_same_bytes(file_format, outputs, tmp_path):
    """Also with another hash seed, which changes the order of sets; Avro also read in Python."""
    words = ["run", "--input", SAMPLE, "--output", str(tmp_path / "out"), *FULL]
    subprocess.run(
        [sys.executable, "-m", "goodgain", *words, f"--format={file_format}"],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        cwd=Path(__file__).parents[3],
        check=True,
        capture_output=True,
    )
    assert contents(tmp_path / "out") == contents(outputs / file_format)
