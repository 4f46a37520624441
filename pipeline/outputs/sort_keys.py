"""Sort keys of the rows of datasets, independent of the order in which rows were made."""

from __future__ import annotations

import re
from collections.abc import Mapping

from goodgain.transforms.core.means.rows import MeanOf, MeanRow
from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.scoring.score import ConversationScore

_DIGITS = 20


def score_key(score: ConversationScore) -> str:
    """Conversations by their id."""
    return score.conversation.conversation_id


def mean_key(row: MeanRow) -> str:
    """All conversations first, then slice by slice; in each, metrics at N before those at i."""
    return f"{slice_sort_key(row.slice)} {mean_of_key(MeanOf(row.metric, row.i, row.population))}"


def slice_sort_key(slice_: Mapping[str, str]) -> str:
    """All conversations first, then by attributes."""
    return f"{len(slice_)} {slice_key(slice_)}"


def mean_of_key(of: MeanOf) -> str:
    """Metrics at N before those at i."""
    return f"{of.i or 0:06d} {of.metric} {of.population}"


def rejected_key(row: RejectedRecord) -> str:
    """Rejected records by file and place."""
    # Numbers are padded, so that line 2 comes before line 10.
    position = re.sub("[0-9]+", lambda number: number[0].zfill(_DIGITS), row.position)
    return f"{row.source} {position}"


def late_key(row: LateRow) -> str:
    """Late records by conversation."""
    return row.conversation_id
