"""Reads judgments: TREC qrels, or a JSON Lines, Avro or Parquet table (SPEC 8).

A line of TREC qrels is `topic iteration docid label`. A table has columns for topic, document and
gain; for their names see `TOPIC`, `DOCUMENT` and `GAIN`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import replace

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.avro_reader import decoded_blocks
from goodgain.transforms.core.files.bounds import FIXED_BOUNDS
from goodgain.transforms.core.files.compression import Compression
from goodgain.transforms.core.files.input_formats import AVRO, JSONL, PARQUET
from goodgain.transforms.core.files.line_splitter import LongLine
from goodgain.transforms.core.files.shard import FileShard, Open
from goodgain.transforms.core.files.text_lines import CutOffLine, Line, text_lines
from goodgain.transforms.core.judgments.judgment import Judgment, JudgmentPlace, QrelsProblem
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.records.search_call import GREATEST_GAIN

TOPIC = ("topic", "conversation_id", "query_id")
DOCUMENT = ("document_id", "doc_id", "docid", "docno")
GAIN = ("gain", "label", "relevance")
_TREC_FIELDS = 4
_ROWS_AT_ONCE = 4096
_LONGEST_SHOWN = 60
_decode_json = msgspec.json.Decoder().decode


class JudgmentError(GoodGainError):
    """A judgment that cannot be used; the message is a sentence to print after its location."""


def read_qrels(shard: FileShard, number: int, open_file: Open) -> Iterator[Judgment | QrelsProblem]:
    """The judgments of a shard in file order, up to the first that cannot be used.

    Args:
      shard: from `plan_shards`.
    """
    shard = replace(shard, bounds=FIXED_BOUNDS)
    whole_file = JudgmentPlace(number, 0, "file")
    if shard.problem is not None:
        yield QrelsProblem(whole_file, shard.problem)
        return
    if shard.format != JSONL and shard.compression is not Compression.NONE:
        text = f"The {shard.format} file is compressed as a whole; decompress it first."
        yield QrelsProblem(whole_file, text)
        return
    try:
        with open_file(shard.path) as file:
            for judgment in _READERS[shard.format](file, shard, number):
                yield judgment
                if isinstance(judgment, QrelsProblem):
                    return
    except OSError as error:
        yield QrelsProblem(whole_file, f"The file cannot be read: {error}.")


def _read_text(file: BinaryIO, shard: FileShard, number: int) -> Iterator[Judgment | QrelsProblem]:
    text = text_lines(file, shard)
    for position, line in text.lines:
        if not line or (isinstance(line, bytes) and line.isspace()):
            continue
        place = JudgmentPlace(number, position, text.location(position) if text.numbered else "")
        try:
            yield judgment_of_line(line, place)
        except JudgmentError as error:
            yield QrelsProblem(place, str(error))


def judgment_of_line(line: Line, place: JudgmentPlace) -> Judgment:
    """The judgment on a line of TREC qrels, or of JSON Lines, which begins with `{`.

    Raises:
      JudgmentError: it cannot be used.
    """
    if isinstance(line, CutOffLine):
        raise JudgmentError(f"The file cannot be read from here on: {line.problem}.")
    if isinstance(line, LongLine):
        raise JudgmentError(f"The line is {len(line)} bytes long, too long for a judgment.")
    try:
        if line.lstrip()[:1] == b"{":
            return judgment_of_row(_decode_json(line), place)
        fields = line.decode().split()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise JudgmentError("The line is neither UTF-8 text nor a JSON object.") from None
    if len(fields) != _TREC_FIELDS:
        raise JudgmentError(
            "A line of qrels is `topic iteration docid label`, four fields between white space; "
            f"this one has {len(fields)}. A table must be JSON Lines, Avro or Parquet."
        )
    topic, _, document, label = fields
    return _judgment(topic, document, _whole_number(label), place)


def judgment_of_row(row: Any, place: JudgmentPlace) -> Judgment:
    """The judgment in a row of a table.

    Raises:
      JudgmentError: a column is missing, or a value cannot be used.
    """
    if not isinstance(row, Mapping):
        raise JudgmentError("The row is not an object with named fields.")
    topic, document, gain = (_column(row, names) for names in (TOPIC, DOCUMENT, GAIN))
    return _judgment(_text(topic), _text(document), _whole_number(gain), place)


def _judgment(topic: str, document: str, gain: int | None, place: JudgmentPlace) -> Judgment:
    topic, document = topic.strip(), document.strip()
    if not topic or not document:
        raise JudgmentError(f"The {'document' if topic else 'topic'} is empty.")
    if gain is not None and gain > GREATEST_GAIN:
        raise JudgmentError(
            f"The label is {gain}, but gains go from 0 to {GREATEST_GAIN} (a negative one means "
            "not judged); convert the labels to this scale."
        )
    return Judgment(topic, document, None if gain is None or gain < 0 else gain, place)


def _column(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in row:
            return row[name]
    raise JudgmentError(f"The row has no {names[0]} (also read: {', '.join(names[1:])}).")


def _text(value: Any) -> str:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise JudgmentError(
                f"The topic or document is {value!a}, which is not UTF-8 text."
            ) from None
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise JudgmentError(f"The topic or document is {_shown(value)}, but must be text.")


def _whole_number(value: Any) -> int | None:
    """A label as a number; None stays None, which means not judged."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float | Decimal) and value == value and value % 1 == 0:
        return int(value)
    if isinstance(value, str) and value.lstrip("+-").isdecimal() and len(value) < _LONGEST_SHOWN:
        try:
            return int(value)
        except ValueError:
            pass
    raise JudgmentError(f"The label is {_shown(value)}, but must be a whole number.")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def _read_avro(file: BinaryIO, shard: FileShard, number: int) -> Iterator[Judgment | QrelsProblem]:
    for block in decoded_blocks(file, shard):
        if isinstance(block, RejectedRecord):
            place = JudgmentPlace(number, shard.start, block.position)
            yield QrelsProblem(place, block.reason)
            continue
        for index, row in enumerate(block.records):
            yield _of_row(row, JudgmentPlace(number, block.offset, block.position(index)))


def _read_parquet(
    file: BinaryIO, shard: FileShard, number: int
) -> Iterator[Judgment | QrelsProblem]:
    # pyarrow is slow to import.
    from goodgain.transforms.core.files.parquet_row_groups import ParquetRowGroups

    place = JudgmentPlace(number, shard.start, "file")
    try:
        parquet = ParquetRowGroups(file)
        wanted = {*TOPIC, *DOCUMENT, *GAIN}
        columns = [name for name in parquet.names if name in wanted]
        for group in parquet.begins_in(shard):
            row = 0
            for batch in parquet.batches(group, columns, shard.bounds, _ROWS_AT_ONCE):
                for values in batch.to_pylist():
                    place = JudgmentPlace(
                        number, shard.start + group, f"row group {group}, row {row}"
                    )
                    yield _of_row(values, place)
                    row += 1
    except Exception as error:  # pyarrow raises all kinds of errors on a broken file
        if isinstance(error, OSError) and error.errno is not None:
            raise  # from the filesystem, not pyarrow
        yield QrelsProblem(place, f"The Parquet file cannot be read from here on ({error}).")


def _of_row(row: Any, place: JudgmentPlace) -> Judgment | QrelsProblem:
    try:
        return judgment_of_row(row, place)
    except JudgmentError as error:
        return QrelsProblem(place, str(error))


_READERS = {JSONL: _read_text, AVRO: _read_avro, PARQUET: _read_parquet}
