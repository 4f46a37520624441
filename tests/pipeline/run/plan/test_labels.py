"""`goodgain run --labels`: external labels give the same outputs as labels in the traces."""

import csv
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.inputs.local_files import LOCAL
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.run.plan.given_tables import find_table
from goodgain.transforms.core.files.labels import LabelTable
from tests.pipeline.runs import FULL, contents, manifest, rows, run, write_jsonl

COLUMNS = (
    *("conversation_id", "turn", "iteration", "call", "record_id", "trace_id", "span_id"),
    *("rank", "position", "gain"),
)
ALL_OUTCOMES = ("read", "joined", "repeated", "empty", "rejected", "replaced")


def two_turns(number, rng):
    """Records of a conversation: two turns of two iterations, each with one or two calls."""
    for turn in (1, 2):
        for iteration in (1, 3):
            for call in range(rng.choice((1, 2))):
                yield {
                    "conversation_id": f"c{number}",
                    "turn": turn,
                    "iteration": iteration,
                    "call": call,
                    "record_id": f"trace{number}/{turn}{iteration}{call}",
                    "attributes": {"arm": rng.choice("AB"), "market": "x"},
                    "results": [
                        {
                            "ids": {"doc_id": f"d{rng.randrange(12)}"},
                            "gain": rng.choice((None, *range(5))),
                        }
                        for _ in range(rng.randrange(5))
                    ],
                }


def traces(conversations=12, seed=5):
    rng = random.Random(seed)
    return [record for number in range(conversations) for record in two_turns(number, rng)]


def label(record, at, how):
    """The label of a result as a row of a label file; `how` selects columns that identify it."""
    trace, span = record["record_id"].split("/")
    gain = record["results"][at]["gain"]
    place = {name: record[name] for name in ("conversation_id", "turn", "iteration", "call")}
    return {
        "place": {**place, "rank": at + 1, "gain": gain},
        "record": {"record_id": record["record_id"], "rank": at + 1, "gain": gain},
        "both": {
            "conversation_id": record["conversation_id"],
            "record_id": record["record_id"],
            "position": at,
            "gain": gain,
        },
        "trace": {"trace_id": trace, "span_id": span, "position": at, "gain": gain},
        "span": {
            "conversation_id": record["conversation_id"],
            "span_id": span,
            "position": at,
            "gain": gain,
        },
    }[how]


def strip_gains(records, choose_how):
    """The records without gains, and the gains as labels; `choose_how` returns `how` for each."""
    bare, labels = [], []
    for record in records:
        results = []
        for at, result in enumerate(record["results"]):
            if result["gain"] is not None:
                labels.append(label(record, at, choose_how()))
            results.append({**result, "gain": None})
        bare.append({**record, "results": results})
    return bare, labels


def write_labels(path, labels):
    path = Path(path)
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(labels)
    elif path.suffix == ".parquet":
        table = {name: [row.get(name) for row in labels] for name in COLUMNS}
        pq.write_table(pa.table(table), path)
    else:
        write_jsonl(path, labels)
    return path


def outcomes(output):
    counts = manifest(output)["labels"]
    return {name: counts[name] for name in ALL_OUTCOMES}


def reasons(output):
    return {row["position"]: row["reason"] for row in rows(output, "rejected_labels")}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_external_labels_give_the_outputs_of_labels_in_the_traces(tmp_path, suffix):
    """Labels name their results in any of the ways, and are in random order."""
    records = traces()
    rng = random.Random(1)
    bare, labels = strip_gains(
        records, lambda: rng.choice(("place", "record", "both", "trace", "span"))
    )
    rng.shuffle(labels)
    path = write_labels(tmp_path / f"labels.{suffix}", labels)
    assert run(tmp_path / "in", [write_jsonl(tmp_path / "in.jsonl", records)], *FULL) == 0
    unlabelled = [write_jsonl(tmp_path / "bare.jsonl", bare)]
    assert run(tmp_path / "beside", unlabelled, *FULL, "--labels", str(path)) == 0
    expected, found = contents(tmp_path / "in"), contents(tmp_path / "beside")
    assert {name for name in found if name not in expected} == {
        "rejected_labels/part-00000-of-00001.parquet"
    }
    assert all(found[name] == expected[name] for name in expected)
    assert outcomes(tmp_path / "beside") == {
        **dict.fromkeys(ALL_OUTCOMES, 0),
        "read": len(labels),
        "joined": len(labels),
    }


@pytest.mark.slow
def test_external_labels_replace_those_of_the_traces_unless_empty(tmp_path, capsys):
    record = {
        "conversation_id": "c",
        "iteration": 1,
        "results": [{"id": x, "gain": 1} for x in "abc"],
    }
    labels = [
        {"conversation_id": "c", "iteration": 1, "rank": 1, "gain": 4},
        {"conversation_id": "c", "iteration": 1, "rank": 1, "gain": 4},
        {"conversation_id": "c", "iteration": 1, "rank": 2, "gain": 1},
        {"conversation_id": "c", "iteration": 1, "rank": 3, "gain": None},
    ]
    path = write_labels(tmp_path / "labels.jsonl", labels)
    inputs = [write_jsonl(tmp_path / "t.jsonl", [record])]
    options = ("--labels", str(path), "--good-gain-threshold", "1")
    assert run(tmp_path / "out", inputs, *options) == 0
    (row,) = rows(tmp_path / "out", "conversations")
    assert row["CG"] == 4 + 1 + 1
    assert outcomes(tmp_path / "out") == {
        "read": 4, "joined": 2, "repeated": 1, "empty": 1, "rejected": 0, "replaced": 1,
    }  # fmt: skip
    summary = "Labels: 4 read = 2 joined + 1 repeated + 1 empty + 0 rejected; 1 replace"
    assert summary in " ".join(capsys.readouterr().out.split())


HOSTILE = """\
conversation_id,turn,iteration,call,record_id,span_id,rank,position,gain
c,1,1,0,,,1,,2
c,1,1,0,,,2,,5
c,1,1,0,,,9,,2
c,1,7,0,,,1,,2
c,1,1,,,,1,,2
x,1,1,0,,,1,,2
,,,,r-no,,1,,2
,,,,r-two,,1,,2
,,,,,no,,0,2
,,,,,one,,0,1
,,,,,one,,0,3
c,1,1,0,r-1,,1,,2
,,,,r-1,one,1,,2
,,,,r-1,,1,0,2
,,,,r-1,,,,2
,,,,r-1,,0,,2
,,,,,,1,,2
c,,,,,,1,,2
,,,,r-1,,1,,two
,,,,r-1,,1,,2.0
,,,,r-1,,1,,
"""


def hostile_records():
    result = {"id": "a"}
    yield {
        "conversation_id": "c",
        "iteration": 1,
        "call": 0,
        "record_id": "r-0",
        "results": [result] * 3,
    }
    yield {
        "conversation_id": "c",
        "iteration": 1,
        "call": 1,
        "record_id": "r-1",
        "results": [result],
    }
    yield {"conversation_id": "c", "iteration": 2, "record_id": "t/one", "results": [result]}
    for name in ("d", "e"):
        yield {"conversation_id": name, "iteration": 1, "record_id": "r-two", "results": [result]}


def test_every_label_is_joined_or_rejected_with_its_line_and_the_reason(tmp_path, capsys):
    inputs = [write_jsonl(tmp_path / "t.jsonl", hostile_records())]
    path = tmp_path / "labels.csv"
    path.write_text(HOSTILE)
    assert run(tmp_path / "out", inputs, "--labels", str(path)) == 0
    found = reasons(tmp_path / "out")
    assert found == {
        "line 3": 'gain must be a whole number from 0 to 4, got "5"; if it is a label on another '
        "scale, say so with --label-map 5=4.",
        "line 4": "The search call of turn 1, iteration 1, call 0 has 3 results, so there is no "
        "rank 9.",
        "line 5": "The conversation has no usable record of turn 1, iteration 7, call 0.",
        "line 6": "2 search calls are of turn 1, iteration 1; give the call.",
        "line 7": "The traces have no conversation x.",
        "line 8": "The traces have no conversation with a record with the record_id r-no.",
        "line 9": "2 conversations have a record with the record_id r-two; give the "
        "conversation_id too.",
        "line 10": "The traces have no conversation with a record with the span_id no.",
        "line 11": f"The result has the gain 1 here, but 3 at {path}, line 12: both are left out.",
        "line 12": f"The result has the gain 3 here, but 1 at {path}, line 11: both are left out.",
        "line 13": "The row names its record twice, by record_id and by turn; give one of them.",
        "line 14": "The row names its record twice, by record_id and span_id; give one.",
        "line 15": "The row has both rank and position; give one of them.",
        "line 16": "The row has neither rank (from 1) nor position (from 0).",
        "line 17": 'rank must be a whole number from 1 on, got "0".',
        "line 18": found["line 19"],
        "line 19": "The row names no result: give conversation_id, iteration and rank (turn and "
        "call where there are several), record_id and rank, or span_id and position.",
        "line 20": 'gain must be a whole number from 0 to 4, got "two"; if it is a label on '
        "another scale, say so with --label-map two=2.",
    }
    assert outcomes(tmp_path / "out") == {
        "read": 21, "joined": 2, "repeated": 0, "empty": 1, "rejected": 18, "replaced": 0,
    }  # fmt: skip
    (warning,) = [
        w for w in manifest(tmp_path / "out")["warnings"] if w["code"] == "rejected_labels"
    ]
    assert (warning["count"], warning["share"]) == (18, 18 / 21)
    assert "rejected_labels" in capsys.readouterr().out


def test_rejects_files_without_labels_before_the_run(tmp_path, capsys):
    inputs = [write_jsonl(tmp_path / "t.jsonl", hostile_records())]
    wrong = {
        "no.csv": (None, "matches no file"),
        "empty.csv": ("", "is empty"),
        "sheet.csv": ("PK\x03\x04 zip", "is not CSV in UTF-8, JSON Lines, Avro or Parquet"),
        "array.json": ('[{"gain": 1}]', "is not CSV in UTF-8, JSON Lines, Avro or Parquet"),
        "heading.csv": ("record_id,rank,gain\n", "has no rows"),
        "one_line.csv": ("c0,1,2,0,5,3\n", "the first line of a table names its columns"),
        "columns.csv": ("a,b\n1,2\n", "The row has no gain"),
        "named.jsonl": ('{"gain": 1}\n', "The row names no result"),
        "text.txt": ("\0\0", "is not CSV in UTF-8, JSON Lines, Avro or Parquet"),
    }
    for name, (text, message) in wrong.items():
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        assert run(tmp_path / "out", inputs, "--labels", str(path)) == ExitCode.USAGE
        assert message in " ".join(capsys.readouterr().err.split()), name
        assert not (tmp_path / "out").exists()


def test_takes_a_file_whose_first_row_has_no_gain(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("record_id,rank,gain\nr-1,1,\nr-1,2,3\n")
    size = path.stat().st_size
    (file,) = find_table(str(path), LabelTable(), LOCAL).files
    assert file.size == size


@pytest.mark.slow
def test_overwrites_a_run_with_labels(tmp_path):
    inputs = [write_jsonl(tmp_path / "t.jsonl", hostile_records())]
    options = (
        "--labels",
        str(write_labels(tmp_path / "l.jsonl", [{"record_id": "r-1", "rank": 1, "gain": 2}])),
    )
    for _ in range(2):
        assert run(tmp_path / "out", inputs, *options, "--overwrite") == 0


def test_rejects_labels_together_with_qrels(tmp_path, capsys):
    inputs = [write_jsonl(tmp_path / "t.jsonl", hostile_records())]
    options = ("--labels", "l.csv", "--qrels", "q.txt")
    assert run(tmp_path / "out", inputs, *options) == ExitCode.USAGE
    assert "--labels cannot be given beside --qrels" in capsys.readouterr().err


def test_stream_rejects_labels(tmp_path, capsys):
    words = ["stream", "--input", str(tmp_path), "--output", str(tmp_path / "out"), "--labels", "l"]
    assert main(words) == ExitCode.USAGE
    assert "--labels" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("cut", [b"\xff\xfe\xfa", b'{"gain": "\\ud800"}\n', b"{" * 10_000 + b"\n"])
def test_rejects_only_an_unreadable_line(tmp_path, cut):
    inputs = [write_jsonl(tmp_path / "t.jsonl", hostile_records())]
    good = b'{"record_id": "r-1", "rank": 1, "gain": 3}\n'
    path = tmp_path / "labels.jsonl"
    path.write_bytes(good + cut.rstrip(b"\n") + b"\n" + good)
    assert run(tmp_path / "out", inputs, "--labels", str(path)) == 0
    assert list(reasons(tmp_path / "out")) == ["line 2"]
    assert outcomes(tmp_path / "out")["joined"] == 1


@pytest.mark.slow
def test_labels_with_iterations_counted_from_0(tmp_path):
    records = [{"conversation_id": "c", "iteration": 0, "results": [{"id": "a"}]}]
    label = {"conversation_id": "c", "iteration": 0, "rank": 1, "gain": 3}
    path = write_labels(tmp_path / "labels.jsonl", [label])
    inputs = [write_jsonl(tmp_path / "t.jsonl", records)]
    options = ("--labels", str(path), "--iteration-base", "0")
    assert run(tmp_path / "out", inputs, *options) == 0
    assert rows(tmp_path / "out", "conversations")[0]["CG"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("how", ["path", "rows", "table"])
def test_evaluate_gives_the_same_as_a_run(tmp_path, how):
    records = traces()
    rng = random.Random(2)
    bare, labels = strip_gains(records, lambda: rng.choice(("place", "both", "trace")))
    labels.append({"record_id": "none", "rank": 1, "gain": 2})
    labels.append({"record_id": records[0]["record_id"], "rank": 99, "gain": 2})
    path = write_labels(tmp_path / "labels.parquet", labels)
    source = {"path": path, "rows": labels, "table": pq.read_table(path)}[how]
    traces_path = write_jsonl(tmp_path / "t.jsonl", bare)
    run(tmp_path / "out", [traces_path], "--labels", str(path))
    scored = gg.evaluate(traces_path, labels=source)
    for name in ("conversations", "iterations"):
        assert [dict(row) for row in getattr(scored, name)] == [
            dict(row) for row in getattr(gg.load(tmp_path / "out"), name)
        ]
    counts = scored.manifest.labels
    assert {name: getattr(counts, name) for name in ALL_OUTCOMES} == outcomes(tmp_path / "out")
    assert (counts.joined, counts.rejected) == (len(labels) - 2, 2)
    assert [row["reason"] for row in scored.rejected_labels] == list(
        reasons(tmp_path / "out").values()
    )
    explained = gg.load(tmp_path / "out").explain("c0")
    assert explained == scored.explain("c0")
    assert explained != gg.evaluate(traces_path, allow_unlabelled=True).explain("c0")


def test_labels_in_memory_that_are_no_rows_are_refused():
    with pytest.raises(gg.UsageError, match="labels must be a path, a table or rows with gain"):
        gg.evaluate(traces(), labels=3)


@pytest.mark.slow
def test_explain_uses_the_labels_of_the_run(tmp_path, capsys):
    records = traces(3)
    bare, labels = strip_gains(records, lambda: "span")
    paths = [write_jsonl(tmp_path / "t.jsonl", bare)]
    options = ("--labels", str(write_labels(tmp_path / "labels.csv", labels)))
    assert run(tmp_path / "out", paths, *options) == 0
    for row in rows(tmp_path / "out", "conversations"):
        capsys.readouterr()
        assert main(["explain", row["conversation_id"], "--input", *paths, *options, "--json"]) == 0
        explained = json.loads(capsys.readouterr().out)["conversation"]
        assert (explained["CG"], explained["GR"]) == (row["CG"], row["GR"])


@pytest.mark.slow
def test_external_labels_equal_labels_in_the_traces_also_with_a_pool(tmp_path):
    records = traces(6)
    bare, labels = strip_gains(records, lambda: "place")
    paths = {
        name: write_jsonl(tmp_path / f"{name}.jsonl", some)
        for name, some in (("in", records), ("bare", bare))
    }
    words = ["pool", "build", "--run", f"a={paths['bare']}", "--output", str(tmp_path / "pool")]
    assert main(words) == 0
    options = ("--pool", str(tmp_path / "pool"), "--run-name", "a")
    assert run(tmp_path / "in", [paths["in"]], *options) == 0
    labelled = ("--labels", str(write_labels(tmp_path / "labels.csv", labels)))
    assert run(tmp_path / "out", [paths["bare"]], *options, *labelled) == 0
    assert rows(tmp_path / "in", "conversations") == rows(tmp_path / "out", "conversations")
    assert outcomes(tmp_path / "out")["joined"] == len(labels)
