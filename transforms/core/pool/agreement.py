"""How well annotators of a pool agree, and how their differences affect means (SPEC 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import fsum, sqrt

import numpy as np
from msgspec import Struct

from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.dedup.rules import GENERIC_ID_NAME
from goodgain.transforms.core.pool.document import PoolDocument, choose_most_frequent
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.special_functions import normal_quantile

VOTES = "votes"  # name for the labels of the traces
GRADES = GREATEST_GAIN + 1
_TWO_SIDED_95 = 0.975
_FAR_APART = 2  # in grades, the smallest difference that counts
_ROUNDING = 1e-12
_METRICS = ("CG", "GR", "pool_recall")
Matrix = tuple[tuple[int, ...], ...]


class Kappa(Struct, frozen=True):
    """Cohen's kappa with quadratic weights; null where it is undefined.

    Undefined without documents, or if both give all documents one and the same label.

    Attributes:
      low, high: 95 % interval by the jackknife over documents; if null, `note` says why.
    """

    value: float | None
    low: float | None
    high: float | None
    note: str | None = None


class MeanShift(Struct, frozen=True):
    """A mean over conversations with the labels of A, and with those of B instead.

    Attributes:
      shift: mean_b - mean_a.
      low, high: its 95 % interval, over topics if conversations share them; if null, `note` says
        why.
    """

    metric: str
    n: int
    mean_a: float | None
    mean_b: float | None
    shift: float | None
    low: float | None
    high: float | None
    note: str | None


class Agreement(Struct, frozen=True):
    """The agreement of two annotators on the documents that both labelled.

    Attributes:
      matrix: number of documents by the label of A, then by that of B.
      same: share of documents with equal labels; null without documents.
    """

    documents: int
    matrix: Matrix
    same: float | None
    kappa: Kappa
    shifts: list[MeanShift]


def label_by(document: PoolDocument, annotator: str) -> int | None:
    """The label of an annotator, or of the traces' votes; None without a label."""
    if annotator == VOTES and VOTES not in document.given:
        return choose_most_frequent(vote.gain for vote in document.votes)
    return document.given.get(annotator)


def count_label_pairs(documents: Iterable[PoolDocument], a: str, b: str) -> Matrix:
    """The number of documents that both labelled, by the label of A, then by that of B."""
    counts = [[0] * GRADES for _ in range(GRADES)]
    for document in documents:
        one, other = label_by(document, a), label_by(document, b)
        if one is not None and other is not None:
            counts[one][other] += 1
    return tuple(map(tuple, counts))


def kappa(matrix: Matrix) -> Kappa:
    """Cohen's weighted kappa of a confusion matrix.

    Source: Cohen, "Weighted kappa", Psychological Bulletin 70(4), 1968, with weights (i - j)^2.
    """
    value = _kappa(matrix)
    total = sum(map(sum, matrix))
    if value is None:
        why = "both give every document the same label" if total else "no document has both labels"
        return Kappa(None, None, None, f"{why}, so kappa is undefined")
    left_out: list[tuple[int, float]] = []
    for i, row in enumerate(matrix):
        for j, count in enumerate(row):
            if count:
                without = _kappa(_less_one(matrix, i, j))
                if without is None:
                    note = "kappa is undefined without one of the documents"
                    return Kappa(value, None, None, f"{note}, so there is no interval")
                left_out.append((count, without))
    mean = fsum(count * score for count, score in left_out) / total
    squares = fsum(count * (score - mean) ** 2 for count, score in left_out)
    half = normal_quantile(_TWO_SIDED_95) * sqrt((total - 1) / total * squares)
    if half < _ROUNDING:
        note = "kappa is the same without any one of the documents, so there is no interval"
        return Kappa(value, None, None, note)
    return Kappa(value, max(value - half, -1.0), min(value + half, 1.0))


def _kappa(matrix: Matrix) -> float | None:
    total = sum(map(sum, matrix))
    rows = [sum(row) for row in matrix]
    columns = [sum(column) for column in zip(*matrix, strict=True)]
    cells = [(i, j) for i in range(GRADES) for j in range(GRADES)]
    observed = sum((i - j) ** 2 * matrix[i][j] for i, j in cells)
    expected = sum((i - j) ** 2 * rows[i] * columns[j] for i, j in cells)
    return 1 - observed * total / expected if expected else None


def _less_one(matrix: Matrix, i: int, j: int) -> Matrix:
    return tuple(
        tuple(count - ((row, column) == (i, j)) for column, count in enumerate(counts))
        for row, counts in enumerate(matrix)
    )


class ShiftSums:
    """Collects, topic by topic, the values of each conversation with the labels of A and of B."""

    def __init__(self, a: str, b: str, preferred: str | None, good_gain_threshold: int) -> None:
        self._names = (a, b)
        self._preferred = preferred
        self._threshold = good_gain_threshold
        self._topics = 0
        # For each metric and conversation, the topic and the values with A and with B.
        self._values: dict[str, list[tuple[int, float, float]]] = {
            metric: [] for metric in _METRICS
        }

    def add(self, documents: Sequence[PoolDocument]) -> None:
        """Add all documents of a topic."""
        gains_found: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
        good_in_topic: tuple[list[int], list[int]] = ([], [])
        for document in documents:
            gains = self._gains(document)
            seen = {(place.run, place.conversation_id) for place in document.places}
            by_conversation = [gains_found.setdefault(gain, ([], [])) for gain in seen]
            for side, gain in enumerate(gains):
                if gain >= self._threshold:
                    for good in (good_in_topic, *by_conversation):
                        good[side].append(gain)
        topic = self._topics
        self._topics += 1
        for with_a, with_b in gains_found.values():
            self._values["CG"].append((topic, sum(with_a), sum(with_b)))
            self._values["GR"].append((topic, len(with_a), len(with_b)))
            if good_in_topic[0] and good_in_topic[1]:
                shares = len(with_a) / len(good_in_topic[0]), len(with_b) / len(good_in_topic[1])
                self._values["pool_recall"].append((topic, *shares))

    def _gains(self, document: PoolDocument) -> tuple[int, int]:
        """The gains with A and with B; the pool's label if one of them has none."""
        by_a, by_b = (label_by(document, name) for name in self._names)
        if by_a is None or by_b is None:
            label = document.label(self._preferred) or 0
            return label, label
        return by_a, by_b

    def shifts(self) -> list[MeanShift]:
        """The means over all conversations."""
        return [_shift(metric, values) for metric, values in self._values.items()]


def _shift(metric: str, values: Sequence[tuple[int, float, float]]) -> MeanShift:
    topics = [topic for topic, _, _ in values]
    # A label counts for all conversations of its topic, so these are not independent.
    codes = np.array(topics, np.int64) if len(set(topics)) < len(topics) else None
    comparison = compare_paired([a for _, a, _ in values], [b for _, _, b in values], codes=codes)
    return MeanShift(
        metric,
        comparison.n_base,
        comparison.base_mean,
        comparison.candidate_mean,
        comparison.difference,
        comparison.ci_low,
        comparison.ci_high,
        comparison.note if comparison.ci_low is None else None,
    )


def measure_agreement(matrix: Matrix, shifts: Sequence[MeanShift]) -> Agreement:
    """The agreement, from the documents by their two labels and the shifts of the means."""
    total = sum(map(sum, matrix))
    same = sum(matrix[gain][gain] for gain in range(GRADES))
    return Agreement(total, matrix, same / total if total else None, kappa(matrix), list(shifts))


def count_by_annotator(documents: Iterable[PoolDocument]) -> dict[str, int]:
    """The number of documents that each annotator labelled."""
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(document.given.keys())  # the labels themselves do not count
        if document.votes:
            counts[VOTES] += 1
    return dict(counts)


def label_spans(document: PoolDocument) -> Iterator[tuple[str, bool]]:
    """Each id name that two or more voters saw, and whether their votes are far apart.

    Ids that are only positions in a result list merge unrelated documents. Votes on them then
    differ far more often than annotators differ on one document. A voter is a conversation of a
    run; it saw the names of the ids in its results.
    """
    names: dict[tuple[str, str], set[str]] = {}
    for place in document.places:
        result = document.evidence[place.evidence]
        of_voter = names.setdefault((place.run, place.conversation_id), set())
        of_voter.update(name for name, value in result.ids.items() if value)
        if result.id:
            of_voter.add(GENERIC_ID_NAME)
    votes = {(vote.run, vote.conversation_id): vote.gain for vote in document.votes}
    for name in sorted(set().union(*names.values())):
        gains = [gain for voter, gain in votes.items() if name in names.get(voter, ())]
        if len(gains) > 1:
            yield name, max(gains) - min(gains) >= _FAR_APART
