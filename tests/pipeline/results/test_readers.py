"""Every dataset in each format, read by the readers that docs/outputs.md names."""

import csv
import json

import duckdb
import fastavro
import pandas as pd
import polars as pl
import pytest

import goodgain as gg
from tests.pipeline.runs import FULL, SAMPLE, rows, run

pytestmark = pytest.mark.slow

DATASETS = ("conversations", "iterations", "means", "duplicates", "calls", "rejected", "late")


def parquet_readers(folder):
    pattern = f"{folder}/*.parquet"
    yield "pandas", len(pd.read_parquet(folder))
    yield "polars", pl.read_parquet(pattern).height
    yield "duckdb", duckdb.sql(f"SELECT count(*) FROM '{pattern}'").fetchall()[0][0]


def jsonl_readers(folder):
    (path,) = folder.glob("*.jsonl")
    yield "json", len([json.loads(line) for line in path.open()])
    if path.stat().st_size:
        yield "pandas", len(pd.read_json(path, lines=True))
        yield "polars", pl.read_ndjson(path, infer_schema_length=None).height
        counted = duckdb.sql(f"SELECT count(*) FROM read_json_auto('{path}')")
        yield "duckdb", counted.fetchall()[0][0]


def avro_readers(folder):
    (path,) = folder.glob("*.avro")
    with path.open("rb") as file:
        yield "fastavro", sum(1 for _ in fastavro.reader(file))


READERS = {"parquet": parquet_readers, "jsonl": jsonl_readers, "avro": avro_readers}


@pytest.mark.parametrize("file_format", READERS)
def test_every_reader_reads_all_rows_of_every_dataset(file_format, tmp_path):
    output = tmp_path / "out"
    assert run(output, [SAMPLE], *FULL, f"--format={file_format}") in (0, 3)
    loaded = gg.load(output)
    for name in DATASETS:
        expected = len(rows(output, name))
        counted = dict(READERS[file_format](output / name))
        assert counted == dict.fromkeys(counted, expected)
        if name != "late":
            assert len(getattr(loaded, name)) == expected
    means = pd.read_csv(output / "means.csv")
    assert len(means) == len(rows(output, "means"))
    with (output / "means.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    row = rows(output, "means")[0]
    assert json.loads(first["slice"]) == row["slice"]
    assert float(first["mean"]) == row["mean"]
    assert (first["i"], first["metric"]) == ("", row["metric"])
