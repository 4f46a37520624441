"""Passages: documents with the label of their best one, and passages as units (SPEC 4.4, 5, 8)."""

from random import Random

import pytest

import goodgain
from goodgain import Scoring
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.judgment import LabelKeys
from tests.adversarial import trace
from tests.core.direct import near_misses, score, score_one, shipped_rules
from tests.core.scoring.test_against_reference import assert_equals_reference
from tests.reference import delivery
from tests.reference.occurrences import Tallies, mark_duplicates, occurrences_of
from tests.reference.passages import best_list

PAGE = "https://a.org/page"
RUBRIC = (0, 3, 1, 0)
TRAP_32 = [
    {
        "results": [
            {"url": PAGE, "content": f"passage {at}", "gain": g} for at, g in enumerate(RUBRIC)
        ]
    },
    {"iteration": 2, "results": [{"url": PAGE, "content": "another passage", "gain": 4}]},
]


@goodgain.metric(unit="gain", words="Labels of the list", whole=True)
def labels_of_list(prefix):
    """The sum of the labels in the ranked list so far."""
    return sum(label for label in prefix.ranked.labels if label > 0)


def with_passage_ids(random, records):
    """The records, in which some results have ids of passages."""
    for record in records:
        for result in record["results"] or []:
            for name in ("chunk_id", "segment_id", "item"):
                if random.random() < 0.3:
                    value = random.choice(["p", "q", ["p", "q"], ["q", "r", "s", "t", "u"], " "])
                    result["ids"] = {**(result.get("ids") or {}), name: value}
    return records


def passages(seed, conversations):
    random = Random(seed)
    return with_passage_ids(random, trace(random, conversations))


@pytest.mark.parametrize(
    ("options", "gains", "cg", "repeated"),
    [
        ({}, [0, 0], 0, 4),
        ({"document_label": "best"}, [3, 1], 4, 4),
        ({"rules": shipped_rules(unit="passage")}, [3, 4], 7, 0),
    ],
)
def test_the_passages_of_one_page(options, gains, cg, repeated):
    found = score_one(TRAP_32, **options)
    assert [row.G_i for row in found.iterations] == gains
    assert (found.conversation.CG, found.conversation.DupR) == (cg, repeated)


def test_a_document_is_found_once_and_then_raised():
    row = score_one(TRAP_32, document_label="best")
    assert [
        (iteration.UR_i, iteration.GR_i, iteration.AvgGain_i) for iteration in row.iterations
    ] == [
        (1, 1, 3 / 4),
        (0, 0, 1.0),
    ]
    assert row.conversation.iterations_for_all_good_results == 1
    assert row.conversation.iterations_after_last_good == 1
    assert row.conversation.label_conflicts == 3


def test_a_document_may_become_good_after_it_was_new():
    records = [
        {"iteration": i, "results": [{"url": PAGE, "gain": gain}]}
        for i, gain in enumerate((1, None, 2), start=1)
    ]
    row = score_one(records, document_label="best")
    assert [(iteration.UR_i, iteration.GR_i, iteration.G_i) for iteration in row.iterations] == [
        (1, 0, 0),
        (0, 0, 0),
        (0, 1, 2),
    ]
    assert row.conversation.iterations_for_all_good_results == 3


@pytest.mark.parametrize("duplicates", ["compact", "hold_slot"])
def test_the_ranked_list_has_the_best_label_so_far(duplicates):
    options = {"document_label": "best", "duplicates": duplicates, "own": (labels_of_list,)}
    found = score_one(TRAP_32, metrics=("cg", "cg@1", "precision@5"), **options)
    assert found.conversation["cg"] == found.conversation["cg@1"] == 4
    assert found.conversation["precision@5"] == 0.2
    assert [row["labels_of_list_at_i"] for row in found.iterations] == [3, 4]


def test_the_list_of_a_call_has_the_best_label_of_that_call():
    found = score_one(TRAP_32, metrics=("cg",), document_label="best", per_call=True)
    assert [row["cg"] for row in found.calls] == [3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [1, 4])
def test_best_labels_equal_the_reference(threshold):
    records = trace(Random(threshold), conversations=150)
    scores = assert_equals_reference(records, document_label="best", threshold=threshold)
    first = score(records, good_gain_threshold=threshold)
    more = [scores[name].conversation.CG != first[name].conversation.CG for name in first]
    assert sum(more) > 10


@pytest.mark.slow
@pytest.mark.parametrize("max_candidates", [1, 3])
@pytest.mark.parametrize("document_label", ["first", "best"])
def test_passages_with_few_candidates_equal_the_reference(max_candidates, document_label):
    records = passages(max_candidates, 120)
    scores = assert_equals_reference(records, max_candidates, "passage", document_label)
    assert near_misses(scores)["passage"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["document", "passage"])
@pytest.mark.parametrize("document_label", ["first", "best"])
def test_hundreds_of_conversations_equal_the_reference(unit, document_label):
    assert_equals_reference(passages(17, 200), 256, unit, document_label)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["document", "passage"])
def test_ranked_lists_equal_the_reference(unit):
    records = passages(5, 150)
    scores = score(
        records,
        shipped_rules(unit=unit),
        metrics=("cg", "hits"),
        document_label="best",
        own=(labels_of_list,),
    )
    for name, found in scores.items():
        own = [record for record in records if record["conversation_id"] == name]
        usable, *_ = delivery.drop_redeliveries([delivery.parse_record(record) for record in own])
        ordered = delivery.in_order(usable)
        calls = delivery.searches_of(ordered, delivery.last_turn_of(ordered))
        numbers = dict.fromkeys(call["iteration"] for call in calls)
        occurrences = occurrences_of(
            [
                (number, [call for call in calls if call["iteration"] == number])
                for number in numbers
            ]
        )
        mark_duplicates(occurrences, 256, Tallies(), unit)
        if not numbers:
            continue
        labels = [label or 0 for label in best_list(occurrences)]
        assert found.conversation["cg"] == sum(labels)
        assert found.conversation["hits"] == sum(label >= 2 for label in labels)
        assert [row["labels_of_list_at_i"] for row in found.iterations] == [
            sum(label or 0 for label in best_list(occurrences, i))
            for i in range(1, len(numbers) + 1)
        ]


@pytest.mark.parametrize(
    ("one", "other", "duplicate"),
    [
        ({"content": "a"}, {"content": "a"}, True),
        ({"content": "a"}, {"content": "b"}, False),
        ({"snippet": "a"}, {"snippet": "b"}, False),
        ({"content": "a", "snippet": "x"}, {"content": "a", "snippet": "y"}, True),
        ({"content": "a", "snippet": "x"}, {"snippet": "y"}, False),
        ({"content": "a"}, {"snippet": "y"}, True),
        ({"ids": {"chunk_id": "1"}}, {"ids": {"chunk_id": "2"}}, False),
        ({"ids": {"chunk_id": ["1", "2"]}}, {"ids": {"chunk_id": "2"}}, True),
        ({"ids": {"chunk_id": "1"}}, {"ids": {"passage_id": "2"}}, True),
        (
            {"ids": {"chunk_id": "1", "node_id": "a"}},
            {"ids": {"chunk_id": "1", "node_id": "b"}},
            False,
        ),
    ],
)
def test_pairs_of_passages_of_one_page(one, other, duplicate):
    pair = [{"results": [{"url": PAGE, **one}, {"url": PAGE, **other}]}]
    found = score_one(pair, shipped_rules(unit="passage"))
    assert found.conversation.DupR == duplicate
    assert near_misses({"c": found}) == ({} if duplicate else {"passage": 1})
    assert score_one(pair).conversation.DupR == 1


@pytest.mark.parametrize("more", [{"label_keys": LabelKeys()}, {"bounds": True}])
def test_the_best_label_is_refused_where_labels_are_not_of_passages(more):
    with pytest.raises(UsageError, match="document_label is best"):
        Scoring.default(document_label="best", **more)
