"""Conversations computed by hand: SPEC 3, SPEC 5, and METRIC_TRAPS about conversations."""

import pytest

from tests.reference import evaluate
from tests.reference.delivery import parse_record


def results(*labels):
    """One result per (document, gain); the document is its definitive id."""
    return [{"ids": {"doc_id": document}, "gain": gain} for document, gain in labels]


def record(iteration, labels=(), **columns):
    columns.setdefault("conversation_id", "c")
    return {"iteration": iteration, "results": results(*labels), **columns}


def conversation(records, **parameters):
    rows = evaluate(records, **parameters)["conversations"]
    assert list(rows) == ["c"]
    return rows["c"]


WORKED_EXAMPLE = [
    record(1, [("a", 3), ("b", 2)]),
    record(2, [("c", 4), ("d", 1), ("a", 3)]),
    record(3, [("e", 2), ("c", 4), ("b", 2)]),
]


def test_worked_example_of_spec_5():
    outcome = evaluate(WORKED_EXAMPLE)
    rows = outcome["iterations"]
    assert [row["G_i"] for row in rows] == [5, 4, 2]
    assert [row["R_i"] for row in rows] == [2, 3, 3]
    assert [row["Dup_i"] for row in rows] == [0, 1, 2]
    row = outcome["conversations"]["c"]
    assert row["CG"] == 11
    assert row["DCG"] == pytest.approx(8.5237, abs=5e-5)
    assert row["RAG"] == pytest.approx(1.5)
    assert row["DRAG"] == pytest.approx(1.2249, abs=5e-5)
    assert row["SRE"] == 0.5
    assert row["SRR"] == 0.375
    assert row["iterations_for_all_good_results"] == 3
    assert row["iterations_after_last_good"] == 0
    assert row["RG"] == pytest.approx(11 / 3)
    assert row["DRG"] == pytest.approx(row["DCG"] / 3)


def test_the_later_copy_is_the_duplicate():
    outcome = evaluate([record(1, [("a", 1), ("b", 0), ("a", 1)])])
    (duplicate,) = outcome["duplicates"]
    assert (duplicate["rank"], duplicate["first_rank"]) == (3, 1)


def test_conversations_whose_ids_end_alike_are_distinct():
    rows = evaluate([record(1, conversation_id="a-1"), record(1, conversation_id="b-1")])
    assert sorted(rows["conversations"]) == ["a-1", "b-1"]


@pytest.mark.parametrize(
    ("first", "copy", "gain", "conflicts"),
    [(2, 4, 2, 1), (4, 0, 4, 1), (None, 4, 0, 0), (3, None, 3, 0), (3, 3, 3, 0), (1, 4, 0, 1)],
)
def test_the_label_of_the_first_occurrence_counts(first, copy, gain, conflicts):
    row = conversation([record(1, [("a", first)]), record(2, [("a", copy)])])
    assert (row["CG"], row["label_conflicts"]) == (gain, conflicts)
    assert row["unlabelled"] == [first, copy].count(None)


def test_a_search_without_results_is_an_iteration():
    row = conversation(
        [record(1, [("a", 3), ("b", 2)]), record(2), record(3, [("c", 4), ("d", 1), ("e", 0)])]
    )
    assert row["N"] == 3
    assert row["DCG"] == pytest.approx(7.0)
    assert row["RAG"] == pytest.approx(1.277778, abs=5e-7)


def test_conversations_that_stop_early_are_not_filled_with_zeros():
    records = [
        record(1, [("a", 3), ("b", 2)], conversation_id="short"),
        record(1, [("a", 2)], conversation_id="long"),
        record(2, [("b", 2)], conversation_id="long"),
        record(3, [("c", 2)], conversation_id="long"),
    ]
    at_three = [row for row in evaluate(records)["iterations"] if row["i"] == 3]
    assert [(row["conversation_id"], row["CG_at_i"]) for row in at_three] == [("long", 6)]
    rows = evaluate(records)["conversations"]
    assert {name: (row["N"], row["CG"]) for name, row in rows.items()} == {
        "short": (1, 5),
        "long": (3, 6),
    }


def test_raw_iterations_become_a_dense_index():
    rows = evaluate([record(1), record(5, call=1), record(2), record(5, call=0)])["iterations"]
    assert [(row["i"], row["iteration"], row["calls"]) for row in rows] == [
        (1, 1, 1),
        (2, 2, 1),
        (3, 5, 2),
    ]


def test_results_are_good_from_the_threshold():
    row = conversation([record(1, [("a", 1), ("b", 3), ("c", 2)])], good_gain_threshold=3)
    assert (row["GR"], row["CG"]) == (1, 3)


def test_a_conversation_without_good_results():
    row = conversation([record(1, [("a", 1)]), record(2, [("b", None)])])
    assert row["iterations_for_all_good_results"] is None
    assert row["iterations_after_last_good"] == 2
    assert row["SRE"] == 0


def test_iterations_for_all_good_results_stops_at_100():
    row = conversation([record(number, [(str(number), 2)]) for number in range(1, 121)])
    assert row["iterations_for_all_good_results"] == 100
    assert row["iterations_after_last_good"] == 0


def test_last_turn_without_a_call_has_no_metrics():
    row = conversation([record(1, [("a", 4)], turn_count=2, timestamp=5)])
    assert (row["turn"], row["N"], row["R"], row["earlier_turn"]) == (2, 0, 0, 1)
    assert row["CG"] is None
    assert row["iterations_after_last_good"] is None
    assert row["first_timestamp"] == 5


def test_only_the_last_turn_is_scored_and_earlier_turns_have_no_first_occurrences():
    outcome = evaluate([record(1, [("a", 4)]), record(1, [("a", 2)], turn=2)])
    row = outcome["conversations"]["c"]
    assert (row["turn"], row["CG"], row["DupR"]) == (2, 2, 0)
    assert (row["scored"], row["earlier_turn"]) == (1, 1)


REDELIVERIES = [
    # (columns of one delivery, of the other, usable, conflicting)
    ({"record_id": "r"}, {"record_id": "r", "iteration": 2}, 1, 1),
    ({"record_id": "r"}, {"record_id": "r"}, 1, 0),
    ({"record_id": "r", "call": 0}, {"record_id": "s", "call": 0}, 2, 0),
    ({"record_id": " ", "call": 0}, {"call": 0, "query": "q"}, 1, 1),
    ({"call": 0}, {"call": None}, 2, 0),
    ({"call": 0}, {"call": 0, "turn": None, "timestamp": None}, 1, 0),
    ({"query": "p"}, {"query": "q"}, 2, 0),
    ({"query": "p"}, {"query": "p", "is_final": False, "unknown": 1}, 1, 0),
    ({"timestamp": 0}, {"timestamp": "1970-01-01T01:00:00+01:00"}, 1, 0),
    ({"call": 1, "timestamp": 5}, {"call": 1, "timestamp": 6}, 1, 1),
]


@pytest.mark.parametrize(("one", "other", "usable", "conflicting"), REDELIVERIES)
def test_redeliveries_and_conflicts_are_counted(one, other, usable, conflicting):
    records = [{**record(1), **one}, {**record(1), **other}]
    row = conversation(records)
    assert row["scored"] == usable
    assert row["redelivered"] == 2 - usable
    assert row["conflicting_redeliveries"] == conflicting


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        ({"timestamp": 2, "query": "a"}, {"timestamp": 1, "query": "z"}),
        ({"timestamp": 0}, {"timestamp": None}),
        ({"timestamp": "1970-01-01T00:00:01Z"}, {"timestamp": 999}),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_the_delivery_with_the_latest_time_wins(winner, loser, reverse):
    records = [
        record(1, [("a", 4)], call=0, **winner),
        record(1, [("a", 3)], call=0, **loser),
    ]
    assert conversation(records[::-1] if reverse else records)["CG"] == 4


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("queries", ["az", "za"])
def test_of_deliveries_with_one_time_that_of_the_greatest_digest_wins(queries, reverse):
    records = [
        record(1, [("a", gain)], call=0, timestamp=1, query=query)
        for gain, query in zip((4, 3), queries, strict=True)
    ]
    winner = max(records, key=lambda one: parse_record(one).digest)
    row = conversation(records[::-1] if reverse else records)
    assert row["CG"] == winner["results"][0]["gain"]


def test_a_superseded_delivery_does_not_decide_the_last_turn():
    records = [
        record(1, [("a", 4)], record_id="r", turn=3, timestamp=1),
        record(1, [("a", 2)], record_id="r", turn=1, timestamp=2),
    ]
    row = conversation(records)
    assert (row["turn"], row["CG"]) == (1, 2)


ORDER = [
    ({"call": None, "record_id": "a"}, {"call": 1, "record_id": "b"}),
    ({"call": None, "timestamp": None}, {"call": 0, "timestamp": 1}),
    ({"call": 0, "timestamp": None, "record_id": "z"}, {"call": 0, "timestamp": 1}),
    ({"call": 0, "timestamp": None}, {"call": None, "timestamp": 1}),
    ({"call": 0, "timestamp": 1}, {"call": 0, "timestamp": 1, "record_id": "a"}),
    ({"record_id": "a", "query": "z"}, {"record_id": "b", "query": "a"}),
    ({"query": "b"}, {"query": "a"}),
]


@pytest.mark.parametrize(("earlier", "later"), ORDER)
@pytest.mark.parametrize("reverse", [False, True])
def test_order_of_calls(earlier, later, reverse):
    records = [record(1, [("a", 4)], **earlier), record(1, [("a", 2)], **later)]
    outcome = evaluate(records[::-1] if reverse else records)
    assert outcome["conversations"]["c"]["CG"] == 4
    (duplicate,) = outcome["duplicates"]
    assert (duplicate["first_call_position"], duplicate["call_position"]) == (0, 1)


def test_attributes_are_the_last_nonblank_values():
    records = [
        record(1, turn=2, attributes={"arm": " ", "model": "m"}),
        record(2, turn=1, attributes={"arm": "b", "market": "de"}),
        record(1, turn=1, attributes={"arm": "a", "market": "us"}, timestamp=9),
    ]
    row = conversation(records)
    assert row["attributes"] == {"arm": "b", "market": "de", "model": "m"}
    assert (row["first_timestamp"], row["last_timestamp"]) == (9, 9)


def test_a_result_that_matches_only_a_duplicate_is_the_same_document():
    first = {"ids": {"doc_id": "a"}}
    second = {"ids": {"doc_id": "a"}, "url": "http://x/a"}
    third = {"url": "http://x/a"}
    outcome = evaluate(
        [{"conversation_id": "c", "iteration": 1, "results": [first, second, third]}]
    )
    assert [(row["rank"], row["first_rank"], row["key"]) for row in outcome["duplicates"]] == [
        (2, 1, "id:doc_id"),
        (3, 1, "url"),
    ]


def test_candidates_beyond_max_candidates_are_cut_and_counted():
    different = [{"title": "t", "url": f"http://x/{number}"} for number in range(3)]
    copies = [{"title": "t", "url": "http://x/1"}, {"title": "t", "ids": {"id": "new"}}]
    records = [{"conversation_id": "c", "iteration": 1, "results": [*different, *copies]}]
    outcome = evaluate(records, max_candidates=2)
    assert [(row["rank"], row["first_rank"]) for row in outcome["duplicates"]] == [(4, 2)]
    assert outcome["counts"]["candidates_cut"] == 2
    assert outcome["counts"]["near_misses"] == {"url": 4, "inconclusive": 2}
    assert evaluate(records)["counts"]["candidates_cut"] == 0
