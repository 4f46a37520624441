"""`goodgain run` agrees with the brute-force reference and with figures of an independent tool."""

import math
from collections import Counter
from random import Random

import pytest

from tests.adversarial import trace
from tests.native.paths import count_folds
from tests.pipeline.runs import SESSIONS, manifest, native_folds, rows, run, write_jsonl
from tests.reference import evaluate

pytestmark = pytest.mark.slow


def same(ours, theirs):
    if isinstance(ours, float) and isinstance(theirs, float | int):
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)
    return ours == theirs


def assert_same_rows(ours, theirs, columns):
    assert len(ours) == len(theirs)
    assert ours
    for own, other in zip(ours, theirs, strict=True):
        assert columns <= own.keys()
        different = {name for name in columns if not same(own[name], other[name])}
        assert not different, [(name, own[name], other[name]) for name in different]


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("details", [("--write-duplicates",), ()], ids=["details", "plain"])
def test_adversarial_traces_equal_the_reference(details, tmp_path, monkeypatch):
    folds = count_folds(monkeypatch)
    records = trace(Random(77), conversations=150)
    path = write_jsonl(tmp_path / "in.jsonl", records)
    assert run(tmp_path / "out", [path], "--format=jsonl", *details) == 0
    reference = evaluate(records)
    assert folds == native_folds(tmp_path / "out")

    expected = [reference["conversations"][name] for name in sorted(reference["conversations"])]
    counted = {"scored", "earlier_turn", "conflicting_redeliveries"}
    columns = expected[0].keys() - counted
    assert_same_rows(rows(tmp_path / "out", "conversations"), expected, columns)

    iterations = reference["iterations"]
    assert_same_rows(rows(tmp_path / "out", "iterations"), iterations, iterations[0].keys())

    if details:
        duplicates = rows(tmp_path / "out", "duplicates")
        assert_same_rows(duplicates, reference["duplicates"], reference["duplicates"][0].keys())

    found, counts = manifest(tmp_path / "out"), reference["counts"]
    outcomes = ("read", "scored", "earlier_turn", "redelivered", "conflicting_redeliveries")
    assert {name: found["records"][name] for name in outcomes} == {
        name: counts[name] for name in outcomes
    }
    assert found["results"]["total"] == counts["results"]
    assert found["results"]["duplicates_by_step"] == Counter(
        row["step"] for row in reference["duplicates"]
    )
    assert found["results"]["near_misses_by_step"] == {
        step: pairs for step, pairs in counts["near_misses"].items() if pairs
    }


def test_means_equal_figures_of_an_independent_implementation(tmp_path):
    assert run(tmp_path / "out", [SESSIONS]) == 0
    found = manifest(tmp_path / "out")
    assert found["conversations"]["total"] == 133
    assert found["conversations"]["in_means"] == 133
    assert found["results"]["total"] == 4_449
    assert found["results"]["duplicates"] == 1_171
    means = {
        row["metric"]: row
        for row in rows(tmp_path / "out", "means")
        if row["i"] is None and not row["slice"]
    }
    figures = {"CG": 2.6692, "DCG": 2.1826, "RAG": 0.1173, "SRE": 0.0521, "SRR": 0.1298}
    for metric, figure in figures.items():
        assert means[metric]["mean"] == pytest.approx(figure, abs=5e-5)
        assert means[metric]["n"] == 133
