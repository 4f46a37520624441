"""Reads search calls from Avro object container files (SPEC 2)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from msgspec.structs import replace

from goodgain.transforms.core.files.avro_blocks import DamagedStretch, blocks_in
from goodgain.transforms.core.files.avro_decoder import BlockDecoder, Decoded, DecodedBlock
from goodgain.transforms.core.files.avro_header import HeaderError, read_header
from goodgain.transforms.core.files.bounds import BEGINNING_BYTES
from goodgain.transforms.core.files.compression import Compression, read_beginning
from goodgain.transforms.core.files.decoded_records import calls_of_records
from goodgain.transforms.core.files.record_packer import RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.records.rejection import (
    WHOLE_FILE,
    RejectedRecord,
    payload_of_bytes,
)

_KEPT_OF_HEADER = 8192


def read_avro(
    file: BinaryIO, shard: FileShard, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    """The records of a shard in file order (see `read_shard_into`); damage as in `decode_blocks`.

    The packer packs whole blocks.
    """
    for block in _blocks(file, shard, packer):
        if isinstance(block, DecodedBlock):
            yield from calls_of_records(block.records, shard, block.position, block.escaped)
        else:
            yield block


def decode_blocks(file: BinaryIO, shard: FileShard) -> Iterator[DecodedBlock | RejectedRecord]:
    """The blocks of a shard, decoded by the file's own schema, in file order.

    A damaged block becomes one rejected row that counts all its records; reading resumes at the
    next sync marker. An unusable header is one row for the file, from its first shard.

    Args:
      file: uncompressed and seekable.

    Raises:
      OSError: the file cannot be read.
    """
    return cast(Iterator[DecodedBlock | RejectedRecord], _blocks(file, shard, None))


def read_first_of_avro(file: BinaryIO, shard: FileShard) -> Iterator[Any]:
    """The decoded records from the beginning of a file."""
    if shard.compression is not Compression.NONE:
        content = read_beginning(file, shard.compression, BEGINNING_BYTES)
        file = io.BytesIO(content)
        shard = replace(shard, compression=Compression.NONE, start=0, end=len(content))
    size = 0
    for block in decode_blocks(file, shard):
        if isinstance(block, DecodedBlock):
            yield from block.records
            size += len(repr(block.records))
        if size > BEGINNING_BYTES:
            return


def _blocks(
    file: BinaryIO, shard: FileShard, packer: RecordPacker | None
) -> Iterator[DecodedBlock | RecordOrPacked]:
    try:
        header = read_header(file)
        decoder = BlockDecoder(header, shard, packer)
    except HeaderError as error:
        if shard.start == 0:
            file.seek(0)
            payload = payload_of_bytes(file.read(_KEPT_OF_HEADER))
            yield RejectedRecord(shard.path, WHOLE_FILE, str(error), payload=payload, at_least=True)
        return
    blocks: Iterator[Decoded | DamagedStretch] = blocks_in(
        file, header, decoder.decode, shard, decoder.most_together
    )
    for block in blocks:
        if isinstance(block, DamagedStretch):
            yield RejectedRecord(
                shard.path,
                f"block at byte {block.offset}",
                block.reason,
                payload=payload_of_bytes(block.data),
                records=block.records,
                at_least=block.at_least,
            )
        elif isinstance(block, list):
            yield from block
        else:
            yield block
