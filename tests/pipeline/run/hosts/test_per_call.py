"""`goodgain run --per-call`: metrics of each search call's own list, and their means over calls."""

import pytest

from tests.pipeline.runs import rows, run, write_jsonl

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("per-call")

    def call(conversation, iteration, *gains):
        results = [
            {"ids": {"doc_id": f"{iteration}-{rank}"}, "gain": gain}
            for rank, gain in enumerate(gains)
        ]
        return {"conversation_id": conversation, "iteration": iteration, "results": results}

    trace = write_jsonl(
        folder / "trace.jsonl",
        [call("a", 1, 3, 0), call("a", 2, 0, 2), call("a", 3, 0, 0), call("b", 1, 4, 4)],
    )
    options = ("--per-call", "--metrics", "precision@2,mrr")
    assert run(folder / "out", [trace], *options) == 0
    return folder / "out"


def test_each_call_has_a_row(output):
    found = [(row["conversation_id"], row["i"], row["mrr"]) for row in rows(output, "calls")]
    assert found == [("a", 1, 1.0), ("a", 2, 0.5), ("a", 3, 0.0), ("b", 1, 1.0)]


def test_means_over_calls_weight_all_calls_equally(output):
    means = {row["metric"]: row for row in rows(output, "means") if row["population"] == "calls"}
    assert set(means) == {"precision@2", "mrr"}
    assert all(row["n"] == 4 and row["i"] is None for row in means.values())
    assert means["mrr"]["mean"] == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert means["precision@2"]["mean"] == pytest.approx((0.5 + 0.5 + 0 + 1) / 4)


def test_means_over_conversations_are_written_too(output):
    (row,) = (
        row
        for row in rows(output, "means")
        if row["metric"] == "mrr" and row["population"] == "all" and row["i"] is None
    )
    assert row["n"] == 2
    assert row["mean"] == 1.0
