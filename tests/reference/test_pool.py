"""Pools computed by hand: SPEC 9 and METRIC_TRAPS about it."""

import pytest

from tests.reference.pool import build, most_frequent, score, turns_of

SNIPPET = "a snippet of sixty characters, which is long enough to meet."


def call(*results, iteration=1, conversation_id="c", **columns):
    columns = {"call": 0, **columns}
    return {
        "conversation_id": conversation_id,
        "iteration": iteration,
        "results": list(results),
        **columns,
    }


def doc(name, gain=None, **columns):
    return {"ids": {"doc_id": name}, "gain": gain, **columns}


def only(pool):
    ((_, documents),) = pool.items()
    return documents


def score_by_pool(records, pool, **options):
    (turn,) = turns_of("A", records, None)
    return score(turn, pool, **options)


def test_metric_trap_26():
    everything = [call(doc("d1", 3), doc("d2", 2), doc("d3", 0))]
    run = [call(doc("d1", 3)), call(doc("d3", 0), iteration=2)]
    outcome = score_by_pool(run, build({"A": run, "B": everything}), run_name="A")
    assert outcome["iterations"][1]["pool_recall_at_i"] == 0.5
    assert outcome["iterations"][1]["pool_nCG_at_i"] == 0.6
    assert outcome["labels"] == [3, 0]
    assert outcome["pool"] == [0, 2, 3]
    assert outcome["conversation"]["half_of_pool_reached"] == 1
    assert outcome["conversation"]["iterations_for_half_of_pool"] == 1


TRAP_28_A = [
    call(
        {"entity_type": "File", "ids": {"file_id": "1"}, "snippet": SNIPPET, "gain": 3},
        {"entity_type": "File", "ids": {"file_id": "2"}, "snippet": SNIPPET, "gain": 2},
    )
]
TRAP_28_B = [call({"entity_type": "File", "snippet": SNIPPET, "gain": 3})]


@pytest.mark.parametrize("order", [("A", "B"), ("B", "A")])
def test_metric_trap_28_in_any_order_of_runs(order):
    runs = {"A": TRAP_28_A, "B": TRAP_28_B}
    pool = build({name: runs[name] for name in order})
    assert [len(document.places) for document in only(pool)] == [2, 1]
    of_a, of_b = (score_by_pool(runs[name], pool, run_name=name) for name in ("A", "B"))
    assert of_a["iterations"][0]["UR_i"] == 2
    assert of_a["conversation"]["CG"] == 5
    assert of_a["pool"] == [2, 3]
    assert of_b["conversation"]["pool_recall"] == 0.5


def test_the_label_is_the_most_frequent_vote_and_the_lower_in_a_tie():
    assert most_frequent([2, 3, 3]) == 3
    assert most_frequent([3, 2, 3, 2]) == 2
    assert most_frequent([]) is None


def test_a_conversation_votes_once_by_its_first_label():
    runs = {
        "A": [call(doc("d"), doc("d", 1), doc("d", 4))],
        "B": [call(doc("d", 3), conversation_id="c")],
        "C": [call(doc("d", 3), conversation_id="c")],
    }
    (one,) = only(build(runs))
    assert one.votes == {("A", "c"): 1, ("B", "c"): 3, ("C", "c"): 3}
    assert one.label == 3


def test_weak_documents_are_found_by_their_places():
    """Results with only a title do not verify, but their places are in the pool."""
    records = [call({"title": "t", "gain": 3}), call({"title": "t", "gain": 1}, iteration=2)]
    pool = build({"A": records})
    assert len(only(pool)) == 2
    outcome = score_by_pool(records, pool, run_name="A")
    assert (outcome["outside"], outcome["weak"]) == (0, 2)
    assert outcome["labels"] == [3, 1]
    again = [dict(record, iteration=record["iteration"] + 5) for record in records]
    assert score_by_pool(again, pool, run_name="A")["outside"] == 2


def test_repeated_places_are_assigned_to_one_result_each():
    """Two unnumbered calls of an iteration with the same weak result."""
    records = [call({"title": "t", "gain": gain}, call=None, query=str(gain)) for gain in (3, 1)]
    pool = build({"A": records})
    assert sorted(document.label for document in only(pool)) == [1, 3]
    outcome = score_by_pool(records, pool)
    assert (outcome["outside"], sorted(outcome["labels"])) == (0, [1, 3])


def test_a_document_outside_has_its_own_label_for_gain_and_none_for_ranking():
    pool = build({"A": [call(doc("d", 2))]})
    outcome = score_by_pool([call(doc("d", 4), doc("e", 3))], pool)
    assert outcome["conversation"]["CG"] == 5
    assert outcome["labels"] == [2, -1]
    assert (outcome["outside"], outcome["outside_pool"]) == (1, 1)
    assert outcome["conversation"]["pool_recall"] == 1


def test_two_documents_of_a_turn_never_match_the_same_pool_document():
    """Definitive ids separate them; the pool document only has the snippet that both have."""
    pool = build({"B": TRAP_28_B})
    outcome = score_by_pool(TRAP_28_A, pool)
    assert outcome["conversation"]["pool_recall"] == 1
    assert outcome["outside"] == 1
