"""The first records of a file, decoded but not checked (SPEC 10)."""

from __future__ import annotations

from itertools import islice
from typing import Any, BinaryIO

from goodgain.transforms.core.files.input_formats import INPUT_FORMATS
from goodgain.transforms.core.files.shard import FileShard

MOST_LOOKED_AT = 100  # records


def first_records(file: BinaryIO, shard: FileShard) -> list[Any]:
    """Up to 100 records, or rows of a table, from the beginning of a file.

    There are none if it cannot be decoded. `shard` is the first one of the file.

    Raises:
      OSError: the file cannot be read.
    """
    if shard.problem is not None:
        return []
    return list(islice(INPUT_FORMATS[shard.format].first(file, shard), MOST_LOOKED_AT))
