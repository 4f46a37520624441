"""What is odd about the data of one window of a stream (SPEC 10)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.windowed_means import DuePane, WindowRules
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.findings import Findings
from goodgain.transforms.core.warnings.warning import NONE, DataWarning

_NOTHING = DataWarning(NONE, 0, None, "Nothing is to be warned of.", "")


class WindowWarnings(Struct, frozen=True):
    """The warnings of a window: those of its latest pane count.

    Attributes:
      window_start, window_end, pane, is_last: as in `WindowedMeanRow`.
      warnings: one that says so when there are none any more.
    """

    window_start: int
    window_end: int
    pane: int
    is_last: bool
    warnings: tuple[DataWarning, ...]


def data_warnings(counts: Mapping[str, int], scoring: Scoring) -> list[DataWarning]:
    """The warnings about some conversations of a stream.

    Args:
      counts: of the conversations, by the names of `COUNTED`.
      scoring: what they were scored with.
    """
    return warnings_of(
        Findings(
            counts,
            scoring.good_gain_threshold,
            scoring.rules,
            external=scoring.label_keys is not None,
        )
    )


def window_warnings(
    pane: DuePane, rules: WindowRules, counts: Mapping[str, int], scoring: Scoring
) -> WindowWarnings | None:
    """The warnings of a pane; None where there is nothing to say, and there was nothing before.

    Args:
      pane: of the slice of everything.
      rules: when the panes of windows are given.
      counts: of the conversations in it, by the names of `COUNTED`.
      scoring: what the conversations were scored with.
    """
    found = data_warnings(counts, scoring)
    if not found and pane.number == 0:
        return None
    return WindowWarnings(
        pane.window_start,
        pane.window_start + rules.window,
        pane.number,
        pane.is_last,
        tuple(found) or (_NOTHING,),
    )
