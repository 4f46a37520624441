"""`python -m tests.bench.pools [OUTPUT] [TOPICS...]`: the memory of a run with a pool.

The run is the same each time, with two conversations for each of a hundred topics. Only the number
of topics in the pool grows, and with it the number of files, as with `pool build`.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from goodgain.pipeline.results.folder import write_manifest
from goodgain.pipeline.results.pool_manifest import (
    POOL,
    LastBuild,
    PoolContent,
    PooledRun,
    PoolManifest,
)
from goodgain.transforms.core.pool.document import PoolDocument, PooledPlace, Topic
from goodgain.transforms.core.pool.document_rows import document_row
from goodgain.transforms.core.pool.files import PoolFiles, shard_of
from goodgain.transforms.core.records.search_call import Result
from tests.bench.processes import cost_of_run
from tests.bench.rows import Row
from tests.bench.table import store

TOPICS = (4_000, 8_000)
DOCUMENTS = 500  # per topic
TOPICS_PER_FILE = 64  # about as many as in 32 MiB of traces
SCORED = 100  # topics of the run
CONVERSATIONS = 2  # per topic
RETRIEVED = 20  # documents per conversation
TEXT = "Some words that say what the document is about, of many. " * 7
_encode = msgspec.json.Encoder().encode


def main(output: Path, topics: Sequence[int]) -> None:
    """Measure, print, store `pools.md` in the output folder."""
    with tempfile.TemporaryDirectory() as name:
        store(_rows(Path(name), topics), output / "pools.md")


def _rows(folder: Path, topics: Sequence[int]) -> Iterator[Row]:
    trace = _trace(folder / "trace.jsonl")
    without = cost_of_run(trace, folder / "out", "--allow-unlabelled")
    yield Row("without a pool: peak", without.peak_bytes / 2**20, "MiB")
    for count in topics:
        pool = folder / "pool"
        size = _pool(pool, count)
        cost = cost_of_run(trace, folder / "out", "--pool", str(pool), "--run-name", "a")
        name = f"{count:,} topics x {DOCUMENTS} documents"
        yield Row(f"{name}: pool on disk", size / 2**20, "MiB")
        yield Row(f"{name}: peak", cost.peak_bytes / 2**20, "MiB")
        yield Row(f"{name}: CPU", cost.cpu, "s")


def _result(topic: int, number: int) -> Result:
    place = f"{topic}/{number}"
    return Result(
        ids={"doc_id": place},
        url=f"https://example.org/{place}",
        title=f"Document {number} of topic {topic}",
        snippet=f"{place} {TEXT}",
    )


def _trace(path: Path) -> Path:
    with path.open("wb") as file:
        for topic in range(SCORED):
            for conversation in range(CONVERSATIONS):
                call = {
                    "conversation_id": f"{topic}-{conversation}",
                    "iteration": 1,
                    "attributes": {"topic": str(topic)},
                    "results": [_result(topic, number) for number in range(RETRIEVED)],
                }
                file.write(_encode(call) + b"\n")
    return path


def _pool(folder: Path, topics: int) -> int:
    """Write a pool like `pool build`, and return its size in bytes."""
    documents = folder / "documents_0001"
    documents.mkdir(parents=True, exist_ok=True)
    for old in documents.iterdir():
        old.unlink()
    files = PoolFiles(str(documents), ".jsonl", -(-topics // TOPICS_PER_FILE))
    with ExitStack() as stack:
        opened = [stack.enter_context(open(path, "wb")) for path in files.paths()]
        for topic in range(topics):
            file = opened[shard_of(Topic(str(topic)), files.shards)]
            file.writelines(
                _encode(document_row(_document(topic, number))) + b"\n"
                for number in range(DOCUMENTS)
            )
    number = topics * DOCUMENTS
    manifest = PoolManifest(
        kind=POOL,
        digest="0",
        topic="topic",
        documents=documents.name,
        format="jsonl",
        shards=files.shards,
        preferred=None,
        runs={"a": PooledRun((), topics * CONVERSATIONS, number, number)},
        content=PoolContent(topics, number, number, number),
        last_build=LastBuild(0, 0, 0, False, topics * CONVERSATIONS, 0, number, 0, 0, {}),
        label_spans={},
        rules_digest="",
        unit="document",
        versions={},
        started=datetime.now(UTC),
        finished=datetime.now(UTC),
    )
    write_manifest(str(folder), manifest)
    return sum(path.stat().st_size for path in documents.iterdir())


def _document(topic: int, number: int) -> PoolDocument:
    seen = [
        PooledPlace(
            "a", f"{topic}-{conversation}", number, 1, 1, 1, None, None, number + 1, 0, None
        )
        for conversation in range(CONVERSATIONS if number < RETRIEVED else 1)
    ]
    return PoolDocument(
        topic=Topic(str(topic)),
        number=number + 1,
        document=f"{topic}-{number}",
        evidence=(_result(topic, number),),
        places=tuple(seen),
        votes=(),
        given={"ann": number % 5},
    )


if __name__ == "__main__":
    topics = [int(argument) for argument in sys.argv[2:]]
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/bench"), topics or TOPICS)
