"""Limits on the memory for one piece of a file (SPEC 3)."""

from __future__ import annotations

from typing import Annotated

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.option import LIMITS, Option, Options
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.remedy import Remedy

# A result with every field of SPEC 2, three ids and five further fields has about this many values.
_VALUES_PER_RESULT = 32
_MEMORY_PER_BYTE = 8  # bytes of objects per decoded byte
# Most bytes of lines, or of a compressed file after decompression, that are read to look at names.
BEGINNING_BYTES = 8 * 2**20


class ReadBounds(Options, frozen=True):
    """Limits of a reader; anything beyond them becomes a rejected row.

    A few kilobytes of a compressed or dictionary-encoded file can expand to gigabytes, so the size
    of a file is not a limit.

    Attributes:
      max_decoded_bytes: decompressed bytes of one line, Avro block, or page of a Parquet column.
      max_record_results: number of results of one record.
      max_rejected_rows: rejected rows of one shard of a file; further ones are counted in a single
        row.
      remedy: what to do about a block or row group beyond `max_decoded_bytes`, for messages.

    Example:
      >>> from goodgain import ReadBounds, ReadTraces
      >>> read = ReadTraces(["traces/*.jsonl"], bounds=ReadBounds(max_record_results=100))
      >>> read.shards.bounds.max_record_results
      100
    """

    max_decoded_bytes: Annotated[
        int,
        Option(
            LIMITS,
            "N",
            "reject a line, Avro block or Parquet page that decompresses to more bytes than this",
            at_least=1,
        ),
    ] = 64 * 2**20
    max_record_results: Annotated[
        int, Option(LIMITS, "N", "reject a record with more results than this", at_least=1)
    ] = 100_000
    max_rejected_rows: Annotated[
        int,
        Option(
            LIMITS,
            "N",
            "most rejected records of each 8 MB that get a row of their own; one row counts the "
            "rest",
            "run",
            at_least=1,
        ),
    ] = 10_000
    remedy: str = "raise " + Remedy("max_decoded_bytes")

    @property
    def record_values(self) -> int:
        """Most values of any kind in one record."""
        return _VALUES_PER_RESULT * self.max_record_results

    @property
    def memory(self) -> int:
        """Most bytes of objects decoded from one piece, as estimated."""
        return _MEMORY_PER_BYTE * self.max_decoded_bytes


DEFAULT_BOUNDS = ReadBounds()
# For files that no option gives other bounds.
FIXED_BOUNDS = ReadBounds(remedy="write it in smaller blocks or row groups")


def is_within_bounds(call: SearchCall, bounds: ReadBounds) -> bool:
    """Whether a decoded record is within the limits of records."""
    return len(call.results) <= bounds.max_record_results


def check_bounds(call: SearchCall, bounds: ReadBounds) -> SearchCall:
    """Check a decoded record, and return it.

    Raises:
      RecordError: it is beyond a limit.
    """
    if not is_within_bounds(call, bounds):
        raise RecordError(
            f"results has {len(call.results):,} entries; at most {bounds.max_record_results:,} are "
            "read: raise " + Remedy("max_record_results") + ".",
            "results",
            call.conversation_id,
        )
    return call
