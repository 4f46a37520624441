"""Reads the documents of topics from a pool's files on demand (SPEC 9).

A hash of the topic determines the file that holds all of its documents. So a topic needs only one
file, and if conversations are sorted by file, each file is read once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from io import SEEK_END
from typing import Any, BinaryIO

import msgspec
import xxhash
from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.avro_reader import decode_blocks
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.compression import Compression
from goodgain.transforms.core.files.input_formats import AVRO
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.memory_budget import MemoryBudget, pool_document_bytes
from goodgain.transforms.core.pool.document import PoolDocument, Topic
from goodgain.transforms.core.pool.document_rows import document_of
from goodgain.transforms.core.pool.matching import TopicPool
from goodgain.transforms.core.records.rejection import RejectedRecord

_MOST_CACHED_BYTES = 64 * 2**20  # of encoded documents, kept for other topics in the same files
_MOST_READY_TOPICS = 16  # topics with decoded documents, ready for scoring
_DOCUMENT_OVERHEAD = 100  # bytes of a cached document in addition to its encoding
_COPIES_WHILE_READ = 2  # copies of a file's documents while it is read: its pages and their rows
_ROWS_AT_ONCE = 128
_LIMIT_DIVISOR = 2  # a page or block of a file may take this fraction of the limit: 1 / 2
_UNBOUNDED = 2**40
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PoolDocument).decode


class PoolFiles(Struct, frozen=True):
    """The files with the documents of a pool.

    Attributes:
      folder: folder of the files.
      suffix: suffix of their names, which determines the format.
      shards: number of files.
      preferred: the annotator whose labels the pool prefers.

    Example: see `PoolUse`.
    """

    folder: str
    suffix: str
    shards: int
    preferred: str | None = None

    def path(self, shard: int) -> str:
        """The file of a shard."""
        return f"{self.folder}/part-{shard:05d}-of-{self.shards:05d}{self.suffix}"

    @property
    def pattern(self) -> str:
        """The pattern that all files match."""
        return f"{self.folder}/part-*{self.suffix}"

    def paths(self) -> list[str]:
        """All files, in order."""
        return [self.path(shard) for shard in range(self.shards)]


class PoolUse(Struct, frozen=True):
    """A pool to score with.

    Attributes:
      files: the files with its documents.
      topic_attribute: the attribute that holds the topic; None = each conversation is a topic.
      run: the scored run's name in the pool, if only places of that run count; None = places of
        all runs count.
      aspects: whether the pool says which aspects documents cover.

    Example:
      >>> from goodgain import PoolFiles, PoolUse, Scoring
      >>> files = PoolFiles("pool/documents", ".avro", shards=16)
      >>> Scoring.default(pool=PoolUse(files, topic_attribute="query_id")).pool.files.paths()[0]
      'pool/documents/part-00000-of-00016.avro'
    """

    files: PoolFiles
    topic_attribute: str | None
    run: str | None = None
    aspects: bool = False


def shard_of(topic: Topic, shards: int) -> int:
    """The index of the file that holds a topic."""
    return xxhash.xxh3_64_intdigest(topic.key.encode()) % shards


def read_documents(
    path: str, open_file: Callable[[str], BinaryIO], budget: MemoryBudget
) -> Iterator[PoolDocument]:
    """The documents of a file, in order.

    Raises:
      GoodGainError: the file cannot be read or is not part of a pool, or a document is too large.
    """
    try:
        with open_file(path) as file:
            for row in _rows_of(path, file, budget):
                budget.check_pool_row(row["evidence"], row["places"], row["votes"], row["given"])
                yield document_of(row)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise GoodGainError(
            f"The pool's file {path} cannot be read ({type(error).__name__}: {error}); restore it, "
            "or build the pool again."
        ) from None


def _rows_of(path: str, file: BinaryIO, budget: MemoryBudget) -> Iterator[dict[str, Any]]:
    bounds = ReadBounds((budget.limit or _UNBOUNDED) // _LIMIT_DIVISOR)
    if path.endswith(".jsonl"):
        for line in file:
            yield msgspec.json.decode(line)
    elif path.endswith(".avro"):
        size = file.seek(0, SEEK_END)
        shard = FileShard(path, AVRO, Compression.NONE, 0, size, bounds=bounds)
        for block in decode_blocks(file, shard):
            if isinstance(block, RejectedRecord):
                raise ValueError(f"{block.position}: {block.reason}")
            yield from block.records
    else:
        # pyarrow is slow to import.
        from goodgain.transforms.core.files.parquet_pages import DamagedPagesError
        from goodgain.transforms.core.files.parquet_row_groups import ParquetRowGroups
        from goodgain.transforms.core.files.parquet_row_sizes import RowGroupTooLargeError

        parquet = ParquetRowGroups(file)
        for group in range(parquet.count):
            try:
                for batch in parquet.batches(group, parquet.names, bounds, _ROWS_AT_ONCE):
                    yield from batch.to_pylist()
            except RowGroupTooLargeError as error:
                budget.check_pool(_UNBOUNDED)
                raise ValueError(f"row group {group}: {error}") from None
            except DamagedPagesError as error:
                raise ValueError(f"row group {group}: {error}") from None


class TopicPools:
    """Looks up the pool of a topic, and caches up to 64 MB of files. Not for several threads."""

    def __init__(
        self,
        files: PoolFiles,
        rules: RuleTable,
        open_file: Callable[[str], BinaryIO],
        budget: MemoryBudget,
    ) -> None:
        """Make an empty cache; `budget` limits its memory."""
        self._files = files
        self._rules = rules
        self._open = open_file
        self._budget = budget
        self._fingerprinter = Fingerprinter(rules)
        self._cached_shards: OrderedDict[int, dict[Topic, list[bytes]]] = OrderedDict()
        self._shard_bytes: dict[int, int] = {}
        # The decoded pool of each topic, and its approximate size in bytes.
        self._ready: OrderedDict[Topic, tuple[TopicPool, int]] = OrderedDict()

    def of_topic(self, topic: Topic) -> TopicPool:
        """The pool of a topic, possibly without documents.

        Raises:
          GoodGainError: a file of the pool cannot be read, or its documents take too much memory.
        """
        ready = self._ready.pop(topic, None)
        if ready is None:
            ready = self._make_ready(topic)
        self._ready[topic] = ready
        return ready[0]

    def _make_ready(self, topic: Topic) -> tuple[TopicPool, int]:
        packed = self._shard(shard_of(topic, self._files.shards)).get(topic, ())
        documents = []
        size, cached_bytes = 0, sum(self._shard_bytes.values())
        for row in packed:
            document = _decode(row)
            documents.append(document)
            size += _size(document, len(row))
            self._budget.check_pool(cached_bytes + size)
        while self._ready and (
            len(self._ready) >= _MOST_READY_TOPICS
            or not self._budget.allows(
                cached_bytes + size + sum(of_other for _, of_other in self._ready.values())
            )
        ):
            self._ready.popitem(last=False)
        preferred = self._files.preferred
        return TopicPool(documents, self._rules, self._fingerprinter, preferred), size

    def _shard(self, shard: int) -> dict[Topic, list[bytes]]:
        by_topic = self._cached_shards.pop(shard, None)
        if by_topic is None:
            by_topic = {}
            size = 0
            for document in read_documents(self._files.path(shard), self._open, self._budget):
                packed = _encode(document)
                size += len(packed) + _DOCUMENT_OVERHEAD
                self._budget.check_pool(_COPIES_WHILE_READ * size)
                by_topic.setdefault(document.topic, []).append(packed)
            self._shard_bytes[shard] = size
        self._cached_shards[shard] = by_topic
        while len(self._cached_shards) > 1 and sum(self._shard_bytes.values()) > _MOST_CACHED_BYTES:
            evicted, _ = self._cached_shards.popitem(last=False)
            del self._shard_bytes[evicted]
        return by_topic


def _size(document: PoolDocument, packed: int) -> int:
    """The approximate size of a document in a `TopicPool`, in bytes."""
    texts = ids = fields = 0
    for result in document.evidence:
        for text in (result.url, result.title, result.snippet, result.content):
            texts += len(text or "")
        ids += _value_count(result.ids)
        fields += _value_count(result.fields)
    return pool_document_bytes(packed, texts, ids, fields)


def _value_count(named: Mapping[str, str | list[str]]) -> int:
    return sum(1 if isinstance(value, str) else len(value) for value in named.values())
