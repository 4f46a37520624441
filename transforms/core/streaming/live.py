"""Rows of iterations before their conversation is closed (SPEC 7, `--live`).

A row is identified by (conversation_id, turn, i). The rules:
* It is emitted as soon as the watermark has passed the last event of its iteration and of all
  earlier ones of the turn, in the order i = 1, 2, ... It is the row that closing would give for
  the records known at that time.
* A record that arrives out of order may change emitted rows. When the watermark has passed that
  record too, the changed rows are emitted again with the next revision.
* A row that no longer exists is withdrawn: it is emitted unchanged, with the next revision and
  `withdrawn`. So a new turn withdraws the rows of the previous turn and starts again at i = 1.
* Closing emits, with `is_final`, the rows that are new or differ from those emitted before.
So the last revisions of all rows, without withdrawn ones, equal the rows of a batch run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.records.search_call import SEARCH
from goodgain.transforms.core.scoring.score_rows import IterationRow
from goodgain.transforms.core.streaming.closing import AFTER


class LiveIteration(Struct, frozen=True, array_like=True):
    """A row of `iterations` whose conversation may still continue.

    Attributes:
      revision: from 1, for each (conversation_id, turn, i).
      is_final: whether it was emitted when the conversation was closed.
      withdrawn: whether the row is void: the conversation no longer has this iteration.
    """

    revision: int
    is_final: bool
    withdrawn: bool
    row: IterationRow


def find_ends_of_iterations(
    rows: Sequence[IterationRow], calls: Iterable[CallFingerprint], unknown: int
) -> list[int]:
    """For each iteration of a turn, the time of the last event up to it, in ms.

    Args:
      rows: rows of one turn, in order of i.
      calls: every delivery of the conversation.
      unknown: the event time to assume for calls without a timestamp.
    """
    last: dict[int, int] = {}
    turn = rows[0].turn if rows else 0
    for call in calls:
        if call.turn == turn and call.action == SEARCH:
            event = unknown if call.timestamp is None else call.timestamp
            last[call.iteration] = max(last.get(call.iteration, event), event)
    return list(accumulate([last[row.iteration] for row in rows], max))


def count_passed(ends: Sequence[int], now: int) -> int:
    """The number of iterations that the watermark `now` has passed."""
    return sum(end < now for end in ends)


def next_end(ends: Sequence[int], now: int) -> int | None:
    """The watermark that passes the next iteration; None if all are passed."""
    return next((end + AFTER for end in ends if end >= now), None)


def revise(
    given: Sequence[LiveIteration],
    rows: Sequence[IterationRow],
    due: int,
    is_final: bool = False,
) -> list[LiveIteration]:
    """The rows to emit now: withdrawals, then rows by i.

    Args:
      given: the last revision of each row emitted so far.
    """
    latest = {_key(live_row.row): live_row for live_row in given}
    there = {_key(row) for row in rows}
    news = [
        LiveIteration(live_row.revision + 1, is_final, True, live_row.row)
        for key, live_row in sorted(latest.items())
        if key not in there and not live_row.withdrawn
    ]
    for row in rows[:due]:
        before = latest.get(_key(row))
        if before is None or before.withdrawn or before.row != row:
            revision = before.revision + 1 if before else 1
            news.append(LiveIteration(revision, is_final, False, row))
    return news


def keep_latest(
    given: Sequence[LiveIteration], news: Sequence[LiveIteration]
) -> list[LiveIteration]:
    """The last revision of each row, including those just emitted."""
    return list({_key(live_row.row): live_row for live_row in (*given, *news)}.values())


def _key(row: IterationRow) -> tuple[int, int]:
    return row.turn, row.i
