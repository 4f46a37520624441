"""The configuration of one run: every option with its type, default and help text, once.

The options of `goodgain run`, the keys of a configuration file and the table in the docs are all
made from the fields of `RunConfig`; those of `goodgain explain` are some of them.
"""

from __future__ import annotations

from msgspec.structs import replace
from pydantic import ValidationInfo, field_validator

from goodgain.pipeline.settings.catalogue import (
    HeldBytes,
    RejectedLimit,
    Runner,
    Traces,
)
from goodgain.pipeline.settings.means_config import MeansConfig
from goodgain.pipeline.settings.option_types import (
    CHECKS,
    COMMON,
    ENGINE,
    LABELS,
    LIMITS,
    FilePatterns,
    Format,
    MaxRejected,
    Number,
    Text,
    option,
)
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.pipeline.settings.scoring_config import ScoringConfig, check_document_label
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.judgments.judgment import LabelKeys


class QuestionConfig(Settings):
    """What is asked about a conversation, besides how it was counted.

    Attributes:
      pair: two places.
      against: the folder of a run, or patterns of traces; empty = nothing.
    """

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

    @field_validator("against")
    @classmethod
    def _one_question(cls, against: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if against and info.data.get("pair"):
            raise ValueError("and --pair exclude each other: give one of the two")
        return against


class ExplainConfig(ScoringConfig):
    """Which traces and which labels are scored: what a run and an explanation have in common."""

    input: Traces
    max_held_bytes: HeldBytes
    qrels: Text | None = option(
        LABELS,
        "FILE",
        "judgments that replace the labels of the traces: TREC qrels, or a JSON Lines, Avro or "
        "Parquet table",
        None,
    )
    qrels_id: Text = option(
        LABELS, "NAME", "named id of a result that holds its document name in qrels", "doc_id"
    )
    qrels_topic: Text | None = option(
        LABELS, "NAME", "attribute that holds the topic in qrels; conversation_id by default", None
    )

    aspect_qrels: Text | None = option(
        LABELS,
        "FILE",
        "judgments of the aspects that documents cover: lines of TREC's diversity qrels, `topic "
        "aspect document label`",
        None,
    )
    exclude: Text | None = option(
        LABELS,
        "FILE",
        "documents that are left out of everything by topic, as the benchmarks BEIR and BRIGHT "
        "do: lines `topic docno`, or a table; names and topics as for qrels",
        None,
    )
    labels: Text | None = option(
        LABELS,
        "FILE",
        "labels of single results that override those of the traces: CSV, JSON Lines or Parquet",
        None,
    )

    @field_validator("labels")
    @classmethod
    def _labels_are_not_replaced(cls, labels: str | None, info: ValidationInfo) -> str | None:
        if labels is not None and info.data.get("qrels") is not None:
            raise ValueError("cannot be given beside qrels, which replace every label")
        return labels

    @field_validator("qrels")
    @classmethod
    def _labels_have_one_source(cls, qrels: str | None, info: ValidationInfo) -> str | None:
        if qrels is not None and info.data.get("pool") is not None:
            raise ValueError("cannot be given beside pool: labels come from one of them")
        check_document_label(qrels, info, "a document of qrels has one label")
        return qrels

    @field_validator("exclude")
    @classmethod
    def _pools_are_whole(cls, exclude: str | None, info: ValidationInfo) -> str | None:
        if exclude is not None and info.data.get("pool") is not None:
            raise ValueError("cannot be given beside pool, whose documents all count")
        return exclude

    @property
    def name_keys(self) -> LabelKeys:
        """How names of documents and topics are matched to results."""
        return LabelKeys(self.qrels_id, self.qrels_topic)

    @property
    def label_keys(self) -> LabelKeys | None:
        """See `ScoringConfig`."""
        return self.name_keys if self.qrels else None


class RunConfig(ExplainConfig, MeansConfig):
    """What one run reads, computes and writes (SPEC 6); each field is an option."""

    output: Text = option(
        COMMON,
        "DIR",
        "folder for everything that is written",
        keyword="",
    )
    format: Format = option(COMMON, "FORMAT", "file format of the datasets", "parquet", keyword="")
    overwrite: bool = option(
        COMMON,
        "",
        "replace the outputs of an earlier run",
        False,
        keyword="",
    )
    max_rejected: RejectedLimit
    max_rejected_rows: Number = option(
        LIMITS,
        "N",
        "most rejected records of each 8 MB that get a row of their own; one row counts the rest",
        DEFAULT_BOUNDS.rejected_rows,
        ge=1,
    )
    allow_unlabelled: bool = option(
        CHECKS,
        "",
        "do not exit with 3 when no result has a label; metrics that need labels are null",
        False,
    )
    allow_no_good: bool = option(
        CHECKS, "", "do not exit with 3 when no label reaches good_gain_threshold", False
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
        keyword="",
    )
    runner: Runner

    @property
    def rejected_limit(self) -> MaxRejected:
        """`max_rejected`, with whether it was given."""
        return self.max_rejected.given("max_rejected" in self.model_fields_set)

    @property
    def read_bounds(self) -> ReadBounds:
        """Limits on what reading may decode to, and on how many rejected rows it gives."""
        return replace(super().read_bounds, rejected_rows=self.max_rejected_rows)
