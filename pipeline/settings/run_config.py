"""The configuration of one run: every option with its type, default and help text, once.

The options of `goodgain run`, the keys of a configuration file and the table in the docs are all
made from the fields of `RunConfig`; those of `goodgain explain` are some of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from goodgain.pipeline.settings.catalogue import (
    Runner,
    Traces,
)
from goodgain.pipeline.settings.labelled_config import LabelledConfig
from goodgain.pipeline.settings.means_config import MeansConfig
from goodgain.pipeline.settings.option_fields import (
    CHECKS,
    ENGINE,
    GREATEST_SHARDS,
    argument,
    option,
)
from goodgain.pipeline.settings.option_types import FilePatterns, Text
from goodgain.pipeline.settings.reading_config import RejectionConfig, Settings
from goodgain.pipeline.settings.scoring_config import ScoringConfig
from goodgain.pipeline.settings.struct_options import option_in, options_of
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.core.number import Number
from goodgain.transforms.core.option import COMMON, LABELS
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.options import ScoringOptions


class QuestionConfig(Settings):
    """What is asked about a conversation, besides how it was counted.

    Attributes:
      pair: two places.
      against: the folder of a run, or patterns of traces; empty = nothing.
    """

    conversation_id: Text = argument("CONVERSATION_ID", "which conversation")
    pair: tuple[Text, Text] | None = option(
        COMMON,
        "PLACE",
        "why two results are one document or two; places are i.call.rank, like 1.1.3",
        None,
    )
    against: FilePatterns = option(
        COMMON,
        "RUN",
        "what each of two arms found in this conversation; RUN is the folder of a finished run of "
        "the other arm, or its traces",
        (),
    )


class ExplainConfig(LabelledConfig, ScoringConfig):
    """Which traces and which labels are scored: what a run and an explanation have in common."""

    input: Traces
    aspect_qrels: Text | None = option(
        LABELS,
        "FILE",
        "judgments of the aspects that documents cover: lines of TREC's diversity qrels, `topic "
        "aspect document label`",
        None,
    )

    @staticmethod
    def of_traces(traces: Sequence[str], settings: Settings) -> ExplainConfig:
        """How some traces are evaluated by other settings, as far as these say; else by default.

        Args:
          traces: patterns.
        """
        names = type(settings).model_fields.keys() & ExplainConfig.model_fields.keys()
        options = {name: getattr(settings, name) for name in names}
        return ExplainConfig(**{**options, "input": traces})


@options_of(ReadBounds, "run")
class RunConfig(ExplainConfig, MeansConfig, RejectionConfig):
    """What one run reads, computes and writes (SPEC 6); each field is an option."""

    output: Text = option(
        COMMON,
        "DIR",
        "folder for everything that is written",
        keyword="",
        for_workers=True,
    )
    format: Format = option(COMMON, "FORMAT", "file format of the datasets", "parquet", keyword="")
    overwrite: bool = option(
        COMMON,
        "",
        "replace the outputs of an earlier run",
        False,
        keyword="",
    )
    # By default, unlike in a stream, where they make one file more of each pane.
    write_duplicates: bool = option_in(ScoringOptions, "write_duplicates", True)
    allow_unlabelled: bool = option(
        CHECKS,
        "",
        "do not exit with 3 when no result has a label; metrics that need labels are undefined",
        False,
    )
    allow_no_good: bool = option(
        CHECKS,
        "",
        "do not exit with 3 when no label reaches " + Remedy("good_gain_threshold"),
        False,
    )
    allow_contradicted_ids: bool = option(
        CHECKS,
        "",
        "do not exit with 3 when URLs and titles contradict half of the duplicates by ids",
        False,
    )
    gate: Text | None = option(
        CHECKS,
        "FILE",
        "check the run against these rules; exit code 4 when one is broken",
        None,
        keyword="",
    )
    baseline: Text | None = option(
        CHECKS,
        "DIR",
        "output of an earlier run, for the gate's rules on change",
        None,
        keyword="",
    )
    shards: Number | None = option(
        ENGINE,
        "N",
        "number of files of each dataset; the runner decides by default",
        None,
        ge=1,
        le=GREATEST_SHARDS,
        keyword="",
    )
    runner: Runner
