"""The first records of a file, decoded but not checked (SPEC 10)."""

from __future__ import annotations

import io
from itertools import islice
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import replace

from goodgain.transforms.core.files.avro_reader import DecodedBlock, decoded_blocks
from goodgain.transforms.core.files.compression import Compression, beginning
from goodgain.transforms.core.files.json_array_reader import objects_of_array
from goodgain.transforms.core.files.json_value_count import has_more_values
from goodgain.transforms.core.files.shard import FileFormat, FileShard
from goodgain.transforms.core.files.text_lines import text_lines

MOST_LOOKED_AT = 100  # records
_BEGINNING = 8 * 1024 * 1024  # most bytes of lines, or of a compressed file after decompression


def first_records(file: BinaryIO, shard: FileShard) -> list[Any]:
    """Up to 100 records from the beginning of a file; none if it cannot be decoded.

    `shard` is the first one of the file.

    Raises:
      OSError: the file cannot be read.
    """
    if shard.problem is not None:
        return []
    if shard.format is FileFormat.JSONL:
        return _first_lines(file, shard)
    if shard.format is FileFormat.JSON_ARRAY:
        return list(islice(objects_of_array(file, shard), MOST_LOOKED_AT))
    if shard.format is FileFormat.AVRO:
        if shard.compression is not Compression.NONE:
            content = beginning(file, shard.compression, _BEGINNING)
            file = io.BytesIO(content)
            shard = replace(shard, compression=Compression.NONE, start=0, end=len(content))
        return _first_of_avro(file, shard)
    if shard.compression is not Compression.NONE:
        return []  # Parquet's footer is at the end, so the whole file would have to be decompressed
    return _first_of_parquet(file, shard)


def _first_lines(file: BinaryIO, shard: FileShard) -> list[Any]:
    records: list[Any] = []
    size = 0
    for _, line in islice(text_lines(file, shard).lines, MOST_LOOKED_AT):
        if not isinstance(line, bytes):
            continue
        size += len(line)
        if records and size > _BEGINNING:
            break
        if has_more_values(line, shard.bounds.record_values):
            continue
        try:
            records.append(msgspec.json.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue  # the run will reject it
    return records


def _first_of_avro(file: BinaryIO, shard: FileShard) -> list[Any]:
    records: list[Any] = []
    size = 0
    for block in decoded_blocks(file, shard):
        if isinstance(block, DecodedBlock):
            records += block.records
            size += len(repr(block.records))
        if len(records) >= MOST_LOOKED_AT or size > _BEGINNING:
            break
    return records[:MOST_LOOKED_AT]


def _first_of_parquet(file: BinaryIO, shard: FileShard) -> list[Any]:
    # pyarrow is slow to import.
    from goodgain.transforms.core.files.arrow_values import python_values
    from goodgain.transforms.core.files.parquet_row_groups import ParquetRowGroups

    records: list[Any] = []
    try:
        parquet = ParquetRowGroups(file)
        for group in range(parquet.count):
            for batch in parquet.batches(group, parquet.names, shard.bounds, MOST_LOOKED_AT):
                records += python_values(batch.to_struct_array(), escape=True)
                if len(records) >= MOST_LOOKED_AT:
                    return records[:MOST_LOOKED_AT]
    except Exception as error:  # pyarrow raises all kinds of errors on broken bytes
        if isinstance(error, OSError) and error.errno is not None:
            raise  # from the filesystem, not pyarrow
    return records
