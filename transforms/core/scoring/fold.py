"""The fold: turns the ordered calls of one turn into documents, labels and counts (SPEC 4, 5, 8).

Batch, streaming, `goodgain explain` and the tests all use `fold_turn`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from goodgain.transforms.core.dedup.agreement import contents_differ
from goodgain.transforms.core.dedup.duplicates import Deduplicator, Duplicate
from goodgain.transforms.core.dedup.evidence import read_evidence
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, ResultFingerprint
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.judgments.external_labels import (
    TopicLabels,
    document_labels,
    relabel_calls,
)
from goodgain.transforms.core.metrics.turn import IterationCounts
from goodgain.transforms.core.pool.matching import Pooled, TurnPool
from goodgain.transforms.core.scoring.label_rises import (
    DocumentLabel,
    LabelRise,
    label_rises,
    raise_labels,
)

# Index, number of good documents that the result finds, and the gain that it adds.
_Find = tuple[int, int, int]


class FoldedTurn(Struct, frozen=True):
    """A folded turn. The index of a result is its position among all results of the turn, from 0.

    Attributes:
      results: the results of all calls, by index; the gain of each is its own label, from the trace
        or external.
      duplicates: by index, why the result is a duplicate; None for first occurrences.
      labels: by index, the label of the document there (SPEC 5, 8).
      judged: by index, the label for ranking metrics; with a pool, only the pool's (SPEC 9).
      pooled: the pool document of each first occurrence, by index; None without a pool.
      iterations: counts of each iteration, in order of i.
      labelled_copies: number of duplicates with a label of their own.
      label_conflicts: number of these whose label differs from that of their first occurrence or,
        with external judgments, of their document; a pool changes nothing about it.
      conflicts_between_texts: number of conflicts in which the texts of the two differ, too; 0 with
        external judgments.
      judgments_met_again: for each document that stays unjudged because all judgments of its names
        label earlier documents, the first of these (SPEC 8); both by index of first occurrence.
        None without external judgments.
      deduplicator: found the duplicates, and has counts of candidates.
      rises: the results that raise the label of their document, whose label is then the greatest;
        None if it is that of the first occurrence.
    """

    calls: Sequence[CallFingerprint]
    results: list[ResultFingerprint]
    duplicates: list[Duplicate | None]
    labels: list[int | None]
    judged: list[int | None]
    pooled: dict[int, Pooled] | None
    iterations: list[IterationCounts]
    labelled_copies: int
    label_conflicts: int
    conflicts_between_texts: int
    judgments_met_again: dict[int, int] | None
    deduplicator: Deduplicator
    rises: list[LabelRise] | None = None

    def label_at(self, index: int) -> int | None:
        """The label of a first occurrence, without what later copies make of it."""
        return self.labels[index] if self.rises is None else self.results[index].gain


def fold_turn(
    calls: Sequence[CallFingerprint],
    rules: RuleTable,
    good_gain_threshold: int,
    external: TopicLabels | None = None,
    pool: TurnPool | None = None,
    document_label: DocumentLabel = "first",
) -> FoldedTurn:
    """Fold the calls of one turn, given in the order of SPEC 3.

    Args:
      external: judgments that replace the labels of the trace (SPEC 8).
      pool: its labels override those of the trace; requires calls with their records (SPEC 9).
      document_label: which label a document has; `best` only without `external` and `pool`.
    """
    if external is not None:
        calls = relabel_calls(calls, external)
    deduplicator = Deduplicator(rules)
    results = [result for call in calls for result in call.results]
    duplicates = list(map(deduplicator.add, results))
    own_labels = [result.gain for result in results]
    labels = [
        gain if duplicate is None else own_labels[duplicate.first]
        for gain, duplicate in zip(own_labels, duplicates, strict=True)
    ]
    met_again = None
    if external is not None:
        labels, met_again = document_labels(calls, duplicates, external)
    labelled_copies = [
        (index, duplicate.first)
        for index, duplicate in enumerate(duplicates)
        if duplicate is not None and own_labels[index] is not None
    ]
    conflicts = [
        (index, first)
        for index, first in labelled_copies
        if labels[index] is not None and labels[index] != own_labels[index]
    ]
    rises = None
    if document_label == "best":
        rises = label_rises(duplicates, own_labels)
        labels = raise_labels(duplicates, rises)
    judged = labels
    pooled = None
    if pool is not None:
        pooled = pool.topic_pool.match(pool.conversation_id, calls, duplicates, pool.run)
        judged = _pool_labels(duplicates, pooled, pool.topic_pool.labels)
        labels = [
            label if of_pool is None else of_pool
            for label, of_pool in zip(labels, judged, strict=True)
        ]
    # In a trace, each result has its own label or none; external labels are those of documents
    # (SPEC 5).
    of_results = own_labels if external is None and pool is None else labels
    finds = (
        _first_finds(duplicates, labels, good_gain_threshold)
        if rises is None
        else _rising_finds(rises, good_gain_threshold)
    )
    return FoldedTurn(
        calls,
        results,
        duplicates,
        labels,
        judged,
        pooled,
        _iterations(calls, duplicates, labels, of_results, finds),
        len(labelled_copies),
        len(conflicts),
        _count_text_changes(conflicts, results) if external is None else 0,
        met_again,
        deduplicator,
        rises,
    )


def _count_text_changes(
    pairs: Iterable[tuple[int, int]], results: Sequence[ResultFingerprint]
) -> int:
    """The number of pairs of results, by index, whose texts differ."""
    return sum(
        contents_differ(read_evidence(results[first]).values, read_evidence(results[other]).values)
        for first, other in pairs
    )


def iteration_numbers(calls: Iterable[CallFingerprint]) -> list[int]:
    """The i of each call of a turn (SPEC 1)."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(call.iteration, len(numbers) + 1) for call in calls]


def result_iterations(calls: Sequence[CallFingerprint]) -> list[int]:
    """The i of each result of a turn."""
    numbered = zip(iteration_numbers(calls), calls, strict=True)
    return [i for i, call in numbered for _ in call.results]


def _pool_labels(
    duplicates: Sequence[Duplicate | None],
    pooled: Mapping[int, Pooled],
    labels: Sequence[int | None],
) -> list[int | None]:
    """The pool's label of the document at each index."""
    documents = (
        pooled.get(index if duplicate is None else duplicate.first)
        for index, duplicate in enumerate(duplicates)
    )
    return [None if document is None else labels[document.document] for document in documents]


def _iterations(
    calls: Sequence[CallFingerprint],
    duplicates: Sequence[Duplicate | None],
    labels: Sequence[int | None],
    labels_of_results: Sequence[int | None],
    finds: Iterable[_Find],
) -> list[IterationCounts]:
    """The counts of each iteration, in order of i.

    Args:
      labels: by index, that of the document there.
      labels_of_results: by index; None if the result counts as unlabelled.
    """
    iterations: list[IterationCounts] = []
    start = 0
    for call in calls:
        if not iterations or iterations[-1].iteration != call.iteration:
            iterations.append(IterationCounts(call.iteration))
        counts = iterations[-1]
        end = start + len(call.results)
        counts.calls += 1
        counts.results += end - start
        counts.unlabelled += labels_of_results[start:end].count(None)
        counts.unique += duplicates[start:end].count(None)
        of_call = zip(labels[start:end], duplicates[start:end], strict=True)
        counts.unlabelled_documents += sum(
            label is None and duplicate is None for label, duplicate in of_call
        )
        start = end
    numbers = result_iterations(calls)
    for index, good, gain in finds:
        counts = iterations[numbers[index] - 1]
        counts.good += good
        counts.gain += gain
    return iterations


def _first_finds(
    duplicates: Sequence[Duplicate | None], labels: Sequence[int | None], good_gain_threshold: int
) -> Iterator[_Find]:
    """The first occurrences of good documents."""
    for index, (duplicate, label) in enumerate(zip(duplicates, labels, strict=True)):
        if duplicate is None and label is not None and label >= good_gain_threshold:
            yield index, 1, label


def _rising_finds(rises: Iterable[LabelRise], good_gain_threshold: int) -> Iterator[_Find]:
    """The results that raise the good gain of their document."""
    for rise in rises:
        found = int(rise.finds_good(good_gain_threshold))
        yield rise.index, found, rise.gain(good_gain_threshold)
