"""Reads files of labels for the documents of a pool, by people or programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct

from goodgain.pipeline.inputs.local_files import open_local
from goodgain.transforms.core.errors import UsageError, missing_file, problem_of
from goodgain.transforms.core.files.input_formats import INPUT_FORMATS, JSONL
from goodgain.transforms.core.files.table_row import BrokenTableError
from goodgain.transforms.core.files.tables import TableFile, recognise_table, table_rows
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.records.written_label import LabelError, gain_of_label

DOCUMENT = ("document", "document_id", "doc_id", "docno")
_GAIN = ("gain", "label", "relevance")
_ANNOTATOR, _TOPIC = "annotator", "topic"
_TREC_FIELDS = 4
_TABLES = tuple(suffix for format_ in INPUT_FORMATS.values() for suffix in format_.suffixes)


Label = int | tuple[str, ...] | None


class GivenLabel(Struct, frozen=True):
    """What a line says about a document.

    Attributes:
      document: the name of a pool document, or an id that a result had.
      label: None for a line without one, like a row of `pool todo` that is not filled in; else a
        gain, or the names of the aspects that the document covers.
      topic: the topic, if the line names one; it tells apart documents with the same id.
    """

    line: int
    document: str
    label: Label
    annotator: str
    topic: str | None = None


class LabelProblem(Struct, frozen=True):
    """A line that cannot be used."""

    line: int
    text: str


Line = GivenLabel | LabelProblem


class FileReading(NamedTuple):
    """How a kind of labels is read.

    Attributes:
      what: the kind, for messages.
      columns: names of the column of the label.
      label_of: the label in a row of a table; raises `LabelError`.
      of_lines: reads the lines of any other file.
    """

    what: str
    columns: Sequence[str]
    label_of: Callable[[Mapping[str, Any]], Label]
    of_lines: Callable[[Iterable[str]], Iterator[Line]]


def read_labels(path: str, annotator: str, label_map: LabelMap | None = None) -> Iterator[Line]:
    """The gains in a file: a table if its suffix says so, else TREC qrels.

    Args:
      annotator: annotator of lines that name none.
      label_map: the gains of labels on another scale; None = labels are gains.

    Raises:
      UsageError: the file cannot be read, or is a table without the columns for labels.
    """
    reading = FileReading(
        "labels",
        _GAIN,
        partial(_gain_of_row, label_map=label_map),
        partial(_of_qrels, annotator=annotator, label_map=label_map),
    )
    return read_file(path, annotator, reading)


def read_file(path: str, annotator: str, reading: FileReading) -> Iterator[Line]:
    """The lines of a file, in order.

    Raises:
      UsageError: the file cannot be read, or is a table without the columns.
    """
    try:
        if path.endswith(_TABLES):
            columns = frozenset((*DOCUMENT, *reading.columns, _ANNOTATOR, _TOPIC))
            table, row = recognise_table(path, open_local), None
            for row in table_rows(table, open_local, columns):
                if row.problem is not None:
                    yield LabelProblem(row.number, f"The row has {row.problem}.")
                    continue
                _check_columns(table, row.values, reading)
                yield _of_row(row.number, row.values, annotator, reading)
            if row is None:
                raise UsageError(
                    f"{path} has no rows; the first line of a table names its columns."
                )
        else:
            with open(path, encoding="utf-8-sig") as file:
                yield from reading.of_lines(file)
    except (OSError, UnicodeDecodeError, BrokenTableError) as error:
        message = f"The {reading.what} in {path} cannot be read: {problem_of(error)}."
        raise missing_file(path, message) from None


def _check_columns(table: TableFile, row: Any, reading: FileReading) -> None:
    if table.format == JSONL or not isinstance(row, Mapping):
        return
    for names in (DOCUMENT, reading.columns):
        if not any(name in row for name in names):
            others = f" (also read: {', '.join(names[1:])})" if names[1:] else ""
            raise UsageError(
                f"The {reading.what} in {table.path} have no column {names[0]}{others}."
            )


def _of_row(number: int, row: Any, annotator: str, reading: FileReading) -> Line:
    if not isinstance(row, Mapping):
        return LabelProblem(number, "The line is not a JSON object.")
    document = next((row[name] for name in DOCUMENT if row.get(name)), None)
    if document is None:
        return LabelProblem(number, "The line names no document (column `document`).")
    try:
        label = reading.label_of(row)
    except LabelError as error:
        return LabelProblem(number, str(error))
    named = row.get(_ANNOTATOR)
    annotator = str(named).strip() if named else annotator
    topic = None if row.get(_TOPIC) is None else str(row[_TOPIC]).strip()
    return GivenLabel(number, str(document).strip(), label, annotator, topic)


def _of_qrels(lines: Iterable[str], annotator: str, label_map: LabelMap | None) -> Iterator[Line]:
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != _TREC_FIELDS:
            text = "A line of qrels is `topic iteration document label`, four fields."
            yield LabelProblem(number, text)
            continue
        topic, _, document, written = fields
        try:
            gain = gain_of_label(written, label_map)
        except LabelError as error:
            yield LabelProblem(number, str(error))
        else:
            yield GivenLabel(number, document, gain, annotator, topic)


def _gain_of_row(row: Mapping[str, Any], label_map: LabelMap | None) -> int | None:
    written = next((row[name] for name in _GAIN if row.get(name) is not None), None)
    return gain_of_label(written, label_map)
