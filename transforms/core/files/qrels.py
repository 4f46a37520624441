"""Reads judgments: TREC qrels, BEIR's TSV, or a CSV, JSON Lines, Avro or Parquet table (SPEC 8).

A line of TREC qrels is `topic iteration docid label`, one of BEIR's has `query-id`, `corpus-id` and
`score` between tabs. A table has columns for topic, document and gain, as in `judgment_rows`. So
come exclusions, too, but without a label: a line is `topic docno`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from msgspec.structs import replace

from goodgain.transforms.core.errors import problem_of
from goodgain.transforms.core.files.bounds import FIXED_BOUNDS
from goodgain.transforms.core.files.compression import Compression
from goodgain.transforms.core.files.input_formats import INPUT_FORMATS, JSONL
from goodgain.transforms.core.files.judgment_rows import (
    COLUMNS,
    JudgmentError,
    is_header,
    judgment_of_line,
    judgment_of_row,
    parse_exclusion_line,
    parse_exclusion_row,
)
from goodgain.transforms.core.files.shard import FileShard, Open
from goodgain.transforms.core.files.table_row import BrokenTableError, TableRow
from goodgain.transforms.core.files.tables import rows_of_shard
from goodgain.transforms.core.files.text_lines import Line, text_lines
from goodgain.transforms.core.judgments.judgment import Judgment, JudgmentPlace, QrelsProblem
from goodgain.transforms.core.records.label_map import LabelMap


class RowParsers(NamedTuple):
    """How a line, and a row of a table, are read; each may raise JudgmentError."""

    of_line: Callable[[Line, JudgmentPlace, LabelMap | None], Judgment]
    of_row: Callable[[Any, JudgmentPlace, LabelMap | None], Judgment]


JUDGMENTS = RowParsers(judgment_of_line, judgment_of_row)
# Documents that are excluded from topics, as judgments without a label.
EXCLUSIONS = RowParsers(parse_exclusion_line, parse_exclusion_row)


def read_qrels(
    shard: FileShard, number: int, open_file: Open, parsers: RowParsers = JUDGMENTS
) -> Iterator[Judgment | QrelsProblem]:
    """The judgments of a shard in file order, up to the first that cannot be used.

    Args:
      shard: from `plan_shards`.
      parsers: what the rows are.
    """
    shard = replace(shard, bounds=FIXED_BOUNDS)
    whole_file = JudgmentPlace(number, 0, "file")
    if shard.problem is not None:
        yield QrelsProblem(whole_file, shard.problem)
        return
    if INPUT_FORMATS[shard.format].is_binary and shard.compression is not Compression.NONE:
        text = f"The {shard.format} file is compressed as a whole; decompress it first."
        yield QrelsProblem(whole_file, text)
        return
    try:
        with open_file(shard.path) as file:
            read = _read_text if shard.format == JSONL else _read_rows
            for judgment in read(file, shard, number, parsers):
                yield judgment
                if isinstance(judgment, QrelsProblem):
                    return
    except OSError as error:
        yield QrelsProblem(whole_file, f"The file cannot be read: {problem_of(error)}.")


def label_map_of(shard: FileShard) -> LabelMap | None:
    """The gains of labels on another scale in a file."""
    return None if shard.adaptation is None else shard.adaptation.label_scale


def _read_text(
    file: BinaryIO, shard: FileShard, number: int, parsers: RowParsers
) -> Iterator[Judgment | QrelsProblem]:
    text, label_map, of_line = text_lines(file, shard), label_map_of(shard), parsers.of_line
    location, inside = text.location if text.numbered else None, ""
    for position, line in text.lines:
        if not line or (isinstance(line, bytes) and (line.isspace() or is_header(line))):
            continue
        if location is not None:
            inside = location(position)
        place = JudgmentPlace(number, position, inside)
        try:
            yield of_line(line, place, label_map)
        except JudgmentError as error:
            yield QrelsProblem(place, error.message)


def _read_rows(
    file: BinaryIO, shard: FileShard, number: int, parsers: RowParsers
) -> Iterator[Judgment | QrelsProblem]:
    place = JudgmentPlace(number, shard.start, "file")
    try:
        for row in rows_of_shard(file, shard, COLUMNS):
            place = _place_of(row, number)
            if row.problem is not None:
                yield QrelsProblem(place, f"The row has {row.problem}.")
            else:
                yield _of_row(row.values, place, shard, parsers)
    except BrokenTableError as error:
        yield QrelsProblem(place, f"The file cannot be read from here on ({error}).")


def _place_of(row: TableRow, number: int) -> JudgmentPlace:
    if row.at is None:
        return JudgmentPlace(number, row.number, f"line {row.number}")
    return JudgmentPlace(number, row.at, row.inside)


def _of_row(
    row: Any, place: JudgmentPlace, shard: FileShard, parsers: RowParsers
) -> Judgment | QrelsProblem:
    try:
        return parsers.of_row(row, place, label_map_of(shard))
    except JudgmentError as error:
        return QrelsProblem(place, error.message)
