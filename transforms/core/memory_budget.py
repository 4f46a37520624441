"""Bounds the memory that one process takes for data it has read (SPEC 3).

Beam's local engine and the Python functions keep everything in memory until it is scored, and a
small compressed file can expand to any size. Other engines spill to disk, so there is no limit
there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from sys import getsizeof

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.remedy import Remedy, join

_SMALLEST_DEFAULT = 512 * 2**20
_ORDINARY_INPUT = 64 * 2**20
_PER_FURTHER_BYTE = 16

# Measured on Beam's local engine, in bytes or in copies of the data.
_PAYLOAD_BYTES = 2_000  # bytes per payload, in addition to its copies
_PAYLOAD_COPIES = 2  # copies of a payload
_SHARD_COPIES = 2  # further copies while a shard is read
_KEY_COPIES = 2  # further copies of a key
_CONVERSATION_COPIES = 30  # copies of payloads while they are scored; a result may take 4 bytes
_COMPRESSED_COPIES = 6  # copies of compressed rows to be written
_UNCOMPRESSED_COPIES = 2  # copies of these rows as they were before compression
_LABEL_BYTES = 400  # bytes per external label, in addition to its names
_NAME_COPIES = 4  # copies of its names
_EXPLAINED_RESULT_BYTES = 3_000  # bytes per explained result, in addition to its texts
_EXPLAINED_TEXT_COPIES = 6  # copies of its texts
# For the documents of a pool.
_EVIDENCE_COPIES = 80  # copies of the evidence while it is read; a result may take 3 bytes there
_OTHER_COLUMN_COPIES = 12  # copies of the other columns while they are read
_DOCUMENT_COPIES = 10  # copies of a document that is ready for scoring, except for its texts
_DOCUMENT_TEXT_COPIES = 3  # copies of its texts
_DOCUMENT_ID_BYTES = 1_500  # further bytes per id
_DOCUMENT_FIELD_BYTES = 300  # further bytes per field

# What fills memory, for messages.
TRACES = "traces"
_WRITTEN_ROWS = "rows to be written"
CONVERSATION = "records of one conversation"
_POOL_DOCUMENTS = "documents of " + Remedy("pool")
_GROWING_WITH_FILES = frozenset((TRACES, _WRITTEN_ROWS))
_NAMED_SHARE = 0.1  # of all bytes, from which what takes them is named


def _encoded_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def default_memory_budget(input_bytes: int) -> int:
    """The default of --max-held-bytes for inputs of this size.

    It is several times what ordinary traces take, but small enough that a process takes less than
    1 GB for an input below 64 MiB.
    """
    return _SMALLEST_DEFAULT + _PER_FURTHER_BYTE * max(0, input_bytes - _ORDINARY_INPUT)


def rows_of(option: str) -> str:
    """What a message calls the rows of a table that an option, like `labels`, names."""
    return "rows of " + Remedy(option)


def pool_document_bytes(size: int, texts: int, ids: int, fields: int) -> int:
    """Estimated bytes of a document of a pool that is ready for scoring.

    Args:
      texts: number of characters of its long texts.
      ids, fields: number of their values.
    """
    named = _DOCUMENT_ID_BYTES * ids + _DOCUMENT_FIELD_BYTES * fields
    return _DOCUMENT_COPIES * (size - texts) + _DOCUMENT_TEXT_COPIES * texts + named


class MemoryBudget:
    """Estimates the bytes in memory; its methods raise GoodGainError if they exceed a limit.

    Use one object for all data that are held at the same time.

    Attributes:
      limit: allowed bytes; None = no limit.
      on_engine: whether this process is a worker of an engine, so that another engine may help.
    """

    def __init__(self, limit: int | None, *, on_engine: bool = False) -> None:
        self.limit = limit
        self.on_engine = on_engine
        self._bytes = 0
        self._bytes_of: Counter[str] = Counter()
        self._shard_bytes = 0

    def begin_shard(self) -> None:
        """Release the further copies of the previous shard."""
        self._shard_bytes = 0

    def count_read(self, key: str | None, *parts: str | bytes | None, what: str = TRACES) -> None:
        """Count a payload, or the texts of a rejected row, and its conversation_id.

        Here and below, `what` holds the bytes, for messages: `TRACES` or like `rows_of("labels")`.
        """
        # Not `len`, since a character has up to 4 bytes.
        size = sum(map(getsizeof, filter(None, parts))) + _KEY_COPIES * getsizeof(key)
        self._shard_bytes += _SHARD_COPIES * size
        self.count(_PAYLOAD_BYTES + _PAYLOAD_COPIES * size, what)

    def count_rows(self, compressed: int, size: int) -> None:
        """Count rows that wait to be written, `size` bytes before they were compressed."""
        self.count(_COMPRESSED_COPIES * compressed + _UNCOMPRESSED_COPIES * size, _WRITTEN_ROWS)

    def count_label(self, *names: str | None, what: str) -> None:
        """Count an external label, or a request for one, with the names that join them."""
        self.count_labels(1, filter(None, names), what)

    def count_labels(self, number: int, names: Iterable[str], what: str) -> None:
        """Count several of what `count_label` counts, with the names of all of them."""
        self.count(_LABEL_BYTES * number + _NAME_COPIES * _encoded_bytes("".join(names)), what)

    def count_explained(self, results: int, size: int) -> None:
        """Count results of an explained conversation, with `size` bytes of texts."""
        self.count(_EXPLAINED_RESULT_BYTES * results + _EXPLAINED_TEXT_COPIES * size, CONVERSATION)

    def count(self, size: int, what: str = TRACES) -> None:
        """Count `size` bytes of objects, without copies."""
        self._bytes += size
        self._bytes_of[what] += size
        held = self._bytes + self._shard_bytes
        if not self.allows(held):
            least = _NAMED_SHARE * self._bytes
            raise self._error([what for what, of in self._bytes_of.most_common() if of >= least])

    def check_conversation(self, payloads: Sequence[bytes]) -> None:
        """Check that a conversation is small enough to be scored; its bytes are not counted."""
        self._check(_CONVERSATION_COPIES * sum(map(len, payloads)), CONVERSATION)

    def check_pool_row(self, evidence: str, *others: str) -> None:
        """Check that a document of a pool can be read, given the texts of its columns."""
        self.check_pool(
            _EVIDENCE_COPIES * len(evidence) + _OTHER_COLUMN_COPIES * sum(map(len, others))
        )

    def check_pool(self, size: int) -> None:
        """Check that documents of a pool that take `size` bytes may be held."""
        self._check(size, _POOL_DOCUMENTS)

    def allows(self, size: int) -> bool:
        """Whether `size` bytes may be used for a short time."""
        return self.limit is None or size <= self.limit

    def _check(self, size: int, what: str) -> None:
        if not self.allows(size):
            raise self._error([what])

    def _error(self, held: Sequence[str]) -> GoodGainError:
        *others, last = held
        subject = join(", the ", others) + " and the " + last if others else last
        remedies = ["raise " + Remedy("max_held_bytes") + " if the machine has the memory"]
        if not _GROWING_WITH_FILES.isdisjoint(held):
            remedies.append("give fewer files")
        if self.on_engine:
            engine = Remedy("runner", "FlinkRunner")
            remedies.append("run on an engine that keeps data on disk (" + engine + ")")
        *first, final = remedies
        advice = join(", ", first) + ", or " + final if first else final
        return GoodGainError(
            "The "
            + subject
            + " take more memory than one process should hold, "
            + f"about {self.limit:,} bytes: "
            + advice
            + "."
        )
