"""How much memory one piece of a file may ask for (SPEC 3)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.search_call import SearchCall

# A record of SPEC 2 with every field, three ids and five further fields has about as many values.
_VALUES_A_RESULT = 32
_MEMORY_A_BYTE = 8


class ReadBounds(Struct, frozen=True):
    """What a reader takes; what is beyond becomes a rejected row instead of memory.

    A few kilobytes of a compressed or dictionary-encoded file can stand for gigabytes, so the size
    of a file bounds nothing.

    Attributes:
      decoded_bytes: of one line, one Avro block, or one page of a Parquet column, decompressed.
      record_results: results of one record.
      rejected_rows: rejected rows of one shard of a file; further ones are counted in a single row.
    """

    decoded_bytes: int = 64 * 2**20
    record_results: int = 100_000
    rejected_rows: int = 10_000

    @property
    def record_values(self) -> int:
        """Values of any kind in one record."""
        return _VALUES_A_RESULT * self.record_results

    @property
    def memory(self) -> int:
        """Bytes that the objects decoded from one piece may take, as estimated."""
        return _MEMORY_A_BYTE * self.decoded_bytes


DEFAULT_BOUNDS = ReadBounds()


def within(calls: Iterable[SearchCall], bounds: ReadBounds) -> bool:
    """Whether none of some records has more results than it may."""
    most = bounds.record_results
    return all(len(call.results) <= most for call in calls)


def bounded(call: SearchCall, bounds: ReadBounds) -> SearchCall:
    """The record itself.

    Raises:
      RecordError: it has more results than it may.
    """
    if len(call.results) > bounds.record_results:
        raise RecordError(
            f"results has {len(call.results):,} entries; at most {bounds.record_results:,} are "
            "read: raise --max-record-results.",
            "results",
            call.conversation_id,
        )
    return call
