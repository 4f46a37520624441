"""Agreement of annotators: kappa, computed by hand, and shifts of means."""

import random
from math import sqrt

import pytest
import scipy.stats
from msgspec.structs import replace

from goodgain.transforms.core.pool.agreement import (
    VOTES,
    ShiftSums,
    count_label_pairs,
    kappa,
    label_by,
)
from tests.core.pool.direct import build
from tests.reference.test_pool import call, doc


def matrix(cells):
    return tuple(tuple(cells.get((i, j), 0) for j in range(5)) for i in range(5))


def test_kappa_by_hand():
    """Labels (0, 0), (0, 1), (2, 2), (2, 4): the observed quadratic weights are 1 + 4 = 5.

    Rows have 0 twice and 2 twice, columns 0, 1, 2, 4 once. By chance each row meets each column:
    2 * (0 + 1 + 4 + 16) + 2 * (4 + 1 + 0 + 4) = 60, over 4 documents 15. Kappa = 1 - 5 / 15.
    """
    found = kappa(matrix({(0, 0): 1, (0, 1): 1, (2, 2): 1, (2, 4): 1}))
    assert found.value == pytest.approx(1 - 5 / 15)
    assert found.low < found.value < found.high <= 1
    assert found.note is None


@pytest.mark.parametrize(
    ("cells", "value", "note"),
    [
        ({}, None, "no document has both labels, so kappa is undefined"),
        ({(3, 3): 7}, None, "both give every document the same label, so kappa is undefined"),
        ({(0, 1): 1}, 0.0, "kappa is undefined without one of the documents"),
        ({(0, 0): 1, (4, 4): 3}, 1.0, "kappa is undefined without one of the documents"),
        ({(0, 0): 2, (4, 4): 3}, 1.0, "kappa is the same without any one of the documents"),
        ({(0, 0): 900, (4, 4): 9}, 1.0, "kappa is the same without any one of the documents"),
        ({(0, 4): 3, (4, 0): 3}, -1.0, "kappa is the same without any one of the documents"),
    ],
)
def test_kappa_has_a_reason_instead_of_an_interval_in_extreme_cases(cells, value, note):
    """Full agreement of five documents does not make kappa certain."""
    found = kappa(matrix(cells))
    assert (found.value, found.low, found.high) == (value, None, None)
    assert found.note.startswith(note)


def test_more_documents_narrow_the_interval():
    cells = {(0, 0): 3, (0, 1): 1, (2, 2): 3, (3, 4): 2}
    few, many = kappa(matrix(cells)), kappa(matrix({key: 20 * n for key, n in cells.items()}))
    assert few.value == pytest.approx(many.value)
    assert many.high - many.low < (few.high - few.low) / 3


def test_means_shift_with_the_labels_of_another_annotator():
    """Two conversations; the first finds both documents, the second only d1, which b labels 0."""
    runs = {"A": [call(doc("d1", 3), doc("d2", 2))], "B": [call(doc("d1", 3))]}
    (built,) = build(runs).values()
    d1, d2 = built.documents
    documents = [replace(d1, given={"b": 0}), replace(d2, given={"b": 4})]
    assert count_label_pairs(documents, VOTES, "b")[3][0] == 1
    assert label_by(documents[1], VOTES) == 2
    sums = ShiftSums(VOTES, "b", None, 2)
    sums.add(documents)
    found = [
        (shift.metric, shift.n, shift.mean_a, shift.mean_b, shift.shift, shift.low)
        for shift in sums.shifts()
    ]
    assert found == [
        ("CG", 2, 4.0, 2.0, -2.0, None),
        ("GR", 2, 1.5, 0.5, -1.0, None),
        ("pool_recall", 2, 0.75, 0.5, -0.25, None),
    ]
    assert {shift.note for shift in sums.shifts()} == {"one cluster has no interval and no test"}


def gain_by(document, name):
    return document.given[name] if document.given[name] >= 2 else 0


def test_the_interval_of_a_shift_is_clustered_by_topic():
    """Two runs over each of 7 topics; the stderr by the formula for clusters."""
    rng = random.Random(4)
    runs = {
        name: [
            call(
                *(doc(f"{topic}-{number}") for number in rng.sample(range(6), 4)),
                conversation_id=f"{name}{topic}",
                attributes={"topic": str(topic)},
            )
            for topic in range(7)
        ]
        for name in "AB"
    }
    sums, by_topic = ShiftSums("a", "b", None, 2), []
    for built in build(runs, "topic").values():
        documents = [
            replace(document, given={"a": rng.randrange(5), "b": rng.randrange(5)})
            for document in built.documents
        ]
        sums.add(documents)
        by_topic.append(
            sum(
                gain_by(document, "b") - gain_by(document, "a")
                for document in documents
                for run in "AB"
                if run in {place.run for place in document.places}
            )
        )
    n, g = 14, 7
    mean = sum(by_topic) / n
    stderr = sqrt(g / (g - 1) * sum((value - 2 * mean) ** 2 for value in by_topic) / n**2)
    half = scipy.stats.t.ppf(0.975, g - 1) * stderr
    gains = sums.shifts()[0]
    assert (gains.metric, gains.n, gains.note) == ("CG", 14, None)
    assert (gains.shift, gains.low, gains.high) == pytest.approx((mean, mean - half, mean + half))


def test_annotators_who_agree_give_no_shift():
    runs = {"A": [call(doc("d1", 3), conversation_id=name) for name in "pq"]}
    sums = ShiftSums(VOTES, "b", None, 2)
    for built in build(runs).values():
        sums.add([replace(document, given={"b": 3}) for document in built.documents])
    assert {(shift.shift, shift.low, shift.note) for shift in sums.shifts()} == {
        (0.0, None, "no pair differs, so there is no interval")
    }
