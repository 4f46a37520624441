"""Reads search calls from JSON Lines: one object per line, in UTF-8 (SPEC 2)."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.bounds import BEGINNING_BYTES, ReadBounds, check_bounds
from goodgain.transforms.core.files.json_value_count import has_more_values
from goodgain.transforms.core.files.line_splitter import lines_of
from goodgain.transforms.core.files.record_packer import PackedBlock, RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.text_lines import (
    CutOffLine,
    Line,
    TextLines,
    text_lines,
)
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.parsing import (
    conversation_id_in,
    parse_adapted_json,
    parse_json,
)
from goodgain.transforms.core.records.rejection import payload_of_bytes, reject_record
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.remedy import Remedy


def read_jsonl(
    file: BinaryIO, shard: FileShard, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    """The records of a shard in file order (see `read_shard_into`); blank lines are skipped.

    A line above the limit is rejected without holding it in memory. If a compressed file is
    truncated, its incomplete last line becomes one rejected row.
    """
    text = text_lines(file, shard)
    lines = text.lines if packer is None else _pack_lines(packer, text, shard)
    for position, line in lines:
        if isinstance(line, PackedBlock):
            yield line
            continue
        if isinstance(line, bytes) and (not line or line.isspace()):
            continue
        try:
            yield _call_of(line, shard)
        except RecordError as error:
            raw = line if isinstance(line, bytes) else line.head
            at_least = isinstance(line, CutOffLine)
            yield reject_record(
                shard.path, text.location(position), error, payload_of_bytes(raw), at_least
            )


def read_first_lines(file: BinaryIO, shard: FileShard) -> Iterator[Any]:
    """The decoded lines from the beginning of a file, without those that are not JSON."""
    size = 0
    for number, (_, line) in enumerate(text_lines(file, shard).lines):
        size += len(line) if isinstance(line, bytes) else 0
        if number and size > BEGINNING_BYTES:
            return
        if isinstance(line, bytes) and not has_more_values(line, shard.bounds.record_values):
            try:
                yield msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # the run will reject it


def why_not_jsonl(head: bytes) -> str | None:
    """Why text is not JSON Lines, in one sentence, if its beginning shows that; else None.

    Args:
      head: the first bytes of the file, decompressed.
    """
    lines = [line.strip() for line in head.removeprefix(BOM_UTF8).splitlines()[:3]]
    lines = [line for line in lines if line]
    if lines[:1] == [b"{"] and lines[1:2] and lines[1].startswith(b'"'):
        return (
            "The file is one JSON document that spans several lines; write one record per "
            "line instead (jq -c . does)."
        )
    return None


def _pack_lines(
    packer: RecordPacker, text: TextLines, shard: FileShard
) -> Iterator[tuple[int, Line | PackedBlock]]:
    """Blocks of the lines that the packer packed, and the remaining lines."""
    for position, stretch in text.stretches:
        if not isinstance(stretch, bytes):
            yield position, stretch
            continue
        begin = 0
        while begin <= len(stretch):
            block, stop = packer.pack_lines(stretch, begin, shard.bounds, shard.adaptation)
            if block is not None:
                yield position, block
            if stop is None:
                break
            position = text.position_after(position, stretch, begin, stop)
            end = stretch.find(b"\n", stop)
            (line,) = lines_of(stretch[stop : end if end >= 0 else None], text.limit)
            yield position, line
            begin = stop + 1 + len(line)
            position = text.position_after(position, stretch, stop, begin)


def _call_of(line: Line, shard: FileShard) -> SearchCall:
    """The record of a line that is not blank; raises RecordError if it cannot be used."""
    if isinstance(line, bytes):
        return record_of_json(line, shard.adaptation, shard.bounds)
    if isinstance(line, CutOffLine):
        reason = f"The file cannot be read from this line on: {line.problem}."
    else:
        reason = (
            f"The line is {len(line)} bytes long; at most {shard.bounds.max_decoded_bytes} are "
            "read: raise " + Remedy("max_decoded_bytes") + "."
        )
    raise RecordError(reason, None, conversation_id_in(line.head))


def record_of_json(line: bytes, adaptation: Adaptation | None, bounds: ReadBounds) -> SearchCall:
    """Like `parse_json` or `parse_adapted_json`, within bounds.

    Raises:
      RecordError: also if the record has too many results, or too many values of any kind.
    """
    if has_more_values(line, bounds.record_values):
        raise RecordError(
            f"The line has more than {bounds.record_values:,} values: raise "
            + Remedy("max_record_results")
            + " to read it.",
            None,
            conversation_id_in(line),
        )
    call = parse_json(line) if adaptation is None else parse_adapted_json(line, adaptation)
    return check_bounds(call, bounds)
