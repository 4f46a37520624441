"""Bounds the memory of one process for data that were read (SPEC 3).

Beam's local engine and the Python functions keep everything in memory until it is scored, and a
small compressed file can expand to any size. Other engines spill to disk, so nothing is counted
there.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import getsizeof

from goodgain.transforms.core.errors import GoodGainError

_LEAST = 512 * 2**20
_ORDINARY_INPUT = 64 * 2**20
_A_FURTHER_BYTE = 16

# Measured on Beam's local engine, in bytes or in copies of the data.
_A_PAYLOAD = 2_000  # bytes per payload, however small
_OF_ALL = 2  # copies of a payload
_OF_A_SHARD = 2  # further copies while a shard is read
_OF_A_KEY = 2  # further copies of a key
_DECODED = 30  # copies of a conversation while it is scored, in which a result may have 4 bytes
_COMPRESSED = 6  # copies of compressed rows to be written
_WRITTEN = 2  # copies of these rows before compression
_A_LABEL = 400  # bytes per external label, in addition to its names
_OF_NAMES = 4  # bytes per character of its names
_EXPLAINED_RESULT = 3_000  # bytes per explained result, in addition to its texts
_EXPLAINED_TEXTS = 6  # copies of its texts
# For the documents of a pool.
_POOLED_EVIDENCE = 80  # copies of the evidence while it is read, in which a result may have 3 bytes
_POOLED_REST = 12  # copies of the other columns while they are read
_POOLED = 10  # copies of a document that is ready for scoring, except for its texts
_POOLED_TEXT = 3  # copies of its texts
_POOLED_ID = 1_500  # further bytes per id
_POOLED_FIELD = 300  # further bytes per field


def default_held(input_bytes: int) -> int:
    """The default of --max-held-bytes for inputs of this size.

    It is several times what ordinary traces take, but small enough that a process stays below 1 GB
    for an input below 64 MiB.
    """
    return _LEAST + _A_FURTHER_BYTE * max(0, input_bytes - _ORDINARY_INPUT)


def pooled_bytes(size: int, texts: int, ids: int, fields: int) -> int:
    """Bytes that a document of a pool takes when it is ready to score with.

    Args:
      size: bytes that it has packed.
      texts: characters of its long texts.
      ids, fields: how many values of these it has.
    """
    named = _POOLED_ID * ids + _POOLED_FIELD * fields
    return _POOLED * (size - texts) + _POOLED_TEXT * texts + named


class HeldBytes:
    """Counts the bytes that stay in memory; one object for all data held at the same time.

    Attributes:
      most: allowed bytes; None = no limit.
    """

    def __init__(self, most: int | None) -> None:
        """Allow `most` bytes, as estimated; None = no limit."""
        self.most = most
        self._bytes = 0
        self._shard = 0

    def begin_shard(self) -> None:
        """Release the bytes of the previous shard, which are no longer copied."""
        self._shard = 0

    def read(self, key: str | None, *parts: str | bytes | None) -> None:
        """Count a payload, or the texts of a rejected row, with the conversation_id.

        Raises:
          GoodGainError: too much is held.
        """
        # Not `len`, since a character has up to 4 bytes.
        size = sum(map(getsizeof, filter(None, parts))) + _OF_A_KEY * getsizeof(key)
        self._bytes += _A_PAYLOAD + _OF_ALL * size
        self._shard += _OF_A_SHARD * size
        self.at_once(self._bytes + self._shard)

    def written(self, compressed: int, size: int) -> None:
        """Count rows that wait to be written, `size` bytes before they were compressed.

        Raises:
          GoodGainError: too much is held.
        """
        self._bytes += _COMPRESSED * compressed + _WRITTEN * size
        self.at_once(self._bytes)

    def label(self, *names: str | None) -> None:
        """Count an external label, or a request for one, with the names by which they are joined.

        Raises:
          GoodGainError: too much is held.
        """
        self.kept(_A_LABEL + _OF_NAMES * sum(map(len, filter(None, names))))

    def explained(self, results: int, size: int) -> None:
        """Count results of an explained conversation, with `size` bytes of texts.

        Raises:
          GoodGainError: too much is held.
        """
        self.kept(_EXPLAINED_RESULT * results + _EXPLAINED_TEXTS * size)

    def kept(self, size: int) -> None:
        """Count `size` bytes of objects.

        Raises:
          GoodGainError: too much is held.
        """
        self._bytes += size
        self.at_once(self._bytes)

    def decoded(self, payloads: Sequence[bytes]) -> None:
        """Check whether a conversation is small enough to be scored; it is released afterwards.

        Raises:
          GoodGainError: it is too large.
        """
        self.at_once(_DECODED * sum(map(len, payloads)))

    def pooled_row(self, evidence: str, *others: str) -> None:
        """See whether a document of a pool can be read, whose columns hold these texts.

        Raises:
          GoodGainError: it takes too much.
        """
        self.at_once(_POOLED_EVIDENCE * len(evidence) + _POOLED_REST * sum(map(len, others)))

    def allows(self, size: int) -> bool:
        """Whether so many bytes can be held for a while."""
        return self.most is None or size <= self.most

    def at_once(self, size: int) -> None:
        """See whether so many bytes can be held for a while.

        Raises:
          GoodGainError: they are too many.
        """
        if not self.allows(size):
            raise GoodGainError(
                "The input decodes to more than one process should hold, about "
                f"{self.most:,} bytes: raise --max-held-bytes if the machine has the memory, give "
                "fewer files, or run on an engine that keeps data on disk (--runner FlinkRunner)."
            )
