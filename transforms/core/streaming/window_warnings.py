"""Data warnings about one window of a stream (SPEC 10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from goodgain.transforms.core.means.rows import MeanRow
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.windowed_means import DuePane, WindowRules
from goodgain.transforms.core.warnings.check_inputs import (
    CheckInputs,
    ClusterSizes,
    Relevance,
    cluster_sizes,
)
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.codes import NONE
from goodgain.transforms.core.warnings.warning import DataWarning

_NOTHING = DataWarning(NONE, 0, None, "There are no warnings.", "")


class WindowWarnings(Struct, frozen=True):
    """The warnings of a window, as of one pane; those of its latest pane replace earlier ones.

    Attributes:
      window_start, window_end, pane, is_last: as in `WindowedMeanRow`.
      warnings: a single one with the code `none` if earlier panes had warnings and this has none.
    """

    window_start: int
    window_end: int
    pane: int
    is_last: bool
    warnings: tuple[DataWarning, ...]


def data_warnings(
    counts: Mapping[str, int], scoring: Scoring, clusters: ClusterSizes | None = None
) -> list[DataWarning]:
    """The warnings about some conversations of a stream.

    Args:
      counts: counts over the conversations, by the names in `COUNTED`.
      clusters: of the conversations; None if they count as independent, or it is unknown.
    """
    return warnings_of(
        CheckInputs(
            counts,
            scoring.good_gain_threshold,
            scoring.rules,
            clusters=clusters,
            external=scoring.label_keys is not None,
            pooled=scoring.pool is not None,
            relevance=Relevance.of(scoring.ranking.relevance_threshold, scoring.ranking.metrics),
        )
    )


def window_warnings(
    pane: DuePane,
    rules: WindowRules,
    counts: Mapping[str, int],
    scoring: Scoring,
    means: Iterable[MeanRow] = (),
) -> WindowWarnings | None:
    """The warnings of a pane; None if it is the first of its window and has none."""
    warnings = data_warnings(counts, scoring, cluster_sizes(means))
    if not warnings and pane.number == 0:
        return None
    return WindowWarnings(
        pane.window_start,
        pane.window_start + rules.window,
        pane.number,
        pane.is_last,
        tuple(warnings) or (_NOTHING,),
    )
