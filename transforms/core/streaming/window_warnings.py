"""Data warnings about one window of a stream (SPEC 10)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.windowed_means import DuePane, WindowRules
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.findings import Findings
from goodgain.transforms.core.warnings.warning import NONE, DataWarning

_NOTHING = DataWarning(NONE, 0, None, "There are no warnings.", "")


class WindowWarnings(Struct, frozen=True):
    """The warnings of a window; those of its latest pane count.

    Attributes:
      window_start, window_end, pane, is_last: as in `WindowedMeanRow`.
      warnings: a single `none` if there are no longer any.
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
    """The warnings of a pane; None if there are none, and were none before.

    Args:
      pane: the pane of all conversations.
      rules: when panes are emitted.
      counts: counts of its conversations, by the names of `COUNTED`.
      scoring: settings with which the conversations were scored.
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
