"""Which documents of a turn the agent opened or cited (SPEC 11)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from goodgain.transforms.core.dedup.duplicates import Deduplicator
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, ResultFingerprint
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.metrics.turn import UsageCounts, UseCounts
from goodgain.transforms.core.records.search_call import CITE, OPEN, USAGES
from goodgain.transforms.core.scoring.fold import FoldedTurn

# Which list of documents a document is in: of those that search found, of those that were opened
# and that search did not find, of those that were only cited.
Source = Literal["found", "opened", "cited"]


class UsedDocument(Struct, frozen=True, order=True):
    """A document that was opened or cited.

    Attributes:
      source: the list that it is in.
      index: its first occurrence, by index in that list of results.
    """

    source: Source
    index: int


class TurnUsage(Struct, frozen=True):
    """What was opened and cited in a turn.

    Attributes:
      documents: for each record, the documents of its results.
      labels: their labels; None = not labelled.
      counts: what the metrics are computed from.
    """

    documents: list[list[UsedDocument]]
    labels: dict[UsedDocument, int | None]
    counts: UsageCounts


def use_turn(
    turn: FoldedTurn,
    usages: Sequence[CallFingerprint],
    rules: RuleTable,
    good_gain_threshold: int,
) -> TurnUsage:
    """Match the documents that were opened or cited with those that search found.

    Args:
      usages: the records of documents opened or cited in the turn, in the order of SPEC 3.
    """
    opened, cited = Deduplicator(rules), Deduplicator(rules)
    documents: list[list[UsedDocument]] = [[] for _ in usages]
    own_labels: dict[UsedDocument, int | None] = {}
    # Openings first: a citation may be of a document that was opened later in the turn.
    for action in USAGES:
        for at, record in enumerate(usages):
            if record.action != action:
                continue
            for result in record.results:
                document = _find(turn.deduplicator, result) or _of_usage(
                    action, opened, cited, result
                )
                documents[at].append(document)
                if own_labels.get(document) is None:
                    own_labels[document] = result.gain
    labels = {
        document: turn.labels[document.index] if document.source == "found" else label
        for document, label in own_labels.items()
    }
    return TurnUsage(documents, labels, _counts(usages, documents, labels, good_gain_threshold))


def _find(found: Deduplicator, result: ResultFingerprint) -> UsedDocument | None:
    """The document of a search; None if none of them is the same."""
    first = found.find_first_match(result)
    return None if first is None else UsedDocument("found", first)


def _of_usage(
    action: str, opened: Deduplicator, cited: Deduplicator, result: ResultFingerprint
) -> UsedDocument:
    """The document of a result that search did not find, which is added if it is new."""
    if action == OPEN:
        return UsedDocument("opened", opened.find_or_add(result))
    first = opened.find_first_match(result)
    if first is not None:
        return UsedDocument("opened", first)
    return UsedDocument("cited", cited.find_or_add(result))


def _counts(
    usages: Sequence[CallFingerprint],
    documents: Sequence[Sequence[UsedDocument]],
    labels: dict[UsedDocument, int | None],
    good_gain_threshold: int,
) -> UsageCounts:
    used = {
        action: set(_documents_of(action, usages, documents)) for action in (OPEN, CITE)
    }  # each once
    counts = {}
    for action, distinct in used.items():
        good = {
            document: label
            for document in distinct
            if (label := labels[document]) is not None and label >= good_gain_threshold
        }
        gains = [label for document, label in good.items() if document.source == "found"]
        counts[action] = UseCounts(
            sum(record.action == action for record in usages),
            len(distinct),
            len(good),
            sum(document.source != "found" for document in distinct),
            len(gains),
            sum(gains),
        )
    return UsageCounts(counts[OPEN], counts[CITE], len(used[CITE] - used[OPEN]))


def _documents_of(
    action: str,
    usages: Iterable[CallFingerprint],
    documents: Iterable[Sequence[UsedDocument]],
) -> Iterator[UsedDocument]:
    for record, of_record in zip(usages, documents, strict=True):
        if record.action == action:
            yield from of_record
