"""By what the rows of a stream are sorted within a pane."""

from __future__ import annotations

from goodgain.pipeline.results import rows
from goodgain.transforms.core.streaming.live import LiveIteration
from goodgain.transforms.core.streaming.windowed_means import (
    WindowedMeanRow,
    WindowedRelation,
    WindowWarnings,
)


def start_of_window(row: WindowedMeanRow | WindowedRelation | WindowWarnings) -> int:
    """The window that a row is about, which was over when its pane was emitted."""
    return row.window_start


def key_of_mean(mean: WindowedMeanRow) -> str:
    """The place of a mean among those of all panes."""
    return f"{mean.window_start:020d} {mean.pane:06d} {rows.mean_key(mean.row)}"


def key_of_relation(relation: WindowedRelation) -> str:
    """The place of a relation of an outcome among those of all panes."""
    key = rows.relation_key(relation.row)
    return f"{relation.window_start:020d} {relation.pane:06d} {key}"


def key_of_warnings(warnings: WindowWarnings) -> str:
    """The place of the warnings about a window among those of all panes."""
    return f"{warnings.window_start:020d} {warnings.pane:06d}"


def key_of_live(live: LiveIteration) -> str:
    """The place of an iteration among those of open conversations."""
    return f"{live.row.conversation_id} {live.row.turn:06d} {live.row.i:06d} {live.revision:06d}"
