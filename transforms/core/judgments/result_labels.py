"""Labels of single results, given separately from the traces, and how they match results.

A label names its result by a place (conversation, turn, iteration, call, rank), by record and rank,
or by the span from which the record was made. Each label is either joined to a result, a repetition
of one that is, or rejected with a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.records.side_rows import RowKey, RowPlace, UnusedRow
from goodgain.transforms.core.wording import format_count

_CONVERSATION, _RECORD, _SPAN = "conversation", "record", "span"


class ResultLabel(Struct, frozen=True, array_like=True, order=True, gc=False):
    """The label of one result.

    Attributes:
      file: number of its file, from 0.
      row: number of its line or row, from 1.
      gain: 0 to 4.
      rank: rank of the result within its call, from 1.
      turn: the turn, for labels without a record_id.
      iteration: as in adapted records; None for labels with a record_id.
      call: None if the iteration has only one call.
      record_id: the record; with `span`, only the part of its id after the last slash must match.
    """

    file: int
    row: int
    gain: int
    rank: int
    conversation_id: str | None = None
    turn: int = 1
    iteration: int | None = None
    call: int | None = None
    record_id: str | None = None
    span: bool = False

    @property
    def key(self) -> RowKey:
        """The key by which its conversation is found."""
        if self.conversation_id is not None:
            return _CONVERSATION, self.conversation_id
        return _SPAN if self.span else _RECORD, self.record_id or ""

    def is_of(self, call: CallFingerprint) -> bool:
        """Whether it is for a result of this call of its conversation."""
        if self.record_id is not None:
            own_id = call.record_id or ""
            return self.record_id in ((own_id, span_of(own_id)) if self.span else (own_id,))
        place = self.turn, self.iteration
        return place == (call.turn, call.iteration) and self.call in (None, call.call)


class LabelledCalls(Struct, frozen=True):
    """Calls with the labels that were given to their results.

    Attributes:
      joined, replaced: number of labels that match a result, and of those that changed its gain.
      repeated: number of further labels of a result with the same gain.
    """

    calls: list[CallFingerprint]
    joined: int
    replaced: int
    repeated: int
    rejected: list[UnusedRow]

    def counts(self) -> dict[str, int]:
        """How many labels were used or not, by dotted name."""
        return {
            "labels.joined": self.joined,
            "labels.replaced": self.replaced,
            "labels.repeated": self.repeated,
            "labels.rejected": len(self.rejected),
        }


def span_of(record_id: str) -> str:
    """The span in a record_id like `trace/span`, as written by `goodgain convert`."""
    return record_id.rsplit("/", 1)[-1]


def keys_of(conversation_id: str, record_ids: Iterable[str]) -> Iterator[RowKey]:
    """The possible label keys for records of a conversation."""
    yield _CONVERSATION, conversation_id
    for record_id in record_ids:
        yield _RECORD, record_id
        yield _SPAN, span_of(record_id)


def place_labels(
    labels: Sequence[ResultLabel], conversations: AbstractSet[str]
) -> tuple[str | None, list[UnusedRow]]:
    """The conversation of labels that share a key, or why they have none.

    Args:
      conversations: those with the key.
    """
    if len(conversations) == 1:
        return next(iter(conversations)), []
    return None, [_reject_unmatched(label, conversations) for label in labels]


def _reject_unmatched(label: ResultLabel, conversations: AbstractSet[str]) -> UnusedRow:
    """Reject a label whose key matches no conversation, or several."""
    kind, name = label.key
    if kind == _CONVERSATION:
        return _unused_row(label, f"The traces have no conversation {name}.")
    what = f"a record with the {'span_id' if kind == _SPAN else 'record_id'} {name}"
    if not conversations:
        return _unused_row(label, f"The traces have no conversation with {what}.")
    return _unused_row(
        label,
        f"{len(conversations):,} conversations have {what}; give the conversation_id too.",
    )


def label_calls(calls: Sequence[CallFingerprint], labels: Sequence[ResultLabel]) -> LabelledCalls:
    """Apply labels to results.

    Args:
      calls: calls of one conversation, each once.
      labels: labels whose keys match the conversation, in any order.
    """
    rejected: list[UnusedRow] = []
    of_result: dict[tuple[int, int], list[ResultLabel]] = {}
    for label in sorted(labels):
        at_or_reason = _call_index(label, calls)
        if isinstance(at_or_reason, str):
            rejected.append(_unused_row(label, at_or_reason))
        else:
            of_result.setdefault((at_or_reason, label.rank - 1), []).append(label)
    labelled = list(calls)
    joined = replaced = repeated = 0
    for (at, place), several in of_result.items():
        gains = {label.gain for label in several}
        if len(gains) > 1:
            rejected += _reject_contradicting(several)
            continue
        (gain,) = gains
        before = calls[at].results[place].gain
        joined, repeated = joined + 1, repeated + len(several) - 1
        replaced += before is not None and before != gain
        results = list(labelled[at].results)
        results[place] = replace(results[place], gain=gain)
        labelled[at] = replace(labelled[at], results=results)
    return LabelledCalls(
        labelled, joined, replaced, repeated, sorted(rejected, key=attrgetter("place"))
    )


def _call_index(label: ResultLabel, calls: Sequence[CallFingerprint]) -> int | str:
    """The index of the call with the result of a label, or why there is none."""
    matches = [at for at, call in enumerate(calls) if label.is_of(call)]
    what = _place_text(label)
    if not matches:
        return f"The conversation has no usable record of {what}."
    if len(matches) > 1:
        advice = "" if label.record_id is not None or label.call is not None else "; give the call"
        return f"{len(matches):,} search calls are of {what}{advice}."
    results = len(calls[matches[0]].results)
    if label.rank > results:
        return (
            f"The search call of {what} has {format_count(results, 'result')}, so there is no "
            f"rank {label.rank}."
        )
    return matches[0]


def _place_text(label: ResultLabel) -> str:
    if label.record_id is not None:
        return f"{'span_id' if label.span else 'record_id'} {label.record_id}"
    call = "" if label.call is None else f", call {label.call}"
    return f"turn {label.turn}, iteration {label.iteration}{call}"


def _reject_contradicting(labels: Sequence[ResultLabel]) -> Iterator[UnusedRow]:
    """Reject all of them, since it is unknown which one is right."""
    for label in labels:
        other = next(other_label for other_label in labels if other_label.gain != label.gain)
        text = f"The result has the gain {label.gain} here, but {other.gain} at"
        yield _unused_row(label, text, other, ": both are left out.")


def _unused_row(
    label: ResultLabel, reason: str, other: ResultLabel | None = None, ending: str = "."
) -> UnusedRow:
    said = {
        name: value
        for name, value in msgspec.structs.asdict(label).items()
        if name not in ("file", "row", "span") and value is not None
    }
    return UnusedRow(
        RowPlace(label.file, label.row),
        reason,
        msgspec.json.encode(said).decode(),
        label.conversation_id,
        None if other is None else RowPlace(other.file, other.row),
        ending,
    )
