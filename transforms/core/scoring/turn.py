"""The fold: the ordered calls of one turn into documents, their labels and counts (SPEC 4, 5, 8).

Batch, streaming, `goodgain explain` and the tests all go through `fold_turn`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from goodgain.transforms.core.dedup.duplicates import Deduplicator, Duplicate
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, ResultFingerprint
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.judgments.external_labels import (
    ExternalLabels,
    document_labels,
    relabelled,
)
from goodgain.transforms.core.pool.matching import Pooled, TurnPool
from goodgain.transforms.core.scoring.gains import IterationCounts


class Turn(Struct, frozen=True):
    """A folded turn. Places count all its results from 0, in the order of SPEC 3.

    Attributes:
      calls: the calls, in order.
      results: by place, the results of all calls; their gains are the labels that they carry
        themselves, in the trace or from outside.
      duplicates: by place, why it is a duplicate; None for first occurrences.
      labels: by place, the label of the document that stands there (SPEC 5, 8).
      judged: the same for ranking metrics; with a pool its labels alone (SPEC 9).
      pooled: by place of a first occurrence, which document of the pool it is; None without one.
      iterations: counts by i - 1.
      label_conflicts: labelled copies whose label differs from their document's.
      judgments_met_again: documents that stay unjudged, since all judgments of their names label
        earlier documents (SPEC 8), each with the first of those, by the places of their first
        occurrences; None where the labels of the trace count.
      deduplicator: what was counted while duplicates were looked for.
    """

    calls: Sequence[CallFingerprint]
    results: list[ResultFingerprint]
    duplicates: list[Duplicate | None]
    labels: list[int | None]
    judged: list[int | None]
    pooled: dict[int, Pooled] | None
    iterations: list[IterationCounts]
    label_conflicts: int
    judgments_met_again: dict[int, int] | None
    deduplicator: Deduplicator


def fold_turn(
    calls: Sequence[CallFingerprint],
    rules: RuleTable,
    good_gain_threshold: int,
    external: ExternalLabels | None = None,
    pool: TurnPool | None = None,
) -> Turn:
    """Fold the calls of one turn, given in the order of SPEC 3.

    Args:
      external: judgments in place of the labels of the trace (SPEC 8).
      pool: whose labels go before those of the trace; then the calls have their canonical
        encodings (SPEC 9).
    """
    if external is not None:
        calls = relabelled(calls, external)
    deduplicator = Deduplicator(rules)
    results = [result for call in calls for result in call.results]
    duplicates = list(map(deduplicator.add, results))
    carried = [result.gain for result in results]
    labels = [
        gain if duplicate is None else carried[duplicate.first]
        for gain, duplicate in zip(carried, duplicates, strict=True)
    ]
    judged = None
    if external is not None:
        judged = document_labels(calls, duplicates, external)
        labels = judged.labels
    by_pool: list[int | None] | None = None
    pooled = None if pool is None else pool.match(calls, duplicates)
    if pool is not None and pooled is not None:
        by_pool = _labels_of_pool(duplicates, pooled, pool.pool.labels)
        labels = [
            label if given is None else given for label, given in zip(labels, by_pool, strict=True)
        ]
    return Turn(
        calls,
        results,
        duplicates,
        labels,
        labels if by_pool is None else by_pool,
        pooled,
        _iterations(
            calls,
            duplicates,
            labels,
            # In a trace every copy has a label or none; from outside its document has (SPEC 5).
            unlabelled=carried if judged is None and pool is None else labels,
            good_gain_threshold=good_gain_threshold,
        ),
        sum(
            duplicate is not None and gain is not None and label is not None and gain != label
            for duplicate, gain, label in zip(duplicates, carried, labels, strict=True)
        ),
        judged.met_again if judged else None,
        deduplicator,
    )


def _labels_of_pool(
    duplicates: Sequence[Duplicate | None],
    pooled: Mapping[int, Pooled],
    labels: Sequence[int | None],
) -> list[int | None]:
    """By place, what the pool labels the document that stands there."""
    documents = (
        pooled.get(place if duplicate is None else duplicate.first)
        for place, duplicate in enumerate(duplicates)
    )
    return [None if one is None else labels[one.document] for one in documents]


def _iterations(
    calls: Sequence[CallFingerprint],
    duplicates: Sequence[Duplicate | None],
    labels: Sequence[int | None],
    unlabelled: Sequence[int | None],
    good_gain_threshold: int,
) -> list[IterationCounts]:
    """Counts by i - 1; `unlabelled` holds None at the place of each result that counts as such."""
    iterations: list[IterationCounts] = []
    start = 0
    for call in calls:
        if not iterations or iterations[-1].iteration != call.iteration:
            iterations.append(IterationCounts(call.iteration))
        counts = iterations[-1]
        end = start + len(call.results)
        counts.calls += 1
        counts.results += end - start
        counts.unlabelled += unlabelled[start:end].count(None)
        for place in range(start, end):
            if duplicates[place] is None:
                counts.unique += 1
                label = labels[place]
                if label is not None and label >= good_gain_threshold:
                    counts.good += 1
                    counts.gain += label
        start = end
    return iterations
