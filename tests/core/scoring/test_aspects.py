"""Aspects: the columns and ranking metrics, against a reference straight from SPEC 13."""

from random import Random

import pytest

from goodgain.pipeline.results.rows import iteration_row
from goodgain.transforms.core.judgments.aspects import aspect_judgments
from goodgain.transforms.core.judgments.external_labels import ExternalLabels, document_digests
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.score_rows import prefix_of
from tests.adversarial import trace
from tests.core.direct import by_conversation, fingerprints, scoring, shipped_rules
from tests.reference.aspects import evaluate_aspects

METRICS = ("strec@3", "strec", "alpha_ndcg@3", "alpha_ndcg")


def document(name, aspects=None, **more):
    return {"ids": {"doc_id": name}, "aspects": aspects, **more}


# The aspects x, y and z; a covers x, b none, n is not judged, and a copy of a covers z, too.
WORKED_EXAMPLE = [
    {"iteration": 1, "results": [document("a", ["x"]), document("b", []), document("n")]},
    {"iteration": 2, "results": [document("a", ["x", "z"]), document("d", ["x", "y"])]},
    {"iteration": 3, "results": [document("d", ["x", "y"])]},
]
ALPHA_FIRST = 1 / (2 + 0.5 / 1.584962500721156)  # of the list a, b, n: x, by d then a
JUDGED = aspect_judgments(
    LabelKeys(),
    [("c", "a", "x", 1), ("c", "d", "y", 2), ("c", "never", "z", 1), ("c", "b", "x", 0)],
)


def score(records, external=None, **options):
    options.setdefault("aspects", True)
    options.setdefault("metrics", METRICS)
    rules = options.pop("rules", None)
    records = [{"conversation_id": "c", **record} for record in records]
    (calls,) = fingerprints(records, rules).values()
    return score_conversation("c", calls, 0, scoring(rules, **options), external)


def name_documents(records, keys=None):
    """The names of documents, as payloads carry them."""
    calls = [parse_mapping({"conversation_id": "c", **record}) for record in records]
    return ExternalLabels(
        {
            record_digest(record_encoding(call)): document_digests(call, keys or LabelKeys())
            for call in calls
        }
    )


def by_i(found, name):
    return [row[name] for row in found.iterations]


def test_a_document_covers_the_aspects_of_its_first_occurrence():
    found = score(WORKED_EXAMPLE)
    assert by_i(found, "new_aspects_i") == [1, 1, 0]
    assert by_i(found, "aspects_at_i") == [1, 2, 2]
    assert by_i(found, "aspect_recall_at_i") == [0.5, 1, 1]
    row = found.conversation
    assert (row.aspects, row.aspect_recall, row.topic_aspects) == (2, 1, 2)
    assert row.iterations_for_all_aspects == 2
    assert (row["strec@3"], row["strec"]) == (0.5, 1)
    assert row["alpha_ndcg@3"] == pytest.approx(ALPHA_FIRST)


def test_with_the_best_label_copies_add_aspects():
    found = score(WORKED_EXAMPLE, document_label="best")
    assert by_i(found, "new_aspects_i") == [1, 2, 0]
    assert by_i(found, "aspect_recall_at_i") == [1 / 3, 1, 1]
    assert found.conversation["strec@3"] == 2 / 3


def test_judgments_from_outside_say_what_there_was_to_cover():
    found = score(WORKED_EXAMPLE, name_documents(WORKED_EXAMPLE), aspect_judgments=JUDGED)
    assert by_i(found, "aspects_at_i") == [1, 2, 2]
    assert by_i(found, "aspect_recall_at_i") == [1 / 3, 2 / 3, 2 / 3]
    assert found.conversation.iterations_for_all_aspects is None
    assert found.conversation.topic_aspects == 3


def test_without_aspects_nothing_is_known():
    found = score([{"iteration": 1, "results": [document("a")]}])
    row = found.conversation
    assert (row.aspects, row.aspect_recall, row["strec"], row["alpha_ndcg"]) == (0, *3 * [None])
    assert by_i(found, "aspect_recall_at_i") == [None]


def test_a_conversation_without_search_covers_none_of_the_topic():
    found = score([{"iteration": 1, "turn_count": 2}], ExternalLabels(), aspect_judgments=JUDGED)
    assert found.conversation.aspect_recall is None
    columns = found.conversation.columns.split(" ")
    idle = dict(zip(columns, found.idle, strict=True))
    assert idle["aspects"] == idle["aspect_recall"] == idle["strec"] == 0
    assert idle["iterations_for_all_aspects"] is None


def test_ranking_metrics_of_aspects_need_no_option():
    names = score(WORKED_EXAMPLE, aspects=False).conversation.columns.split(" ")
    assert "aspects" in names
    assert "aspects" not in score(WORKED_EXAMPLE, aspects=False, metrics=()).conversation.columns


def test_search_calls_have_lists_of_their_own():
    found = score(WORKED_EXAMPLE, per_call=True)
    assert [row["strec"] for row in found.calls] == [0.5, 1, 1]


def test_held_copies_cover_nothing():
    found = score(WORKED_EXAMPLE, duplicates="hold_slot", metrics=("alpha_ndcg",))
    ranks = 1 + (0.5 + 1) / 2.584962500721156 - 0.5 / 2.584962500721156 + 0
    held = 1 + 1.5 / 2.584962500721156
    assert found.conversation["alpha_ndcg"] == pytest.approx(held * ALPHA_FIRST)
    assert ranks < held


@pytest.mark.parametrize("judged", [False, True])
def test_rows_of_iterations_give_the_prefix_again(judged):
    judgments = JUDGED if judged else None
    found = score(WORKED_EXAMPLE, name_documents(WORKED_EXAMPLE), aspect_judgments=judgments)
    prefix = prefix_of([iteration_row(row) for row in found.iterations], ())
    for name in ("aspects", "aspect_recall", "iterations_for_all_aspects"):
        metric = next(metric for metric in scoring(aspects=True).plan.at_n if metric.name == name)
        assert metric.function(prefix) == found.conversation[name]


def with_aspects(random, records):
    """The records, in which most results are judged for aspects."""
    vocabulary = "uvwxyz"[: random.randint(1, 6)]
    for record in records:
        for result in record["results"] or []:
            if random.random() < 0.8:
                result["aspects"] = random.choices(vocabulary, k=random.choice([0, 1, 1, 2, 3]))
    return records


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["document", "passage"])
@pytest.mark.parametrize("document_label", ["first", "best"])
def test_generated_conversations_equal_the_reference(unit, document_label):
    random = Random(f"{unit} {document_label}")
    rules = shipped_rules(unit=unit)
    settings = scoring(rules, METRICS, aspects=True, document_label=document_label)
    undecided = 0
    for name, records in by_conversation(trace(random, conversations=100)).items():
        records = with_aspects(random, records)
        calls = fingerprints(records, rules)[name]
        found = score_conversation(name, calls, 0, settings)
        options = {"unit": unit, "document_label": document_label}
        assert_equals(found, evaluate_aspects(records, k=3, **options))
        whole = evaluate_aspects(records, **options)
        if found.iterations:
            assert found.conversation["strec"] == whole["strec"]
            assert found.conversation["alpha_ndcg"] == pytest.approx(whole["alpha_ndcg"])
            undecided += found.conversation.iterations_for_all_aspects not in (None, 1)
    assert undecided > 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_generated_judgments_equal_the_reference(seed):
    random = Random(seed)
    covering = 0
    for name, records in by_conversation(trace(random, conversations=50)).items():
        for record in records:
            for result in record["results"] or []:
                if random.random() < 0.7:
                    names = random.sample("abcdef", random.choice([1, 1, 2]))
                    result["ids"] = {**(result.get("ids") or {}), "doc_id": names}
        judged = {
            name: set(random.sample("uvwxyz", random.randint(0, 3)))
            for name in random.sample("abcdefghi", 6)
        }
        labels = [
            (name, document, aspect, int(aspect in aspects))
            for document, aspects in judged.items()
            for aspect in "uvwxyz"
        ]
        settings = scoring(None, METRICS, aspect_judgments=aspect_judgments(LabelKeys(), labels))
        found = score_conversation(
            name, fingerprints(records)[name], 0, settings, name_documents(records)
        )
        expected = evaluate_aspects(records, k=3, judged=judged)
        assert_equals(found, expected)
        covering += bool(expected["at_i"] and expected["at_i"][-1])
    assert covering > 25


def assert_equals(found, expected):
    assert by_i(found, "new_aspects_i") == expected["new"]
    assert by_i(found, "aspects_at_i") == expected["at_i"]
    assert by_i(found, "aspect_recall_at_i") == expected["recall_at_i"]
    row = found.conversation
    assert row.topic_aspects == expected["topic_aspects"]
    if found.iterations:
        assert row.aspects == expected["at_i"][-1]
        assert row.aspect_recall == expected["recall_at_i"][-1]
        assert row.iterations_for_all_aspects == expected["iterations_for_all_aspects"]
        assert row["strec@3"] == expected["strec"]
        assert row["alpha_ndcg@3"] == pytest.approx(expected["alpha_ndcg"])


def test_payloads_carry_aspects():
    records = [{"conversation_id": "c", **record} for record in WORKED_EXAMPLE]
    from tests.core.direct import _payloads

    (packed,) = _payloads(records, None).values()
    found = PayloadScorer(scoring(None, METRICS, aspects=True)).score("c", packed)
    assert found == score(WORKED_EXAMPLE)
