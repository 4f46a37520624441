"""The records of one conversation, among those of all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.result_labels import keys_of
from goodgain.transforms.core.memory_budget import CONVERSATION, MemoryBudget
from goodgain.transforms.core.records.record_encoding import record_encoding
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.records.side_rows import RowKey
from goodgain.transforms.core.scoring.conversation_picker import ConversationRecord, OtherCall
from goodgain.transforms.core.wording import pluralize

_MOST_COMPARED = 20_000  # ids compared for a suggestion
_SUGGESTED = 3
_LONGEST_COMPARED = 1_000  # characters of an id


class ConversationRecords(Struct, frozen=True):
    """One conversation's records.

    Attributes:
      calls: every delivery of every call.
      unreadable: rejected rows without a conversation.
      elsewhere: keys of labels that match another conversation.
    """

    conversation_id: str
    calls: list[SearchCall]
    rejected: list[RejectedRecord]
    unreadable: int
    elsewhere: frozenset[RowKey] = frozenset()


def gather(
    conversation_id: str,
    records: Iterable[ConversationRecord],
    budget: MemoryBudget,
    label_keys: Collection[RowKey] = (),
) -> ConversationRecords:
    """Read everything and keep what belongs to one conversation.

    Args:
      budget: counts the bytes kept.
      label_keys: keys of labels that were given separately from the traces.

    Raises:
      UsageError: there is no such conversation; the message names the nearest.
      GoodGainError: the conversation exceeds the limit of `budget`.
    """
    calls: list[SearchCall] = []
    rejected: list[RejectedRecord] = []
    others: set[str] = set()
    elsewhere: set[RowKey] = set()
    unreadable = 0
    for record in records:
        if record.conversation_id == conversation_id and not isinstance(record, OtherCall):
            if isinstance(record, SearchCall):
                budget.count_explained(1 + len(record.results), len(record_encoding(record)))
                calls.append(record)
            else:
                budget.count_read(
                    record.conversation_id, record.reason, record.payload, what=CONVERSATION
                )
                rejected.append(record)
            continue
        if label_keys and isinstance(record, SearchCall) and record.record_id is not None:
            keys = keys_of(record.conversation_id, [record.record_id])
            elsewhere.update(key for key in keys if key in label_keys)
        if record.conversation_id is None:
            unreadable += 1
        elif len(others) < _MOST_COMPARED and len(record.conversation_id) <= _LONGEST_COMPARED:
            others.add(record.conversation_id)
    if not calls and not rejected:
        raise UsageError(_not_found(conversation_id, others))
    return ConversationRecords(conversation_id, calls, rejected, unreadable, frozenset(elsewhere))


def _not_found(conversation_id: str, others: set[str]) -> str:
    if not others:
        return f"There is no conversation {conversation_id}: the files contain none at all."
    near = [name for name in sorted(others) if name.startswith(conversation_id)][:_SUGGESTED]
    near = near or get_close_matches(conversation_id, sorted(others), n=_SUGGESTED)
    if near:
        verb = pluralize(len(near), "is", "are")
        return f"There is no conversation {conversation_id}; the nearest {verb} {', '.join(near)}."
    return (
        f"There is no conversation {conversation_id}, and none with a similar id; the first is "
        f"{min(others)}. A run lists all of them in its dataset conversations."
    )
