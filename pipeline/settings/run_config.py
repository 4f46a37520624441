"""The configuration of one run: every option with its type, default and help text, once.

The options of `goodgain run`, the keys of a configuration file and the table in the docs are all
made from the fields of `RunConfig`; those of `goodgain explain` are some of them.
"""

from __future__ import annotations

from typing import Annotated

from msgspec.structs import replace
from pydantic import (
    BeforeValidator,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from goodgain.pipeline.settings.option_types import (
    DATA,
    RANKING,
    RUN,
    Format,
    MaxRejected,
    Number,
    Patterns,
    Text,
    option,
)
from goodgain.pipeline.settings.scoring_config import ScoringConfig
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.judgments.judgment import LabelKeys

Limit = Annotated[
    MaxRejected,
    BeforeValidator(MaxRejected.parse),
    PlainSerializer(str),
    WithJsonSchema({"type": ["integer", "string"]}),
]


class ExplainConfig(ScoringConfig):
    """Which traces and which labels are scored: what a run and an explanation have in common."""

    input: Patterns = option(
        DATA,
        "PATTERN",
        "traces to read: files, folders or patterns (* and ** are wildcards), in Avro, JSON Lines "
        "or Parquet",
    )
    max_held_bytes: Number | None = option(
        DATA,
        "N",
        "stop when one process would hold more than about this many bytes; by default "
        "536870912, and 16 for each byte of input beyond 64 MiB",
        None,
        ge=1,
    )
    qrels: Text | None = option(
        RANKING,
        "FILE",
        "judgments that replace the labels of the traces: TREC qrels, or a JSON Lines, Avro or "
        "Parquet table",
        None,
    )
    qrels_id: Text = option(
        RANKING, "NAME", "named id of a result that holds its document name in qrels", "doc_id"
    )
    qrels_topic: Text | None = option(
        RANKING, "NAME", "attribute that holds the topic in qrels; conversation_id by default", None
    )

    labels: Text | None = option(
        RANKING,
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
        return qrels

    @property
    def label_keys(self) -> LabelKeys | None:
        """See `ScoringConfig`."""
        return LabelKeys(self.qrels_id, self.qrels_topic) if self.qrels else None


class RunConfig(ExplainConfig):
    """What one run reads, computes and writes (SPEC 6); each field is an option."""

    output: Text = option(DATA, "DIR", "folder for everything that is written")
    format: Format = option(DATA, "FORMAT", "file format of the datasets", "avro")
    overwrite: bool = option(DATA, "", "replace the outputs of an earlier run", False)
    max_rejected: Limit = option(
        DATA,
        "LIMIT",
        "exit with 3 when more records than this are rejected: a count like 5 or a share like 2%; "
        "if it is given, also when an unknown number is lost",
        "1%",
    )
    max_rejected_rows: Number = option(
        DATA,
        "N",
        "most rejected records of each 8 MB that get a row of their own; one row counts the rest",
        DEFAULT_BOUNDS.rejected_rows,
        ge=1,
    )
    allow_unlabelled: bool = option(
        DATA,
        "",
        "do not exit with 3 when no result has a label; metrics that need labels are null",
        False,
    )
    allow_no_good: bool = option(
        DATA, "", "do not exit with 3 when no label reaches good_gain_threshold", False
    )
    gate: Text | None = option(
        RUN, "FILE", "check the run against these rules; exit code 4 when one is broken", None
    )
    baseline: Text | None = option(
        RUN, "DIR", "output of an earlier run, for the gate's rules on change", None
    )
    shards: Number | None = option(
        RUN, "N", "number of files of each dataset; the runner decides by default", None, ge=1
    )
    runner: Text = option(
        RUN, "RUNNER", "engine that runs the pipeline; its own options follow", "DirectRunner"
    )

    @property
    def rejected_limit(self) -> MaxRejected:
        """`max_rejected`, with whether it was given."""
        limit = self.max_rejected
        return MaxRejected(limit.limit, limit.is_share, "max_rejected" in self.model_fields_set)

    @property
    def read_bounds(self) -> ReadBounds:
        """Limits on what reading may decode to, and on how many rejected rows it gives."""
        return replace(super().read_bounds, rejected_rows=self.max_rejected_rows)
