"""Limits on the memory for one piece of a file (SPEC 3)."""

from __future__ import annotations

from msgspec import Struct

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.remedy import Remedy

# A result with every field of SPEC 2, three ids and five further fields has about this many values.
_VALUES_PER_RESULT = 32
_MEMORY_PER_BYTE = 8  # bytes of objects per decoded byte
# Most bytes of lines, or of a compressed file after decompression, that are read to look at names.
BEGINNING_BYTES = 8 * 2**20


class ReadBounds(Struct, frozen=True):
    """Limits of a reader; anything beyond them becomes a rejected row.

    A few kilobytes of a compressed or dictionary-encoded file can expand to gigabytes, so the size
    of a file is not a limit.

    Attributes:
      decoded_bytes: decompressed bytes of one line, Avro block, or page of a Parquet column.
      record_results: number of results of one record.
      rejected_rows: rejected rows of one shard of a file; further ones are counted in a single row.
      remedy: what to do about a block or row group beyond `decoded_bytes`, for messages.

    Example:
      >>> from goodgain import ReadBounds, ReadTraces
      >>> read = ReadTraces(["traces/*.jsonl"], bounds=ReadBounds(record_results=100))
      >>> read.shards.bounds.record_results
      100
    """

    decoded_bytes: int = 64 * 2**20
    record_results: int = 100_000
    rejected_rows: int = 10_000
    remedy: str = f"raise {Remedy('max_decoded_bytes')}"

    @property
    def record_values(self) -> int:
        """Most values of any kind in one record."""
        return _VALUES_PER_RESULT * self.record_results

    @property
    def memory(self) -> int:
        """Most bytes of objects decoded from one piece, as estimated."""
        return _MEMORY_PER_BYTE * self.decoded_bytes


DEFAULT_BOUNDS = ReadBounds()
# For files that no option gives other bounds.
FIXED_BOUNDS = ReadBounds(remedy="write it in smaller blocks or row groups")


def check_results(call: SearchCall, bounds: ReadBounds) -> SearchCall:
    """Check the number of results of a record, and return the record.

    Raises:
      RecordError: it has too many results.
    """
    if len(call.results) > bounds.record_results:
        raise RecordError(
            f"results has {len(call.results):,} entries; at most {bounds.record_results:,} are "
            f"read: raise {Remedy('max_record_results')}.",
            "results",
            call.conversation_id,
        )
    return call
