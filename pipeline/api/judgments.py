"""Judgments that Python callers hold: a table, rows, or labels by topic and document (SPEC 8)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from goodgain.pipeline.api.data_frames import rows_of_nested, rows_of_table
from goodgain.pipeline.run.plan.judgments import Judged, find_conflicts_in
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.judgment_rows import (
    JudgmentError,
    judgment_of_row,
    parse_exclusion_row,
)
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.joining import DocumentJudgments, add_judgment
from goodgain.transforms.core.judgments.judgment import JudgmentPlace, LabelKeys
from goodgain.transforms.core.records.label_map import LabelMap

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Qrels: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, Mapping[str, Any]] | Iterable[Mapping[str, Any]]"
    " | pd.DataFrame | pl.DataFrame | pl.LazyFrame | pa.Table | pa.RecordBatch"
)

ExcludedDocuments: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, str | Iterable[str]] | Iterable[Mapping[str, Any]]"
    " | pd.DataFrame | pl.DataFrame | pl.LazyFrame | pa.Table | pa.RecordBatch"
)


def read_given_judgments(qrels: Any, label_map: LabelMap | None) -> Judged:
    """The judgments that the caller holds, by topic and document.

    Args:
      qrels: a table or rows with a topic, a document and a label, or labels by topic and document.
      label_map: the gains of labels on another scale; None = labels are gains.

    Raises:
      UsageError: a row cannot be used, or two labels of a document differ.
    """
    judged: dict[str, dict[str, DocumentJudgments]] = {}
    for number, row in enumerate(_rows(qrels), start=1):
        place = JudgmentPlace(0, number, f"row {number}")
        try:
            judgment = judgment_of_row(row, place, label_map)
        except JudgmentError as error:
            raise UsageError(f"qrels, {place.inside}: " + error.message) from None
        add_judgment(judged, judgment)
    for problem in find_conflicts_in(judged):
        other = "" if problem.other is None else f" {problem.other.inside}."
        raise UsageError(f"qrels, {problem.place.inside}: {problem.text}{other}")
    return judged


def read_given_exclusions(excluded: Any, keys: LabelKeys) -> Exclusions:
    """The documents that the caller excludes from topics.

    Args:
      excluded: a table or rows with a topic and a document, or documents by topic.
      keys: how they are matched to results.

    Raises:
      UsageError: a row cannot be used.
    """
    return Exclusions.of_pairs(keys, _exclusion_pairs(excluded))


def _exclusion_pairs(excluded: Any) -> Iterator[tuple[str, str]]:
    if isinstance(excluded, Mapping):
        excluded = [
            {"topic": topic, "document_id": document}
            for topic, documents in excluded.items()
            for document in _documents(topic, documents)
        ]
    expected = "topic and document_id, or documents by topic"
    rows = rows_of_table(excluded, "exclude", expected)
    for number, row in enumerate(rows, start=1):
        place = JudgmentPlace(0, number, f"row {number}")
        try:
            pair = parse_exclusion_row(row, place)
        except JudgmentError as error:
            raise UsageError(f"exclude, {place.inside}: " + error.message) from None
        yield pair.topic, pair.document


def _documents(topic: Any, documents: Any) -> Iterable[Any]:
    if isinstance(documents, str):
        return [documents]
    if not isinstance(documents, Iterable):
        raise UsageError(
            f"exclude of the topic {topic!r} is no list of documents, like "
            "{'topic': ['document']}."
        )
    return documents


def _rows(qrels: Any) -> Iterable[Any]:
    if isinstance(qrels, Mapping):
        by_topic = rows_of_nested(
            qrels,
            "qrels of the topic {!r} are no labels by document, like "
            "{{'topic': {{'document': 2}}}}.",
        )
        return (
            {"topic": topic, "document_id": document, "gain": label}
            for topic, labels in by_topic
            for document, label in labels.items()
        )
    expected = "topic, document_id and gain, or labels by topic and document"
    return rows_of_table(qrels, "qrels", expected)
