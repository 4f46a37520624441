"""Labels from outside the traces, as options: what runs, explanations and pools have in common."""

from __future__ import annotations

from pydantic import ValidationInfo, field_validator

from goodgain.pipeline.settings.catalogue import HeldBytes
from goodgain.pipeline.settings.option_fields import option
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import DuplicateConfig
from goodgain.pipeline.settings.scoring_config import check_document_label
from goodgain.pipeline.settings.struct_options import options_of, values_for
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.option import COMMON, LABELS
from goodgain.transforms.core.remedy import Remedy


@options_of(LabelKeys)
class LabelledConfig(DuplicateConfig):
    """How records are read, and which labels their results have."""

    max_held_bytes: HeldBytes
    qrels: Text | None = option(
        COMMON,
        "FILE",
        "judgments that replace the labels of the traces: TREC qrels, or a JSON Lines, Avro or "
        "Parquet table",
        None,
        for_workers=True,
    )
    qrels_id: str
    qrels_topic: str | None
    labels: Text | None = option(
        LABELS,
        "FILE",
        "labels of single results that override those of the traces: CSV, JSON Lines, Avro or "
        "Parquet",
        None,
        for_workers=True,
    )
    exclude: Text | None = option(
        LABELS,
        "FILE",
        "documents that are left out of everything by topic, as the benchmarks BEIR and BRIGHT "
        "do: lines `topic docno`, or a table; names and topics as for qrels",
        None,
    )

    @field_validator("labels")
    @classmethod
    def _labels_are_not_replaced(cls, labels: str | None, info: ValidationInfo) -> str | None:
        if labels is not None and info.data.get("qrels") is not None:
            raise ValueError(
                "cannot be given beside " + Remedy("qrels") + ", which replace every label"
            )
        return labels

    @field_validator("qrels")
    @classmethod
    def _labels_have_one_source(cls, qrels: str | None, info: ValidationInfo) -> str | None:
        if qrels is not None and info.data.get("pool") is not None:
            raise ValueError(
                "cannot be given beside " + Remedy("pool") + ": labels come from one of them"
            )
        check_document_label(qrels, info, "a document of qrels has one label")
        return qrels

    @property
    def name_keys(self) -> LabelKeys:
        """How names of documents and topics are matched to results."""
        return LabelKeys(**values_for(LabelKeys, self))

    @property
    def label_keys(self) -> LabelKeys | None:
        """See `ScoringConfig`."""
        return self.name_keys if self.qrels else None
