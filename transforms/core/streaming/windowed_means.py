"""Means by event-time window, in panes (SPEC 7). All times are in ms.

A conversation counts in the window of its last event. The rules for panes,
for each slice separately:
* The on-time pane, number 0, is emitted when the watermark has passed the end of the window by
  `gap`, when all conversations whose records were in time are closed.
* Each conversation that is closed later causes an update.
* The last pane, `is_last`, is emitted when the watermark has passed the end by `gap` and
  `allowed_lateness`, even if nothing has changed.
* A conversation that is closed even later is missing from the means, and counted as missed. It
  still has rows of its own.
Each pane covers the whole window, so use the greatest pane of the rows with equal window, slice,
metric, i and population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.means.relations import OutcomeRelation
from goodgain.transforms.core.scoring.id_checks import ContradictedId
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.codes import NONE
from goodgain.transforms.core.warnings.warning import DataWarning

DAY = 86_400_000


class PaneRow(Struct, frozen=True):
    """What a pane says of its window.

    Attributes:
      window_start, window_end: the window, in ms of event time; the end is exclusive.
      pane: number of the pane of this window and slice, from 0.
    """

    window_start: int
    window_end: int
    pane: int
    is_last: bool


class WindowedMeanRow(PaneRow, frozen=True):
    """A mean over the conversations of one window."""

    row: MeanRow


class WindowedRelation(PaneRow, frozen=True):
    """How a metric goes with an outcome in one window."""

    row: OutcomeRelation


class MissedByMeans(Struct, frozen=True):
    """Conversations that were closed after the last pane of their window.

    Attributes:
      slice: the attributes that they share; {} = all conversations.
    """

    window_start: int
    window_end: int
    slice: dict[str, str]
    conversations: int


class OpenWindow(Struct, frozen=True, array_like=True):
    """A window of a slice whose last pane has not been emitted.

    Attributes:
      panes: number of panes emitted.
      changed: whether conversations were added since.
    """

    panes: int = 0
    changed: bool = True


class SliceWindows(Struct, frozen=True, array_like=True):
    """The state of the windows of a slice.

    Attributes:
      open: the open windows by start.
      finished: start of the latest window whose last pane has been emitted.
    """

    open: Mapping[int, OpenWindow] = {}
    finished: int | None = None


class WindowRules(Struct, frozen=True):
    """When the panes of windows are emitted."""

    window: int
    gap: int
    allowed_lateness: int

    @classmethod
    def of(cls, closing: Closing, window: int) -> WindowRules:
        """The rules for conversations that are closed by `closing`."""
        return cls(window, closing.gap, closing.allowed_lateness)

    def on_time(self, start: int) -> int:
        """When the on-time pane is due."""
        return start + self.window + self.gap

    def last(self, start: int) -> int:
        """When the last pane is due."""
        return self.on_time(start) + self.allowed_lateness

    def due(self, start: int, window: OpenWindow) -> int:
        """When the next pane is due; after the on-time pane, updates are due immediately."""
        return self.on_time(start) if window.changed else self.last(start)


class DuePane(Struct, frozen=True):
    """A pane to be emitted now."""

    window_start: int
    number: int
    is_last: bool

    def columns(self, rules: WindowRules) -> tuple[int, int, int, bool]:
        """The fields of a `PaneRow`."""
        return self.window_start, self.window_start + rules.window, self.number, self.is_last


def with_added(
    state: SliceWindows, start: int, rules: WindowRules
) -> tuple[SliceWindows, dict[str, int]] | None:
    """The state with conversations added to the window at `start`, and the wake-ups to set.

    None if they are missed, since the last pane of the window has been emitted. A wake-up is a
    timer that fires once at its time; another one of the same name moves it.

    All wake-ups of a window are set when it opens rather than one after another: an engine may need
    seconds for a wake-up that is set by another one, and after a pause many windows are due at
    once.
    """
    before = state.open.get(start)
    if before is None and state.finished is not None and start <= state.finished:
        return None
    wake_ups = {}
    if before is None or not before.changed:
        # Set again for an update, it fires immediately.
        wake_ups[f"{start} on time"] = rules.on_time(start)
    if before is None:
        wake_ups[f"{start} last"] = rules.last(start)
    window = replace(before or OpenWindow(), changed=True)
    return replace(state, open={**state.open, start: window}), wake_ups


def due_panes(
    state: SliceWindows, now: int, rules: WindowRules
) -> tuple[list[DuePane], SliceWindows]:
    """The panes to emit when the watermark has reached `now`, and the new state."""
    open_ = dict(state.open)
    panes = []
    finished = state.finished
    for start, window in sorted(state.open.items()):
        if now < rules.due(start, window):
            continue
        is_last = now >= rules.last(start)
        panes.append(DuePane(start, window.panes, is_last))
        if is_last:
            del open_[start]
            finished = start if finished is None else max(finished, start)
        else:
            open_[start] = OpenWindow(window.panes + 1, changed=False)
    return panes, SliceWindows(open_, finished)


_NOTHING = DataWarning(NONE, 0, None, "There are no warnings.", "")


class WindowWarnings(PaneRow, frozen=True):
    """The warnings of a window, as of one pane; those of its latest pane replace earlier ones.

    Attributes:
      warnings: a single one with the code `none` if earlier panes had warnings and this has none.
    """

    warnings: tuple[DataWarning, ...]


def window_warnings(
    pane: DuePane,
    rules: WindowRules,
    counts: Mapping[str, int],
    scoring: Scoring,
    means: Sequence[MeanRow] = (),
    contradicted_ids: Sequence[ContradictedId] = (),
) -> WindowWarnings | None:
    """The warnings of a pane; None if it is the first of its window and has none.

    Args:
      counts: over the conversations, by the names in `COUNTED`.
    """
    warnings = warnings_of(CheckInputs.of_scores(counts, scoring, means, contradicted_ids))
    if not warnings and pane.number == 0:
        return None
    return WindowWarnings(*pane.columns(rules), tuple(warnings) or (_NOTHING,))
