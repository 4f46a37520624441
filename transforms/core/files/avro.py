"""Reads search calls from Avro object container files (SPEC 2)."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import fastavro
from msgspec.structs import replace

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.avro_blocks import DecodedBlock, blocks_in
from goodgain.transforms.core.files.avro_codecs import DamagedBlockError, decompress_block
from goodgain.transforms.core.files.avro_header import (
    Header,
    HeaderError,
    header_of,
    read_header,
    zigzag,
)
from goodgain.transforms.core.files.avro_layout import SchemaError, TooLargeError, layout_of, walked
from goodgain.transforms.core.files.avro_plan import plan_of
from goodgain.transforms.core.files.avro_schema import plain_schema, timestamp_scale
from goodgain.transforms.core.files.bounds import ReadBounds, bounded, within
from goodgain.transforms.core.files.record_taker import (
    RecordTaker,
    Refusal,
    Taken,
    TakenBlock,
    place_of,
)
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.wanted import Wanted
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.parsing import (
    parse_escaped_mapping,
    parse_mapping,
    parse_mappings,
)
from goodgain.transforms.core.records.rejected import (
    WHOLE_FILE,
    RejectedRecord,
    payload_of_bytes,
    payload_of_mapping,
    rejected_for,
)
from goodgain.transforms.core.records.search_call import SearchCall

_KEPT_OF_HEADER = 8192
# fastavro's messages have the address of the object it reads from, which differs between runs.
_OBJECT = re.compile(r" from <[^>]*>")


def read_avro(
    file: BinaryIO,
    shard: FileShard,
    wanted: Wanted | None = None,
    taker: RecordTaker | None = None,
) -> Iterator[SearchCall | RejectedRecord | TakenBlock]:
    """The records of a shard in file order.

    Damage is reported as by `decoded_blocks`.

    Args:
      file: the Avro file itself, uncompressed and seekable.
      shard: the byte range to read.
      wanted: skips blocks that cannot contain one of these conversations.
      taker: native code that packs whole blocks; None = yield all records.

    Raises:
      OSError: the file cannot be read.
    """
    # Native code does not rename fields.
    taken_by = taker if shard.adaptation is None else None
    for found in decoded_blocks(file, shard, wanted, taken_by):
        if isinstance(found, DecodedBlock) and isinstance(found.records, Taken):
            yield found.records.block(shard.path, found.offset)
        elif isinstance(found, DecodedBlock):
            yield from _calls_of(_adapted(found, shard.adaptation), shard)
        else:
            yield found


def decoded_blocks(
    file: BinaryIO,
    shard: FileShard,
    wanted: Wanted | None = None,
    taker: RecordTaker | None = None,
) -> Iterator[DecodedBlock | RejectedRecord]:
    """The blocks of a shard, decoded by the file's own schema, in file order.

    A damaged block becomes one rejected row that counts all its records; reading resumes at the
    next sync marker. An unusable header is one row for the file, from its first shard.

    Args:
      file: the Avro file itself, uncompressed and seekable.
      shard: the byte range to read.
      wanted: blocks that cannot contain one of these conversations get no records.
      taker: native code that packs whole blocks; its output replaces their records.

    Raises:
      OSError: the file cannot be read.
    """
    try:
        header = read_header(file)
        decoder = _BlockDecoder(header, wanted, shard.bounds, taker)
    except HeaderError as error:
        if shard.start == 0:
            file.seek(0)
            payload = payload_of_bytes(file.read(_KEPT_OF_HEADER))
            yield RejectedRecord(shard.path, WHOLE_FILE, str(error), payload=payload)
        return
    found = blocks_in(
        file,
        header.sync,
        decoder.decode,
        header.first_block,
        shard.start,
        shard.end,
        shard.bounds,
    )
    for stretch in found:
        if isinstance(stretch, DecodedBlock):
            yield stretch
        else:
            yield RejectedRecord(
                shard.path,
                f"block at byte {stretch.offset}",
                stretch.reason,
                payload=payload_of_bytes(stretch.data),
                records=stretch.records,
            )


def _adapted(block: DecodedBlock, adaptation: Adaptation | None) -> DecodedBlock:
    if adaptation is None:
        return block
    records = []
    for record in block.records:
        adapted = adaptation.applied(record)
        records.append(_Escaped(adapted) if isinstance(record, _Escaped) else adapted)
    return replace(block, records=records)


def _calls_of(block: DecodedBlock, shard: FileShard) -> Iterator[SearchCall | RejectedRecord]:
    escaped = any(isinstance(record, _Escaped) for record in block.records[:1])
    calls = None if escaped else parse_mappings(block.records)
    if calls is not None and within(calls, shard.bounds):
        yield from calls
        return
    parse = parse_escaped_mapping if escaped else parse_mapping
    for index, record in enumerate(block.records):
        try:
            yield bounded(parse(record), shard.bounds)
        except RecordError as error:
            place = place_of(block.offset, index)
            yield rejected_for(shard.path, place, error, payload_of_mapping(record))


class _Escaped(dict[str, Any]):
    """A record of a block with bytes that are not UTF-8; they became lone surrogates."""


class _BlockDecoder:
    """Decodes the blocks of one file to records.

    fastavro decodes fastest from an open file, so the decoder keeps one in memory: a header with
    the plain schema, after which it puts one decompressed block after another.
    """

    def __init__(
        self,
        header: Header,
        wanted: Wanted | None,
        bounds: ReadBounds,
        taker: RecordTaker | None,
    ) -> None:
        self._codec = header.codec
        self._bounds = bounds
        # Avro stores the number of an enum, not its text.
        self._wanted = None if '"enum"' in json.dumps(header.schema) else wanted
        self._sync = header.sync
        try:
            self._layout = layout_of(header.schema)
        except SchemaError as error:
            raise HeaderError(f"The Avro schema {error}.") from None
        self._scale = timestamp_scale(header.schema)
        self._header = header_of(plain_schema(header.schema), header.sync)
        try:
            self._feed, self._blocks = self._opened("strict")
        except Exception as error:  # fastavro raises all kinds of errors on a broken schema
            raise HeaderError(f"The Avro schema cannot be used ({error}).") from None
        plan = None if taker is None else plan_of(header.schema, bounds.record_results)
        self._taker = None if plan is None else taker
        self._prepared = taker.prepare(plan) if taker is not None and plan is not None else None

    def decode(self, data: bytes, count: int) -> list[Any]:
        """The records of a block's data.

        Raises:
          DamagedBlockError: the data does not decode to exactly `count` records.
        """
        content = decompress_block(self._codec, data, self._bounds.decoded_bytes)
        if self._wanted is not None and not self._wanted.may_stand_in(content):
            return []
        if count > len(content):
            reason = f"{count} records cannot fit in {len(content)} bytes"
            raise DamagedBlockError(reason, self._records_in(content, count))
        if self._layout.at_most(len(content), count) > self._bounds.memory:
            self._check(content, count)
        taken = None if self._taker is None else self._taken(self._taker, content, count)
        if taken is not None:
            return taken
        try:
            records = self._decoded(content, count, self._feed, self._blocks)
        except UnicodeDecodeError:
            records = self._decoded_escaped(content, count)
        return self._with_millis(records)

    def _taken(self, taker: RecordTaker, content: bytes, count: int) -> Taken | None:
        refusals: list[Refusal] = []

        def read(index: int, data: bytes) -> SearchCall | str | None:
            (record,) = self._with_millis(self._decoded(data, 1, self._feed, self._blocks))
            try:
                return bounded(parse_mapping(record), self._bounds)
            except RecordError as error:
                refusals.append(Refusal(index, error, payload_of_mapping(record)))
                return error.conversation_id

        packed = taker.take(self._prepared, content, count, read)
        return None if packed is None else Taken(packed, refusals)

    def _decoded_escaped(self, content: bytes, count: int) -> list[Any]:
        self._feed, self._blocks = self._opened("strict")
        records = self._decoded(content, count, *self._opened("surrogateescape"))
        return [_Escaped(record) if isinstance(record, dict) else record for record in records]

    def _decoded(
        self, content: bytes, count: int, feed: io.BytesIO, blocks: Iterator[Any]
    ) -> list[Any]:
        feed.seek(0)
        feed.truncate()
        feed.write(zigzag(count) + zigzag(len(content)))
        feed.write(content)
        feed.write(self._sync)
        feed.seek(0)
        try:
            block = next(blocks)
            records = list(block)
            rest = block.bytes_.read(1)
        except UnicodeDecodeError:
            raise
        except Exception as error:  # fastavro raises all kinds of errors on broken bytes
            self._feed, self._blocks = self._opened("strict")
            reason = f"its records do not decode ({_OBJECT.sub('', str(error))})"
            raise DamagedBlockError(reason, self._records_in(content, count)) from None
        if rest:
            raise DamagedBlockError("bytes remain after its last record")
        return records

    def _check(self, content: bytes, count: int) -> None:
        """Make sure that records can be decoded within the bounds, before decoding them."""
        try:
            walked(self._layout, content, count, self._bounds.memory)
        except TooLargeError as error:
            raise DamagedBlockError(str(error), too_large=True) from None

    def _records_in(self, content: bytes, count: int) -> int | None:
        """How many of `count` records a block that does not decode can contain."""
        try:
            done, at = walked(self._layout, content, count, self._bounds.memory)
        except TooLargeError:
            return None
        return done + (len(content) - at) // max(1, self._layout.least)

    def _opened(self, handle_unicode_errors: str) -> tuple[io.BytesIO, Iterator[Any]]:
        feed = io.BytesIO(self._header)
        reader = fastavro.block_reader(feed, handle_unicode_errors=handle_unicode_errors)
        return feed, reader

    def _with_millis(self, records: list[Any]) -> list[Any]:
        factor, divisor = self._scale
        if factor != divisor:
            for record in records:
                if isinstance(record, dict) and type(record.get("timestamp")) is int:
                    record["timestamp"] = record["timestamp"] * factor // divisor
        return records
