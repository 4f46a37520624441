"""`goodgain stream` on Flink writes the rows of batch, even if it loses processes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from goodgain.pipeline.run.stream.checkpoint import open_state_folder
from goodgain.transforms.sources.journal_file import read_journal

from tests.engines.cluster import PATIENCE, Cluster, Job
from tests.engines.processes import wait_until
from tests.engines.stream_rows import (
    OPTIONS,
    assert_equals_batch_except_for_repeats,
    assert_last_live_rows_equal_batch,
    assert_means_equal_batch,
    batch_of,
    conversations_in,
    feed_files,
)

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
        self.output.mkdir()
        self._waiting = sorted(sample.iterdir())
        self.files = len(self._waiting)

    def arguments(self) -> tuple[str, ...]:
        """The command line of the stream."""
        return ("stream", f"--input={self.incoming}", f"--output={self.output}", *OPTIONS)

    def deliver(self, until: int) -> None:
        """Deliver files one by one, each once the previous one is taken, up to `until` files."""
        while self.files - len(self._waiting) < until:
            path = self._waiting.pop(0)
            shutil.copy(path, self.incoming / f"_{path.name}")
            (self.incoming / f"_{path.name}").rename(self.incoming / path.name)
            delivered = self.files - len(self._waiting)
            wait_until(lambda: self._taken() >= delivered, PATIENCE, f"{path.name} to be taken")  # noqa: B023

    def _taken(self) -> int:
        return read_journal(str(open_state_folder(str(self.output)))).totals().files


@pytest.fixture
def feed(sample: Path, tmp_path: Path) -> Feed:
    return Feed(sample, tmp_path)


def wait_for_all(output: Path, batch: Path, job: Job) -> None:
    """Return when every conversation of batch is in the stream's files."""
    expected = conversations_in(batch)
    wait_until(
        lambda: conversations_in(output) >= expected,
        PATIENCE,
        f"the last conversations; read {job.log}",
    )
    job.wait_for_checkpoints(3)


def assert_outputs_equal_batch(feed: Feed, batch: Path) -> None:
    assert_equals_batch_except_for_repeats(feed.output, batch)
    assert_means_equal_batch(feed.output, batch)
    assert_last_live_rows_equal_batch(feed.output, batch)


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
    with cluster.streaming("goodgain", *feed.arguments(), folder=tmp_path) as job:
        feed.deliver(feed.files // 2)
        job.wait_for_checkpoints(1)
        lose(cluster, job)
        feed.deliver(feed.files)
        wait_for_all(feed.output, batch, job)
    assert_outputs_equal_batch(feed, batch)


def test_a_stream_continues_from_a_savepoint(
    cluster: Cluster, feed: Feed, batch: Path, tmp_path: Path
) -> None:
    with cluster.streaming("goodgain", *feed.arguments(), folder=tmp_path) as job:
        feed.deliver(feed.files // 2)
        job.wait_for_checkpoints(1)
        saved = cluster.rest.stop_with_savepoint(job.wait_until_running(), tmp_path)
    assert conversations_in(feed.output) < conversations_in(batch)
    more = f"--savepoint_path={saved}"
    with cluster.streaming("goodgain", *feed.arguments(), more, folder=tmp_path) as job:
        feed.deliver(feed.files)
        wait_for_all(feed.output, batch, job)
    assert_outputs_equal_batch(feed, batch)
