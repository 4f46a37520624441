"""Labels on other scales, wherever labels come in (SPEC 8)."""

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import goodgain as gg
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.label_map import label_map_hint, parse_label_map


@pytest.mark.parametrize(
    ("entries", "label", "gain"),
    [
        ("2=1,4=2,8=3,16=4", 16, 4),
        ("2=1,4=2,8=3,16=4", "8", 3),
        ("2=1,4=2,8=3,16=4", 4.0, 2),
        ("2=1,4=2,8=3,16=4", 3, None),
        ("2=1,4=2,8=3,16=4", 0, 0),
        ("2=1,0=3", 0, 3),
        ("0.5..1=2", 0.5, 2),
        ("0.5..1=2", 1, 2),
        ("0.5..1=2", 0.49, None),
        ("0.5..1=2", 1.01, None),
        ("0.5..1=2,1=4", 1, 4),
        ("0..0.5=1,0.5..1=2", 0.5, 1),
        ("-1..1=2", -0.5, 2),
        ("relevant=2", " Relevant ", 2),
        ("not relevant=0", "not relevant", 0),
        ("true=3", True, 3),
        ("true=3", "TRUE", 3),
        ("true=3", False, 0),
        ("true=3", 1, None),
        ("1=3", True, None),
        ("true=3", None, None),
        ("true=3", float("nan"), None),
        ("true=3", [1], None),
        ("1=1", 10**400, None),
    ],
)
def test_the_gain_of_a_label(entries, label, gain):
    assert parse_label_map(entries.split(",")).gain(label) == gain


@pytest.mark.parametrize(
    ("entries", "mistake"),
    [
        (["4"], "'4' is not LABEL=GAIN"),
        (["4=5"], "with a gain from 0 to 4"),
        (["=2"], "'=2' is not LABEL=GAIN"),
        (["4=1", "4.0=2"], "4.0 is given twice"),
        (["good=1", "Good=2"], "Good is given twice"),
        (["1..0=2"], "1..0 ends before it begins"),
    ],
)
def test_a_wrong_entry_is_named(entries, mistake):
    with pytest.raises(UsageError, match="Labels cannot be mapped") as error:
        parse_label_map(entries)
    assert mistake in str(error.value)


@given(st.booleans() | st.floats(-1e6, 1e6) | st.integers(-99, 99) | st.text("abcd é", max_size=50))
def test_the_line_that_a_hint_names_reads_the_label(label):
    hint = label_map_hint(label)
    if hint:
        entry = hint.partition("--label-map ")[2]
        assert parse_label_map([entry]).gain(label) is not None


def traces(labels):
    results = [{"id": f"d{at}", "gain": label} for at, label in enumerate(labels)]
    return [{"conversation_id": "c", "iteration": 1, "results": results}]


def files_of(records, folder):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "traces.jsonl").write_text(lines)
    (folder / "traces.json").write_text(json.dumps(records))
    pa.parquet.write_table(pa.Table.from_pylist(records), folder / "traces.parquet")
    return [str(folder / f"traces.{suffix}") for suffix in ("jsonl", "json", "parquet")]


@pytest.mark.parametrize(
    ("label_map", "labels", "cg", "rejected"),
    [
        ("2=1,4=2,8=3,16=4", [2, 4, 8, 16, 0, None], 9, 0),
        ("2=1,4=2", [1, 4], None, 1),
        ("0.5..1=3", [0.25, 0.75], None, 1),
        ("0.5..1=3,0..0.5=1", [0.25, 0.75], 3, 0),
        ("relevant=2,bad=0", ["relevant", "bad", None], 2, 0),
        ("true=3", [True, False, None], 3, 0),
    ],
)
def test_labels_of_traces(label_map, labels, cg, rejected, tmp_path):
    records = traces(labels)
    for given_traces in (records, *files_of(records, tmp_path)):
        with warnings.catch_warnings(record=True) as emitted:
            warnings.simplefilter("always")
            run = gg.evaluate(given_traces, label_map=label_map, max_rejected="100%")
        assert [row["CG"] for row in run.conversations] == [cg]
        assert len(run.rejected) == rejected
        for row in run.rejected:
            assert "(not in --label-map)" in row["reason"]
        texts = [str(warning.message) for warning in emitted]
        assert any("(not in label_map)" in text for text in texts) is bool(rejected)


@pytest.mark.parametrize(
    ("label", "line"),
    [
        (True, "--label-map true=3"),
        (0.5, "--label-map 0.5..1=2"),
        (5, "--label-map 5=4"),
        ("relevant", "--label-map relevant=2"),
    ],
)
def test_a_label_of_another_scale_is_answered_with_the_line_that_reads_it(label, line):
    run = gg.evaluate(traces([label]), max_rejected="100%")
    assert line in run.rejected[0]["reason"]
    assert gg.evaluate(traces([label]), label_map=line.split()[1])["CG"].mean >= 2


QRELS = [
    {"query-id": "c", "corpus-id": "d0", "score": 2},
    {"query-id": "c", "corpus-id": "d1", "score": 0},
]


def test_labels_of_judgments_and_of_single_results(tmp_path):
    records = traces([None, None])
    (tmp_path / "qrels.txt").write_text("c 0 d0 2\nc 0 d1 0\n")
    for qrels in (str(tmp_path / "qrels.txt"), QRELS, {"c": {"d0": 2, "d1": 0}}):
        assert gg.evaluate(records, qrels=qrels, label_map="2=4")["CG"].mean == 4
        with pytest.raises(UsageError, match=r"label is '?2'?, which label_map does not name"):
            gg.evaluate(records, qrels=qrels, label_map="1=4")
    labels = [{"conversation_id": "c", "iteration": 1, "rank": 1, "label": "good"}]
    run = gg.evaluate(records, labels=labels, label_map="good=3")
    assert run["CG"].mean == 3
    run = gg.evaluate(records, labels=labels)
    assert "--label-map good=2" in run.rejected_labels[0]["reason"]


def test_other_fields_of_a_result_stay():
    adaptation = Adaptation(("gain=rel",), label_map=("5=4",))
    row = {"results": [{"rel": 5, "id": "a"}, {"id": "b"}, None]}
    assert adaptation.apply(row) == {"results": [{"id": "a", "gain": 4}, {"id": "b"}, None]}
    assert adaptation.apply_to_row({"rel": 5, "id": "a"}) == {"id": "a", "gain": 4}
