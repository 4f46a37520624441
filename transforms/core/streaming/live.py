"""Rows of iterations before their conversation is closed (SPEC 7, `--live`).

The rule. A row is known by (conversation_id, turn, i).
* It is given as soon as the watermark has passed the last event of its iteration and of all
  earlier ones of the turn; i = 1 first, then i = 2 and so on. It is the row that closing would give
  for the records known then.
* A record that arrives out of order may change rows that were given. When the watermark has passed
  that record too, the changed rows are given again with the next revision.
* A row that is no longer there is withdrawn: it is given again as it was, with the next revision
  and `withdrawn`. So a new turn withdraws the rows of the turn before and begins again at i = 1.
* Closing emits, with `is_final`, the rows that are new or differ from those emitted before.
So the last revision of each row, without those withdrawn, is what batch gives for the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.scoring.rows import IterationRow

_AFTER = 1


class LiveIteration(Struct, frozen=True, array_like=True):
    """A row of `iterations` while its conversation may still go on.

    Attributes:
      revision: from 1, for each (conversation_id, turn, i).
      is_final: given when the conversation was closed.
      withdrawn: the row is void; the conversation has no such iteration any more.
    """

    revision: int
    is_final: bool
    withdrawn: bool
    row: IterationRow


def ends_of_iterations(
    rows: Sequence[IterationRow], calls: Iterable[CallFingerprint], unknown: int
) -> list[int]:
    """By i - 1, the last event of that iteration and all earlier ones of its turn, in ms.

    Args:
      rows: of one turn, by i - 1.
      calls: every delivery of the conversation.
      unknown: the event time of a call without timestamp.
    """
    last: dict[int, int] = {}
    turn = rows[0].turn if rows else 0
    for call in calls:
        if call.turn == turn:
            event = unknown if call.timestamp is None else call.timestamp
            last[call.iteration] = max(last.get(call.iteration, event), event)
    ends: list[int] = []
    for row in rows:
        end = last[row.iteration]
        ends.append(max(ends[-1], end) if ends else end)
    return ends


def passed(ends: Sequence[int], now: int) -> int:
    """How many iterations the watermark `now` has passed."""
    return sum(end < now for end in ends)


def next_end(ends: Sequence[int], now: int) -> int | None:
    """The watermark that passes the next iteration; None when all are passed."""
    return next((end + _AFTER for end in ends if end >= now), None)


def revise(
    given: Sequence[LiveIteration],
    rows: Sequence[IterationRow],
    due: int,
    is_final: bool = False,
) -> list[LiveIteration]:
    """What is to be given now, in order: withdrawals, then rows by i.

    Args:
      given: the last revision of each row given so far.
      rows: all rows as closing would give them now, by i - 1.
      due: how many of them may be given.
      is_final: whether the conversation is closed.
    """
    latest = {_key(one.row): one for one in given}
    there = {_key(row) for row in rows}
    news = [
        LiveIteration(one.revision + 1, is_final, True, one.row)
        for key, one in sorted(latest.items())
        if key not in there and not one.withdrawn
    ]
    for row in rows[:due]:
        before = latest.get(_key(row))
        if before is None or before.withdrawn or before.row != row:
            revision = before.revision + 1 if before else 1
            news.append(LiveIteration(revision, is_final, False, row))
    return news


def remembered(
    given: Sequence[LiveIteration], news: Sequence[LiveIteration]
) -> list[LiveIteration]:
    """The last revision of each row after the news were given too."""
    latest = {_key(one.row): one for one in given}
    latest.update((_key(one.row), one) for one in news)
    return list(latest.values())


def _key(row: IterationRow) -> tuple[int, int]:
    return row.turn, row.i
