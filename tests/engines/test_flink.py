"""State, timers, watermarks and checkpoints on a real Flink cluster that loses processes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.engines.cluster import LOSSLESS, PATIENCE, Cluster, Job
from tests.engines.flink import check_workers_python, worker_environment
from tests.engines.install import install_native
from tests.engines.processes import EngineError, wait_until
from tests.engines.programs.counting import expected_rows, lost_rows, written_rows, wrong_rows
from tests.engines.programs.source import END
from tests.pipeline.runs import SAMPLE

POSITIONS = 8000
STREAM = ("tests.engines.programs.stream", f"--positions={POSITIONS}")

# After the end of the source, the last rows are written with the first or second checkpoint.
CHECKPOINTS_AFTER_THE_END = 5

pytestmark = pytest.mark.engines


def kill_a_task_manager(cluster: Cluster, job: Job) -> None:
    cluster.kill_task_manager_of(job.wait_until_running())


def restart_the_workers(cluster: Cluster, job: Job) -> None:
    cluster.worker_pool.kill()
    cluster.worker_pool.start()


def wait_for_the_end(job: Job, folder: Path) -> None:
    wait_until((folder / END).exists, PATIENCE, f"the end of the source; read {job.log}")
    job.wait_for_checkpoints(CHECKPOINTS_AFTER_THE_END)


def test_batch_writes_each_row_once(cluster: Cluster, tmp_path: Path) -> None:
    module = "tests.engines.programs.batch"
    cluster.submit(
        module, "--positions=2000", f"--output={tmp_path}", folder=tmp_path
    ).wait_until_done()
    assert written_rows(tmp_path) == expected_rows(2000)


@pytest.mark.parametrize("lose", [kill_a_task_manager, restart_the_workers])
def test_stream_writes_each_row_once_after_a_loss(
    cluster: Cluster, tmp_path: Path, lose: Callable[[Cluster, Job], None]
) -> None:
    with cluster.streaming(*STREAM, *LOSSLESS, f"--output={tmp_path}", folder=tmp_path) as job:
        job.wait_for_checkpoints(2)
        lose(cluster, job)
        assert lost_rows(tmp_path, POSITIONS), "the stream was over before the loss"
        job.wait_until_restored()
        wait_for_the_end(job, tmp_path)
    assert not lost_rows(tmp_path, POSITIONS)
    assert not wrong_rows(tmp_path, POSITIONS)


def test_stream_loses_rows_when_bundles_stay_open_at_checkpoints(
    cluster: Cluster, tmp_path: Path
) -> None:
    with cluster.streaming(*STREAM, f"--output={tmp_path}", folder=tmp_path) as job:
        job.wait_for_checkpoints(2)
        kill_a_task_manager(cluster, job)
        job.wait_until_restored()
        wait_for_the_end(job, tmp_path)
    assert lost_rows(tmp_path, POSITIONS)
    assert not wrong_rows(tmp_path, POSITIONS)


def test_stream_continues_from_a_savepoint_without_losing_rows(
    cluster: Cluster, tmp_path: Path
) -> None:
    arguments = (*STREAM, *LOSSLESS, f"--output={tmp_path}")
    with cluster.streaming(*arguments, folder=tmp_path) as job:
        job.wait_for_checkpoints(2)
        saved = cluster.rest.stop_with_savepoint(job.wait_until_running(), tmp_path)
    assert lost_rows(tmp_path, POSITIONS), "the stream was over before it was stopped"
    with cluster.streaming(*arguments, f"--savepoint_path={saved}", folder=tmp_path) as job:
        wait_for_the_end(job, tmp_path)
    assert not lost_rows(tmp_path, POSITIONS)
    assert not wrong_rows(tmp_path, POSITIONS)


def test_100_000_conversations_fit_into_the_heap_of_a_task_manager(
    cluster: Cluster, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.avro"
    options = SampleConfig(conversations=100_000, iterations=2, results=2, bad_share=0.0)
    write_sample(options, str(trace))
    words = ("--input", str(trace), "--output", str(tmp_path / "out"))
    cluster.goodgain("run", *words, parallelism=1)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["conversations"]["total"] == 100_000


def test_a_worker_pool_with_the_wrong_python_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to("/usr/bin/false")
    environment = worker_environment(cluster.settings)
    wrong = environment | {"PATH": f"{tmp_path}:{environment['PATH']}"}
    with pytest.raises(EngineError, match=str(tmp_path / "python")):
        check_workers_python(cluster.settings, wrong)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="the native part is built with cargo")
def test_workers_with_the_native_part_read_with_it(cluster: Cluster, tmp_path: Path) -> None:
    install_native(cluster.settings)
    words = (f"--input={SAMPLE}", f"--output={tmp_path / 'out'}")
    cluster.goodgain("run", *words)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert (manifest["engine"], manifest["reading"]) == ("FlinkRunner", "native")
