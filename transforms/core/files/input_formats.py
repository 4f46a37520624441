"""The formats of files that users give: a new one is a module that reads it, and its entry here."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.avro_reader import read_avro, read_first_of_avro
from goodgain.transforms.core.files.csv_reader import begins_like_csv, first_rows, read_csv
from goodgain.transforms.core.files.json_array_reader import objects_of_array, read_json_array
from goodgain.transforms.core.files.jsonl_reader import read_first_lines, read_jsonl, why_not_jsonl
from goodgain.transforms.core.files.record_packer import RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.row_readers import (
    rows_of_avro,
    rows_of_csv,
    rows_of_json_lines,
    rows_of_parquet,
)
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.table_row import TableRow

AVRO, PARQUET, JSONL, JSON_ARRAY, CSV = "avro", "parquet", "jsonl", "json array", "csv"


class InputFormat(Struct, frozen=True):
    """A format of traces, and of tables and judgments beside them.

    Attributes:
      begins: whether a file is in this format, by its first (decompressed) bytes.
      read: the records of a shard in file order; see `read_shard_into`.
      first: raw records from the beginning of a file, whose first shard is given.
      rows: the rows of a shard, for tables and judgments, see `row_readers`; None if it has none.
      suffixes: of names of such files, for content that does not tell.
      is_binary: whether files are no text, so that other content cannot be in this format.
      is_split: whether byte ranges of a file can be read apart.
      seeks: whether it reads decompressed files only.
      is_table: whether `first` gives rows of columns rather than records.
      problem: why a file that begins like this cannot be read, in one sentence.
    """

    begins: Callable[[bytes], bool]
    read: Callable[[BinaryIO, FileShard, RecordPacker | None], Iterator[RecordOrPacked]]
    first: Callable[[BinaryIO, FileShard], Iterator[Any]]
    rows: Callable[[BinaryIO, FileShard, Set[str] | None], Iterator[TableRow]] | None = None
    suffixes: tuple[str, ...] = ()
    is_binary: bool = False
    is_split: bool = True
    seeks: bool = False
    is_table: bool = False
    problem: Callable[[bytes], str | None] | None = None


def _read_parquet(
    file: BinaryIO, shard: FileShard, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    # pyarrow is slow to import.
    from goodgain.transforms.core.files.parquet_reader import read_parquet

    return read_parquet(file, shard, packer)


def _first_of_parquet(file: BinaryIO, shard: FileShard) -> Iterator[Any]:
    # pyarrow is slow to import.
    from goodgain.transforms.core.files.parquet_reader import read_first_of_parquet

    return read_first_of_parquet(file, shard)


def _first_character(head: bytes) -> bytes:
    return head.removeprefix(BOM_UTF8).lstrip()[:1]


# In the order in which the beginning of a file is compared with them.
INPUT_FORMATS: Mapping[str, InputFormat] = {
    AVRO: InputFormat(
        lambda head: head.startswith(b"Obj\x01"),
        read_avro,
        read_first_of_avro,
        rows_of_avro,
        (".avro",),
        is_binary=True,
        seeks=True,
    ),
    PARQUET: InputFormat(
        lambda head: head.startswith(b"PAR1"),
        _read_parquet,
        _first_of_parquet,
        rows_of_parquet,
        (".parquet", ".pq"),
        is_binary=True,
        seeks=True,
    ),
    JSON_ARRAY: InputFormat(
        lambda head: _first_character(head) == b"[",
        read_json_array,
        objects_of_array,
        is_split=False,
    ),
    CSV: InputFormat(
        begins_like_csv,
        read_csv,
        first_rows,
        rows_of_csv,
        (".csv", ".tsv"),
        is_split=False,
        is_table=True,
    ),
    JSONL: InputFormat(
        lambda head: _first_character(head) == b"{",
        read_jsonl,
        read_first_lines,
        rows_of_json_lines,
        (".jsonl", ".ndjson", ".json"),
        problem=why_not_jsonl,
    ),
}
