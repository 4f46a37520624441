"""`goodgain stream` on Flink writes each row of batch once, even if it loses processes."""

import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.formats import FORMATS
from tests.engines.cluster import PATIENCE, Cluster, Job
from tests.engines.processes import wait_until
from tests.engines.stream_rows import (
    OPTIONS,
    assert_equals_batch,
    assert_last_live_rows_equal_batch,
    assert_means_equal_batch,
    batch_of,
    conversations_in,
    feed_files,
)
from tests.pipeline.runs import rows

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files, each with ten minutes of records."""
    folder = tmp_path_factory.mktemp("sample")
    feed_files(folder)
    return folder


@pytest.fixture(scope="module")
def batch(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of batch for these files."""
    return batch_of(sample, tmp_path_factory.mktemp("batch") / "out")


class Feed:
    """The files of a stream, which arrive in its folder one after the other.

    Attributes:
      incoming: the folder that is watched.
      output: the folder to which the stream writes.
    """

    def __init__(self, sample: Path, folder: Path) -> None:
        self.incoming = folder / "incoming"
        self.output = folder / "out"
        self.incoming.mkdir()
        self._waiting = sorted(sample.iterdir())
        self.files = len(self._waiting)

    def arguments(self) -> tuple[str, ...]:
        """The command line of the stream."""
        return ("stream", f"--input={self.incoming}", f"--output={self.output}", *OPTIONS)

    def deliver(self, until: int, job: Job) -> None:
        """Deliver files one by one, each after a checkpoint, up to `until` files."""
        while self.files - len(self._waiting) < until:
            path = self._waiting.pop(0)
            shutil.copy(path, self.incoming / f"_{path.name}")
            (self.incoming / f"_{path.name}").rename(self.incoming / path.name)
            job.wait_for_checkpoints(1)


class Reader:
    """Reads a dataset while it grows, each file once, as a program that follows the folder does.

    Attributes:
      rows: the rows of all files so far.
      changed: files that have changed or disappeared since they were read.
    """

    def __init__(self, output: Path, dataset: str) -> None:
        self.rows: list[Row] = []
        self.changed: list[Path] = []
        self._folder = output / dataset
        self._seen: dict[Path, bytes] = {}

    def follow(self) -> None:
        """Read new files, and look at the others again."""
        for path in sorted(self._folder.glob("part-*")):
            content = path.read_bytes()
            if path not in self._seen:
                self._seen[path] = content
                self.rows.extend(FORMATS["avro"].read(BytesIO(content)))
        for path, content in self._seen.items():
            if not path.is_file() or path.read_bytes() != content:
                self.changed.append(path)


@pytest.fixture
def feed(sample: Path, tmp_path: Path) -> Feed:
    return Feed(sample, tmp_path)


def wait_for_all(feed: Feed, batch: Path, job: Job, readers: list[Reader]) -> None:
    """Return when the stream's files have as many rows as batch, and have had time to get more."""

    def is_complete() -> bool:
        for reader in readers:
            reader.follow()
        return all(
            len(rows(feed.output, name)) >= len(rows(batch, name))
            for name in ("conversations", "iterations", "rejected")
        )

    wait_until(is_complete, PATIENCE, f"the last rows; read {job.log}")
    job.wait_for_checkpoints(5)  # a file appears within two
    for reader in readers:
        reader.follow()


def assert_outputs_equal_batch(feed: Feed, batch: Path, readers: list[Reader]) -> None:
    assert_equals_batch(feed.output, batch)
    assert_means_equal_batch(feed.output, batch)
    assert_last_live_rows_equal_batch(feed.output, batch)
    for reader in readers:
        assert reader.changed == []
    conversations, iterations = readers
    ids = [row["conversation_id"] for row in conversations.rows]
    assert sorted(ids) == sorted(row["conversation_id"] for row in rows(batch, "conversations"))
    assert len(iterations.rows) == len(rows(batch, "iterations"))


def lose_nothing(cluster: Cluster, job: Job) -> None:
    pass


def kill_a_task_manager(cluster: Cluster, job: Job) -> None:
    cluster.kill_task_manager_of(job.wait_until_running())
    job.wait_until_restored()


def restart_the_workers(cluster: Cluster, job: Job) -> None:
    cluster.worker_pool.kill()
    cluster.worker_pool.start()
    job.wait_until_restored()


@pytest.mark.parametrize("lose", [lose_nothing, kill_a_task_manager, restart_the_workers])
def test_a_stream_writes_the_rows_of_batch(
    cluster: Cluster, feed: Feed, batch: Path, tmp_path: Path, lose: Callable[[Cluster, Job], None]
) -> None:
    readers = [Reader(feed.output, name) for name in ("conversations", "iterations")]
    with cluster.streaming("goodgain", *feed.arguments(), folder=tmp_path) as job:
        feed.deliver(feed.files // 2, job)
        lose(cluster, job)
        feed.deliver(feed.files, job)
        wait_for_all(feed, batch, job, readers)
    assert_outputs_equal_batch(feed, batch, readers)


def test_a_stream_continues_from_a_savepoint(
    cluster: Cluster, feed: Feed, batch: Path, tmp_path: Path
) -> None:
    readers = [Reader(feed.output, name) for name in ("conversations", "iterations")]
    with cluster.streaming("goodgain", *feed.arguments(), folder=tmp_path) as job:
        feed.deliver(feed.files // 2, job)
        saved = cluster.rest.stop_with_savepoint(job.wait_until_running(), tmp_path)
    assert conversations_in(feed.output) < conversations_in(batch)
    more = f"--savepoint_path={saved}"
    with cluster.streaming("goodgain", *feed.arguments(), more, folder=tmp_path) as job:
        feed.deliver(feed.files, job)
        wait_for_all(feed, batch, job, readers)
    assert_outputs_equal_batch(feed, batch, readers)
