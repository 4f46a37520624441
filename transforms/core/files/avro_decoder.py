"""Decodes the blocks of an Avro file to records, within limits of memory (SPEC 2)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, TypeAlias

import fastavro
from msgspec import Struct

from goodgain.transforms.core.files.avro_blocks import RawBlock
from goodgain.transforms.core.files.avro_codecs import DamagedBlockError, decompress_block
from goodgain.transforms.core.files.avro_compiler import DecodeRecords, compile_records
from goodgain.transforms.core.files.avro_header import Header, HeaderError, header_of
from goodgain.transforms.core.files.avro_layout import SchemaError, layout_of
from goodgain.transforms.core.files.avro_plan import plain_schema, plan_of, timestamp_scale
from goodgain.transforms.core.files.avro_values import TooLargeError, skip_values
from goodgain.transforms.core.files.decoded_records import calls_of_records
from goodgain.transforms.core.files.record_packer import ReadRecord, RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.varint import write_zigzag
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.wording import format_count

# Limits on blocks that threads pack. Ordinary ones take far less: 16 to 100 KB each.
_MOST_TOGETHER = 1024
_MOST_DECODED_AHEAD = 2**20
# Bytes of memory for each byte of a block, and for a block of any size. Values of a few bytes take
# up to 200 for each.
_MOST_EXPANSION = 1000
_SMALL_BLOCK = 256 * 1024
# fastavro's messages have the address of the object it reads from, which differs between runs.
_OBJECT = re.compile(r" from <[^>]*>")


class DecodedBlock(Struct, frozen=True):
    """The records of one block.

    Attributes:
      offset: offset of its first byte in the file.
      escaped: whether it has bytes that are not UTF-8; they became lone surrogates.
    """

    offset: int
    records: list[Any]
    escaped: bool = False

    def position(self, index: int) -> str:
        """The position of a record, for people."""
        return _position(self.offset, index)


# The records of a block, or what the packer made of them.
Decoded: TypeAlias = DecodedBlock | list[RecordOrPacked]


def _position(offset: int, index: int) -> str:
    return f"block at byte {offset}, record {index}"


class BlockDecoder:
    """Decodes the blocks of one file to records.

    fastavro decodes fastest from an open file, so the decoder keeps one in memory: a header with
    the plain schema, after which it puts one decompressed block after another.

    Attributes:
      most_together: how many blocks at a time it can make use of.
    """

    def __init__(
        self,
        header: Header,
        shard: FileShard,
        packer: RecordPacker | None,
    ) -> None:
        self._codec = header.codec
        self._shard = shard
        self._bounds = shard.bounds
        self._sync = header.sync
        try:
            self._layout = layout_of(header.schema)
        except SchemaError as error:
            raise HeaderError(f"The Avro schema {error}.") from None
        self._timestamp = shard.adaptation.timestamp if shard.adaptation else "timestamp"
        self._scale = timestamp_scale(header.schema, self._timestamp)
        self._header = header_of(plain_schema(header.schema), header.sync)
        try:
            self._feed, self._blocks = self._open_reader("strict")
        except Exception as error:  # fastavro raises all kinds of errors on a broken schema
            raise HeaderError(f"The Avro schema cannot be used ({error}).") from None
        most = self._bounds.max_record_results
        self._plan = plan = plan_of(header.schema, self._scale, most)
        self._prepared = packer.prepare(plan, shard.adaptation) if packer and plan else None
        self._packer = None if self._prepared is None else packer
        ahead = 0 if self._packer is None else self._packer.most_ahead
        self.most_together = _MOST_TOGETHER if ahead else 1
        # All that are decoded at the same time take no more than one block may.
        self._most_ahead = min(_MOST_DECODED_AHEAD, self._bounds.max_decoded_bytes // (ahead + 1))

    def decode(self, blocks: Sequence[RawBlock]) -> Iterator[Decoded | DamagedBlockError]:
        """Decode blocks; an error stands for one that does not decode to what its header claims."""
        ahead = self._pack_ahead(blocks)
        for block in blocks:
            decoded: Decoded | DamagedBlockError | None
            try:
                decoded = next(ahead, None)
                if decoded is None:
                    decoded = self._decode(block.offset, block.data, block.records)
            except DamagedBlockError as error:
                decoded = error
            yield decoded

    def _pack_ahead(self, blocks: Sequence[RawBlock]) -> Iterator[list[RecordOrPacked]]:
        """The first blocks, packed by several threads; the others are to be decoded one by one.

        Raises:
          DamagedBlockError: the next block is damaged.
        """
        if self._packer is not None and len(blocks) > 1:
            to_pack = [
                (block.data, block.records, self._reader(block.offset))
                for block in takewhile(self._takes_little_memory, blocks)
            ]
            yield from self._packer.pack_blocks(
                self._prepared, self._codec, to_pack, self._most_ahead
            )

    def _takes_little_memory(self, block: RawBlock) -> bool:
        return self._layout.at_most(
            self._most_ahead, block.records
        ) <= self._bounds.memory and self._layout.at_most(0, block.records) <= self._most_memory(
            len(block.data)
        )

    def _most_memory(self, size: int) -> float:
        """Most bytes of memory for the values in so many bytes.

        Values of 0 bytes, like a null or a record of nulls, could take any amount of memory and
        time; real ones are far below this.
        """
        return min(self._bounds.memory, _SMALL_BLOCK + _MOST_EXPANSION * size)

    def _decode(self, offset: int, data: bytes, count: int) -> Decoded:
        """Decode the data of the block at `offset`.

        Raises:
          DamagedBlockError: the data does not decode to exactly `count` records.
        """
        content = decompress_block(self._codec, data, self._bounds.max_decoded_bytes)
        if count > len(content):
            size = format_count(len(content), "byte")
            reason = f"{format_count(count, 'record')} cannot fit in {size}"
            raise DamagedBlockError(reason, self._records_in(content, count))
        most = self._most_memory(len(content))
        if self._layout.at_most(len(content), count) > most:
            self._check(content, count, most)
        if self._packer is not None:
            read = self._reader(offset)
            packed = self._packer.pack_block(self._prepared, content, count, read)
            if packed is not None:
                return packed
        escaped = False
        records = self._compiled(content, count) if self._compiled else None
        if records is None:
            try:
                records = self._decode_records(content, count, self._feed, self._blocks)
            except UnicodeDecodeError:
                escaped = True
                self._feed, self._blocks = self._open_reader("strict")
                reader = self._open_reader("surrogateescape")
                records = self._decode_records(content, count, *reader)
        return DecodedBlock(offset, self._with_millis(records), escaped)

    @cached_property
    def _compiled(self) -> DecodeRecords | None:
        return None if self._plan is None else compile_records(self._plan)

    def _reader(self, offset: int) -> ReadRecord:
        """What parses single records of the block at `offset`."""

        def read(index: int, data: bytes) -> SearchCall | RejectedRecord:
            records = self._with_millis(self._decode_records(data, 1, self._feed, self._blocks))
            position = _position(offset, index)
            (call,) = calls_of_records(records, self._shard, lambda _: position, False)
            return call

        return read

    def _decode_records(
        self, content: bytes, count: int, feed: io.BytesIO, blocks: Iterator[Any]
    ) -> list[Any]:
        feed.seek(0)
        feed.truncate()
        feed.write(write_zigzag(count) + write_zigzag(len(content)))
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
            self._feed, self._blocks = self._open_reader("strict")
            reason = f"its records do not decode ({_OBJECT.sub('', str(error))})"
            raise DamagedBlockError(reason, self._records_in(content, count)) from None
        if rest:
            raise DamagedBlockError("bytes remain after its last record")
        return records

    def _check(self, content: bytes, count: int, most: float) -> None:
        """Make sure that records can be decoded within a limit of memory, before decoding them."""
        try:
            skipped, _ = skip_values(self._layout, content, count, most)
        except TooLargeError as error:
            raise DamagedBlockError(str(error), too_large=most == self._bounds.memory) from None
        if skipped < count:  # what was not walked may take any amount of memory, too
            reason = "its records do not decode (the data do not fit the schema)"
            raise DamagedBlockError(reason, self._records_in(content, count))

    def _records_in(self, content: bytes, count: int) -> int | None:
        """How many of `count` records a block that does not decode can contain."""
        try:
            skipped, at = skip_values(self._layout, content, count, self._bounds.memory)
        except TooLargeError:
            return None
        return skipped + (len(content) - at) // max(1, self._layout.least)

    def _open_reader(self, handle_unicode_errors: str) -> tuple[io.BytesIO, Iterator[Any]]:
        feed = io.BytesIO(self._header)
        reader = fastavro.block_reader(feed, handle_unicode_errors=handle_unicode_errors)
        return feed, reader

    def _with_millis(self, records: list[Any]) -> list[Any]:
        factor, divisor = self._scale
        if factor != divisor:
            name = self._timestamp
            for record in records:
                if isinstance(record, dict) and type(record.get(name)) is int:
                    record[name] = record[name] * factor // divisor
        return records
