"""Documents whose labels can change the metric most come first."""

from math import log2
from random import Random

import pytest
from msgspec.structs import replace

from goodgain.transforms.core.pool.todo import RecallState, sort_documents, weight_of
from tests.core.pool.direct import build
from tests.reference.test_pool import call, doc


def labelled_pool(seed):
    """Documents of three conversations; some are labelled."""
    rng = Random(seed)
    runs = {
        run: [
            call(*(doc(f"d{n}") for n in rng.sample(range(10), 4)), iteration=i, call=None)
            for i in (1, 2)
        ]
        for run in "ABC"
    }
    (built,) = build(runs).values()
    return [
        replace(document, given={"x": rng.choice((0, 3))} if rng.random() < 0.5 else {})
        for document in built.documents
    ]


def recalls(documents):
    """The recall of each run; None if no document is good."""
    good = [document for document in documents if (document.label() or 0) >= 2]
    runs = sorted({place.run for document in documents for place in document.places})
    return [
        sum(run in {place.run for place in document.places} for document in good) / len(good)
        if good
        else None
        for run in runs
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_weight_is_how_much_a_good_label_changes_recall(seed):
    documents = labelled_pool(seed)
    found = RecallState()
    for document in documents:
        found.add(document, document.label())
    before = recalls(documents)
    changes = {}
    for unlabelled_document in documents:
        if unlabelled_document.label() is None and None not in before:
            labelled = [
                replace(unlabelled_document, given={"x": 4})
                if unlabelled_document is other
                else other
                for other in documents
            ]
            after = recalls(labelled)
            changes[unlabelled_document.number] = sum(
                abs(x - y) for x, y in zip(after, before, strict=True)
            )
            assert weight_of(unlabelled_document, "pool_recall", found) == pytest.approx(
                changes[unlabelled_document.number]
            )
    unlabelled = [document for document in documents if document.label() is None]
    order = sort_documents(
        unlabelled, "pool_recall", {document.topic: found for document in documents}
    )
    weights = [changes[document.number] for document in order if changes]
    assert weights == pytest.approx(sorted(weights, reverse=True))


def test_weights_count_conversations_and_for_dcg_also_iterations():
    runs = {
        "A": [call(doc("late")), call(doc("early"), iteration=2), call(doc("late"), iteration=3)],
        "B": [call(doc("x")), call(doc("early"), iteration=2)],
    }
    (built,) = build(runs).values()
    by_name = {document.evidence[0].ids["doc_id"]: document for document in built.documents}
    weights = {
        metric: {name: weight_of(document, metric) for name, document in by_name.items()}
        for metric in ("CG", "DCG")
    }
    assert weights["CG"] == {"late": 1, "early": 2, "x": 1}
    assert weights["DCG"] == pytest.approx({"late": 1, "early": 2 / log2(3), "x": 1})
    first = sort_documents(built.documents, "CG")[0]
    assert first == by_name["early"]
