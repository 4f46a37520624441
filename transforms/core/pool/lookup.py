"""Reads the pools of topics from a pool's files on demand (SPEC 9).

All documents of a topic are in the file to which its name hashes. So a topic takes one file, and if
conversations are sorted by file, each file is read once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import msgspec
import xxhash
from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.pool.document import PoolDocument, Topic
from goodgain.transforms.core.pool.matching import TopicPool, labels_of
from goodgain.transforms.core.pool.rows import document_of

_MOST_BYTES = 64 * 2**20  # of documents in the cache for further topics
_MOST_TOPICS = 16  # topics in the cache, ready for scoring
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PoolDocument).decode


class PoolFiles(Struct, frozen=True):
    """The files with the documents of a pool.

    Attributes:
      folder: folder of the files.
      suffix: suffix of their names, which determines the format.
      shards: their number.
      preferred: the annotator whose labels the pool prefers.
    """

    folder: str
    suffix: str
    shards: int
    preferred: str | None = None

    def path(self, shard: int) -> str:
        """The file of a shard."""
        return f"{self.folder}/part-{shard:05d}-of-{self.shards:05d}{self.suffix}"

    def paths(self) -> list[str]:
        """All files, in order."""
        return [self.path(shard) for shard in range(self.shards)]


class PoolUse(Struct, frozen=True):
    """A pool to score with (SPEC 9).

    Attributes:
      topic_attribute: the attribute of topics in the pool; None = each conversation is a topic.
      run: the name under which the scored run was pooled; None = places of all runs count.
    """

    files: PoolFiles
    topic_attribute: str | None
    run: str | None = None


def shard_of(topic: Topic, shards: int) -> int:
    """The number of the file with a topic."""
    return xxhash.xxh3_64_intdigest(topic.key.encode()) % shards


def read_documents(path: str, open_file: Callable[[str], BinaryIO]) -> Iterator[PoolDocument]:
    """The documents of a file, in order.

    Raises:
      GoodGainError: it cannot be read, or is not a file of a pool.
    """
    try:
        with open_file(path) as file:
            yield from map(document_of, _rows(path, file))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise GoodGainError(
            f"The pool's file {path} cannot be read ({type(error).__name__}: {error}); restore it, "
            "or build the pool again."
        ) from None


def _rows(path: str, file: BinaryIO) -> Iterator[dict[str, Any]]:
    if path.endswith(".jsonl"):
        for line in file:
            yield msgspec.json.decode(line)
    elif path.endswith(".avro"):
        import fastavro

        yield from fastavro.reader(file)
    else:
        import pyarrow.parquet as pq  # slow to import

        for batch in pq.ParquetFile(file).iter_batches(batch_size=1_000, use_threads=False):
            yield from batch.to_pylist()


class TopicPools:
    """Looks up the pool of a topic; caches up to 64 MB. Use one per thread."""

    def __init__(
        self, files: PoolFiles, rules: RuleTable, open_file: Callable[[str], BinaryIO]
    ) -> None:
        """Make an empty cache."""
        self._files = files
        self._rules = rules
        self._open = open_file
        self._fingerprinter = Fingerprinter(rules)
        self._shards: OrderedDict[int, dict[Topic, list[bytes]]] = OrderedDict()
        self._bytes: dict[int, int] = {}
        self._ready: OrderedDict[Topic, TopicPool] = OrderedDict()

    def of_topic(self, topic: Topic) -> TopicPool:
        """The pool of a topic; may have no documents.

        Raises:
          GoodGainError: a file of the pool cannot be read.
        """
        ready = self._ready.pop(topic, None)
        if ready is None:
            packed = self._shard(shard_of(topic, self._files.shards)).get(topic, ())
            documents = [_decode(one) for one in packed]
            labels = labels_of(documents, self._files.preferred)
            ready = TopicPool(documents, labels, self._rules, self._fingerprinter)
        self._ready[topic] = ready
        if len(self._ready) > _MOST_TOPICS:
            self._ready.popitem(last=False)
        return ready

    def _shard(self, shard: int) -> dict[Topic, list[bytes]]:
        held = self._shards.pop(shard, None)
        if held is None:
            held = {}
            size = 0
            for document in read_documents(self._files.path(shard), self._open):
                packed = _encode(document)
                size += len(packed)
                held.setdefault(document.topic, []).append(packed)
            self._bytes[shard] = size
        self._shards[shard] = held
        while len(self._shards) > 1 and sum(self._bytes.values()) > _MOST_BYTES:
            gone, _ = self._shards.popitem(last=False)
            del self._bytes[gone]
        return held
