"""The options of the commands of `goodgain pool`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from goodgain.pipeline.settings.catalogue import Runner
from goodgain.pipeline.settings.labelled_config import LabelledConfig
from goodgain.pipeline.settings.option_fields import ENGINE, GREATEST_SHARDS, argument, option
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import LabelScaleConfig, RejectionConfig, Settings
from goodgain.pipeline.settings.run_config import ExplainConfig
from goodgain.pipeline.settings.struct_options import options_of
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.core.number import Number, RealNumber
from goodgain.transforms.core.option import COMMON
from goodgain.transforms.core.pool.todo import Priority
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.options import ScoringOptions


def _patterns_by_run(words: Any) -> Any:
    """The patterns of each run, from the words of each option, like `NAME=PATTERN PATTERN`."""
    if not isinstance(words, list):
        return words
    runs: dict[str, tuple[str, ...]] = {}
    for first, *others in words:
        name, equals, pattern = first.partition("=")
        if not equals or not name.strip() or not pattern:
            raise ValueError(f"must be NAME=PATTERN, like new=f.jsonl, not {first!r}")
        if name.strip() in runs:
            raise ValueError(
                f"has {name.strip()!r} twice: give each run a name of its own, or all files of one "
                "together, like new=a.jsonl b.jsonl"
            )
        runs[name.strip()] = (pattern, *others)
    return runs


Runs = Annotated[
    dict[Text, tuple[Text, ...]], BeforeValidator(_patterns_by_run), Field(min_length=1)
]


class PoolConfig(LabelledConfig, RejectionConfig):
    """Which runs are pooled, and where the pool lies.

    Attributes:
      runs: patterns of trace files, by name of the run; `--run` on the command line.
    """

    runs: Runs = option(
        COMMON,
        "NAME=PATTERN PATTERN",
        "name of a run, and its traces: files, folders or patterns; repeat it for each run",
        flag="run",
    )
    update: Text | None = option(
        COMMON,
        "POOL",
        "pool to add the runs to; it keeps its ids and labels",
        None,
        for_workers=True,
    )
    output: Text | None = option(COMMON, "POOL", "folder of the new pool", None, for_workers=True)
    replace: bool = option(
        COMMON,
        "",
        "with " + Remedy("update") + ": replace conversations that the pool already holds",
        False,
    )
    topic: Text | None = option(
        COMMON,
        "ATTRIBUTE",
        "attribute that holds the topic, like query_id; conversation_id by default",
        None,
    )
    format: Format | None = option(ENGINE, "FORMAT", "format of a new pool; avro by default", None)
    shards: Number | None = option(
        ENGINE,
        "N",
        "number of files of the pool; by default by the size of the traces",
        None,
        ge=1,
        le=GREATEST_SHARDS,
    )
    runner: Runner

    @field_validator("output")
    @classmethod
    def _pool_is_new_or_updated(cls, output: str | None, info: ValidationInfo) -> str | None:
        if (output is None) == (info.data.get("update") is None):
            raise ValueError("or " + Remedy("update") + " is needed, and not both")
        return output

    @field_validator("replace")
    @classmethod
    def _only_an_update_replaces(cls, replace: bool, info: ValidationInfo) -> bool:
        if replace and info.data.get("update") is None:
            raise ValueError("needs " + Remedy("update", "POOL"))
        return replace

    @property
    def folder(self) -> str:
        """The folder of the pool."""
        return self.update or self.output or ""

    def of_runs(self) -> dict[str, ExplainConfig]:
        """The settings by which each run is read and labelled, by its name."""
        return {name: ExplainConfig.of_traces(traces, self) for name, traces in self.runs.items()}


class OpenedPoolConfig(Settings):
    """The pool of a command."""

    pool: Text = argument("POOL", "folder of the pool")


class JudgeConfig(OpenedPoolConfig, LabelScaleConfig):
    """How a program judges the documents of a pool.

    Attributes:
      command: reads one JSON object per line and answers with one.
      at_most: None = no limit.
    """

    command: Text = option(COMMON, "CMD", "program with arguments")
    annotator: Text = option(COMMON, "NAME", "name of the annotator in the pool", "judge")
    parallel: Number = option(COMMON, "N", "copies of the program", 1, ge=1)
    at_most: Number | None = option(
        COMMON, "N", "limit of calls, retries included (default: none)", None, ge=0
    )
    again: bool = option(COMMON, "", "also judge what others have labelled", False)
    retries: Number = option(COMMON, "N", "retries after a bad answer", 2, ge=0)
    timeout: RealNumber = option(COMMON, "SECONDS", "time limit of an answer", 120.0, gt=0)


class TodoConfig(OpenedPoolConfig):
    """Which documents are left to label, and the table for them."""

    output: Text = option(COMMON, "FILE", "table to fill in: .csv, .jsonl, .parquet or .avro")
    depth: Number | None = option(
        COMMON,
        "K",
        "only documents among the first K results of some search call (default: all)",
        None,
        ge=1,
    )
    metric: Priority = option(
        COMMON,
        "METRIC",
        "list first the documents that narrow the bounds of this metric most",
        "CG",
    )


class LabelConfig(OpenedPoolConfig, LabelScaleConfig):
    """Whose labels are added, or withdrawn.

    Attributes:
      source: `--from` on the command line.
    """

    source: Text | None = option(COMMON, "FILE", "labels", None, flag="from")
    aspects: Text | None = option(
        COMMON, "FILE", "aspects of the topic that documents cover, instead of labels", None
    )
    annotator: Text = option(COMMON, "NAME", "annotator of lines that name none", "annotator")
    prefer: Text | None = option(
        COMMON, "NAME", "annotator whose labels beat those of all others", None
    )
    undo: Text | None = option(
        COMMON, "NAME", "withdraw all labels of this annotator instead", None
    )


class ShowConfig(OpenedPoolConfig):
    """What is shown of a pool."""

    topic: Text | None = option(
        COMMON, "T", "only this topic or conversation (default: the first few)", None
    )


@options_of(ScoringOptions, "labels")
class AgreeConfig(OpenedPoolConfig):
    """The annotators, and what the means over the pooled conversations depend on."""

    a: Text = argument("A", "an annotator, or `votes`")
    b: Text = argument("B", "another annotator, or `votes`")
    good_gain_threshold: int
