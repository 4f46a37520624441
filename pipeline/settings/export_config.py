"""The options of `goodgain export`."""

from __future__ import annotations

from typing import Literal

from goodgain.pipeline.settings.option_fields import argument, option
from goodgain.pipeline.settings.option_types import DistinctNames, Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.option import COMMON

Tool = Literal["otlp", "langfuse", "mlflow", "browsecomp-plus"]


class ExportConfig(Settings):
    """Which metrics are written, and for which tool."""

    folder: Text = argument("DIR", "output folder of a run")
    to: Tool = option(
        COMMON, "TOOL", "tool that reads the scores; browsecomp-plus is its leaderboard"
    )
    output: Text = option(COMMON, "FILE", "JSON Lines to write; of browsecomp-plus one JSON object")
    metric: DistinctNames = option(
        COMMON,
        "NAME",
        "metrics to write, like CG or ndcg@10 (default: all of the conversation)",
        (),
    )
