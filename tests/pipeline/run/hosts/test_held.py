"""Small files that decode to gigabytes end a command with one message and little memory."""

import gzip
import json
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.datasets import pool_documents
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.formats import FORMATS
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.native import SWITCH
from tests.core.files.limited import MOST_MEMORY
from tests.forked import command_in_process
from tests.pipeline.runs import manifest, run

MEBIBYTE = 2**20
MESSAGE = "take more memory than one process should hold"


def record(number, **fields):
    result = {"id": "x", "gain": 2}
    return {"conversation_id": f"c{number}", "iteration": 1, "results": [result], **fields}


HOSTILE = {
    "attributes": lambda at: record(at, attributes={"a": "a" * MEBIBYTE}),
    "ids": lambda at: record(at, conversation_id=f"c{at}" + "d" * MEBIBYTE),
    "rejected": lambda at: record(at, conversation_id=f"c{at}" + "d" * MEBIBYTE, iteration=0),
}


@pytest.fixture(scope="module", params=HOSTILE)
def hostile_file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "in.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.writelines(json.dumps(HOSTILE[request.param](at)) + "\n" for at in range(300))
    return path


def run_limited(path, folder, *options, native="1"):
    """Assert that a run stays within MOST_MEMORY; return its exit code and stderr."""
    words = ["run", "--input", path, "--output", folder, "--quiet", *options]
    done = command_in_process(*words, environment={SWITCH: native})
    assert "Traceback" not in done.stderr
    assert done.memory < MOST_MEMORY
    assert not (folder / "manifest.json").exists()
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("native", ["1", "0"])
def test_by_default_a_small_input_stays_below_a_gigabyte(hostile_file, native, tmp_path):
    assert hostile_file.stat().st_size < 2 * MEBIBYTE
    code, errors = run_limited(hostile_file, tmp_path / "out", native=native)
    assert (code, errors.count(MESSAGE)) == (ExitCode.FAILED, 1), errors


def write_shared_text(names, path):
    """Write a small Parquet file whose rows each have a megabyte in each of the columns `names`."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000, pa.int32()), ["x" * MEBIBYTE])
    columns = dict.fromkeys(("topic", "document_id", "conversation_id"), text)
    numbers = dict.fromkeys(("iteration", "rank", "gain"), pa.array([1] * 2_000))
    chosen = {name: values for name, values in columns.items() if name in names}
    pq.write_table(pa.table(chosen | numbers), path, compression="zstd")


def endless_row(head, path):
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
    rest = gzip.compress(b"x" * 100 * MEBIBYTE, 1)
    with path.open("ab") as file:
        file.writelines([rest] * 15)


TABLES = {
    "qrels.parquet": (partial(write_shared_text, ("topic", "document_id")), MESSAGE),
    "labels.parquet": (partial(write_shared_text, ("conversation_id",)), MESSAGE),
    "labels.csv": (partial(endless_row, b"record_id,rank,gain\n"), "the row is longer than"),
    "labels.head.csv": (partial(endless_row, b"record_id,"), "the row is longer than"),
    "labels.jsonl": (partial(endless_row, b'{"record_id": "'), "the row is longer than"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_small_tables_of_labels_stay_below_a_gigabyte(name, tmp_path):
    make, expected = TABLES[name]
    traces, table = tmp_path / "in.jsonl", tmp_path / name
    traces.write_text(json.dumps(record(0)) + "\n")
    make(table)
    assert table.stat().st_size < 8 * MEBIBYTE
    option = f"--{name.partition('.')[0]}"
    code, errors = run_limited(traces, tmp_path / "out", option, str(table))
    assert code in (ExitCode.FAILED, ExitCode.USAGE)
    assert errors.count(expected) == 1


@pytest.fixture
def traces(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(record(at)) + "\n" for at in range(300)))
    return path


def test_max_held_bytes_stops_a_run_and_a_higher_value_lets_it_finish(traces, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(out, [traces], "--max-held-bytes=30000") == ExitCode.FAILED
    message = capsys.readouterr().err
    assert f"The traces {MESSAGE}, about 30,000 bytes: raise --max-held-bytes" in message
    assert "give fewer files, or run on an engine" in message
    assert not (out / "manifest.json").exists()
    assert run(out, [traces], "--max-held-bytes=100000000", "--overwrite") == ExitCode.DONE
    assert manifest(out)["parameters"]["max_held_bytes"] == 100_000_000


def test_max_held_bytes_limits_evaluate(traces):
    with pytest.raises(GoodGainError, match=MESSAGE):
        goodgain.evaluate(traces, max_held_bytes=30_000)
    assert goodgain.evaluate(traces, max_held_bytes=100_000_000).conversations


def test_validate_limits_the_ids_that_it_remembers(traces, capsys, monkeypatch):
    monkeypatch.setattr("goodgain.transforms.core.memory_budget._SMALLEST_DEFAULT", 2**16)
    assert main(["validate", str(traces)]) == ExitCode.FAILED
    assert MESSAGE in capsys.readouterr().err


QRELS = "".join(f"c{at} 0 d{at} 1\n" for at in range(300))
LABELS = "conversation_id,iteration,rank,gain\n" + "".join(f"c{at},1,1,1\n" for at in range(300))


@pytest.mark.slow
@pytest.mark.parametrize(("option", "labels"), [("qrels", QRELS), ("labels", LABELS)])
def test_max_held_bytes_limits_external_labels(option, labels, tmp_path, capsys):
    traces, label_file = tmp_path / "in.jsonl", tmp_path / f"{option}.csv"
    results = [{"ids": {"doc_id": "d0"}, "gain": 2}]
    traces.write_text(json.dumps(record(0, results=results)) + "\n")
    label_file.write_text(labels)
    few, enough = ["--max-held-bytes", "60000"], ["--max-held-bytes", "10000000"]
    words = ["--input", str(traces), f"--{option}", str(label_file)]
    out = ["--output", str(tmp_path / "out")]
    assert main(["run", *words, *out, *few]) == ExitCode.FAILED
    errors = capsys.readouterr().err
    assert errors.count(f"The rows of --{option} {MESSAGE}") == 1
    assert "fewer files" not in errors
    assert "(--runner FlinkRunner)" in errors
    assert main(["run", *words, *out, *enough, "--overwrite"]) == ExitCode.DONE
    alone = f"The rows of {option} {MESSAGE}, about 60,000 bytes: raise max_held_bytes if "
    with pytest.raises(GoodGainError, match=f"^{alone}the machine has the memory.$"):
        goodgain.evaluate(traces, max_held_bytes=60_000, **{option: label_file})
    assert goodgain.evaluate(
        traces, max_held_bytes=10_000_000, **{option: label_file}
    ).conversations


def test_max_held_bytes_limits_lookups_of_judgments(tmp_path, capsys):
    traces, label_file = tmp_path / "in.jsonl", tmp_path / "qrels.txt"
    results = [{"ids": {"doc_id": f"d{at}"}} for at in range(300)]
    traces.write_text(json.dumps(record(0, results=results)) + "\n")
    label_file.write_text("c0 0 d0 1\n")
    words = ["--input", str(traces), "--qrels", str(label_file), "--max-held-bytes", "100000"]
    assert main(["run", *words, "--output", str(tmp_path / "out")]) == ExitCode.FAILED
    assert MESSAGE in capsys.readouterr().err
    with pytest.raises(GoodGainError, match=MESSAGE):
        goodgain.evaluate(traces, max_held_bytes=100_000, qrels=label_file)


@pytest.mark.slow
def test_topics_of_a_megabyte_take_little_memory(tmp_path):
    """All documents of a conversation are asked for under its topic."""
    traces, label_file = tmp_path / "in.jsonl.gz", tmp_path / "qrels.txt"
    topic = "\N{GRINNING FACE}" * (MEBIBYTE // 4)
    results = [{"ids": {"doc_id": f"d{at}"}} for at in range(10)]
    with gzip.open(traces, "wt", compresslevel=1) as file:
        for at in range(300):
            file.write(json.dumps(record(at, attributes={"a": topic}, results=results)) + "\n")
    label_file.write_text("t 0 d0 1\n")
    words = ["--qrels", str(label_file), "--qrels-topic", "a"]
    code, error = run_limited(traces, tmp_path / "out", *words)
    assert (code, MESSAGE in error) == (ExitCode.FAILED, True)


def built_pool(tmp_path, results, *options):
    """A trace with one result, and a pool built from another trace with that and more results."""
    traces, others, pool = (tmp_path / name for name in ("in.jsonl", "others.jsonl", "pool"))
    traces.write_text(json.dumps(record(0, results=[{"ids": {"doc_id": "d0"}}])) + "\n")
    found = [{"ids": {"doc_id": f"d{at}"}, "gain": 2} for at in range(results)]
    others.write_text(json.dumps(record(0, results=found)) + "\n")
    words = ["--run", f"a={others}", "--output", str(pool), *options]
    assert main(["pool", "build", *words]) == ExitCode.DONE
    return traces, pool


@pytest.mark.slow
def test_max_held_bytes_limits_pools(tmp_path, capsys):
    traces, pool = built_pool(tmp_path, 300)
    few, enough = ["--max-held-bytes", "200000"], ["--max-held-bytes", "10000000"]
    words = ["--input", str(traces), "--pool", str(pool)]
    out = ["--output", str(tmp_path / "out")]
    assert main(["run", *words, *out, *few]) == ExitCode.FAILED
    assert capsys.readouterr().err.count(MESSAGE) == 1
    assert main(["run", *words, *out, *enough, "--overwrite"]) == ExitCode.DONE
    assert main(["explain", "c0", *words, *few]) == ExitCode.FAILED
    assert main(["explain", "c0", *words, *enough]) == ExitCode.DONE
    with pytest.raises(GoodGainError, match=MESSAGE):
        goodgain.evaluate(traces, max_held_bytes=200_000, pool=pool)
    assert goodgain.evaluate(traces, max_held_bytes=10_000_000, pool=pool).conversations


def many_documents(row, path):
    rows = ({**row, "number": at, "document": str(at)} for at in range(500_000))
    with path.open("wb") as file:
        FORMATS["parquet"].write(pool_documents("documents"), rows, file)


def long_documents(count, length, row, path):
    """Write documents that all have the same text, which the file stores once."""
    columns = {name: pa.array([value] * count) for name, value in row.items()}
    text = json.dumps([{"content": "x" * length}])
    columns["evidence"] = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), [text])
    pq.write_table(pa.table(columns), path, compression="zstd")


def long_evidence(row, path):
    text = "[" + ",".join(["{}"] * 20_000_000) + "]"
    path.write_text(json.dumps({**row, "evidence": text}) + "\n")


POOLS = {
    "many documents": ("parquet", many_documents),
    "many long documents": ("parquet", partial(long_documents, 12_000, 100_000)),
    "long documents": ("parquet", partial(long_documents, 2_000, MEBIBYTE)),
    "one document": ("jsonl", long_evidence),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", POOLS)
def test_a_small_pool_stays_below_a_gigabyte(name, tmp_path):
    written, change = POOLS[name]
    traces, pool = built_pool(tmp_path, 1, "--format", written)
    (path,) = pool.glob("documents_*/part-*")
    with path.open("rb") as file:
        (row,) = FORMATS[written].read(file)
    change(row, path)
    assert path.stat().st_size < 64 * MEBIBYTE
    code, errors = run_limited(traces, tmp_path / "out", "--pool", str(pool))
    assert (code, errors.count(MESSAGE)) == (ExitCode.FAILED, 1), errors


@pytest.mark.parametrize("kind", ["results", "texts", "rejected"])
def test_max_held_bytes_limits_explain(kind, tmp_path, capsys):
    path = tmp_path / "in.jsonl"
    fields_of = {
        "results": {"results": [{}] * 100},
        "texts": {"results": [{"title": "t" * 100_000}]},
        "rejected": {"results": [], "turn": "t" * 50_000},
    }
    lines = [{**record(0), **fields_of[kind], "iteration": at} for at in range(1, 5)]
    path.write_text("".join(json.dumps({**line, "conversation_id": "c"}) + "\n" for line in lines))
    words = ["explain", "c", "--input", str(path), "--max-held-bytes"]
    assert main([*words, "20000"]) == ExitCode.FAILED
    assert MESSAGE in capsys.readouterr().err
    assert main([*words, "100000000"]) == ExitCode.DONE


def test_max_held_bytes_limits_explanations_of_an_evaluation(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(record(0, results=[{"title": "t" * 50_000}] * 5)) + "\n")
    run = goodgain.evaluate(path, max_held_bytes=200_000, allow_unlabelled=True)
    run.save(tmp_path / "out")
    for either in (run, goodgain.load(tmp_path / "out")):
        with pytest.raises(GoodGainError, match=MESSAGE):
            either.explain("c0")


def test_max_held_bytes_limits_judgments_of_traces_in_memory(tmp_path):
    label_file = tmp_path / "qrels.txt"
    label_file.write_text(QRELS)
    traces = [record(0, results=[{"ids": {"doc_id": "d0"}}])]
    with pytest.raises(GoodGainError, match=MESSAGE):
        goodgain.evaluate(traces, max_held_bytes=60_000, qrels=label_file)
    assert goodgain.evaluate(traces, max_held_bytes=10_000_000, qrels=label_file).conversations


def test_validate_accepts_max_held_bytes(traces, capsys):
    assert main(["validate", str(traces), "--max-held-bytes", "60000"]) == ExitCode.FAILED
    errors = capsys.readouterr().err
    assert f"The traces {MESSAGE}" in errors
    assert "or give fewer files.\n" in errors  # and no engine, since validate has none
    assert main(["validate", str(traces), "--max-held-bytes", "60000000"]) == ExitCode.DONE
