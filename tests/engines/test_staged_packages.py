"""What `--extra_package` brings to workers that install the packages staged with a job."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer

from goodgain.pipeline.results.exit_codes import ExitCode
from tests.engines.cluster import Cluster
from tests.engines.flink import boot_command
from tests.engines.install import build_boot, build_native
from tests.engines.settings import Settings
from tests.pipeline.runs import SAMPLE, contents, main

# The bytes of Parquet depend on the version of pyarrow, which workers may not share.
FORMAT = "--format=avro"

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="the wheel is built with cargo"),
    pytest.mark.skipif(shutil.which("go") is None, reason="Beam's boot program is built with Go"),
]


@pytest.fixture(scope="module")
def wheel(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_native(settings, tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def command(settings: Settings, tmp_path: Path) -> Path:
    return boot_command(settings, build_boot(settings), tmp_path)


@pytest.fixture
def process(command: Path) -> tuple[str, ...]:
    """Workers that TaskManagers start themselves."""
    config = json.dumps({"command": str(command)})
    return ("--environment_type=PROCESS", f"--environment_config={config}")


@pytest.fixture
def pool(command: Path) -> Iterator[tuple[str, ...]]:
    """Workers of a pool such as the one in Beam's containers."""
    # Each job has its own pool, and the workers of one TaskManager, so their names do not repeat.
    address, server = BeamFnExternalWorkerPoolServicer.start(
        use_process=True, container_executable=str(command)
    )
    yield ("--environment_type=EXTERNAL", f"--environment_config={address}")
    server.stop(None)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("local") / "out"
    assert main(["run", f"--input={SAMPLE}", f"--output={output}", FORMAT]) == ExitCode.DONE
    return output


@pytest.mark.parametrize("is_staged", [True, False])
@pytest.mark.parametrize("kind", ["process", "pool"])
def test_workers_install_and_use_a_staged_wheel(
    cluster: Cluster,
    wheel: Path,
    local: Path,
    tmp_path: Path,
    kind: str,
    is_staged: bool,
    request: pytest.FixtureRequest,
) -> None:
    output = tmp_path / "out"
    words = ("run", f"--input={SAMPLE}", f"--output={output}", FORMAT)
    staged = (f"--extra_package={wheel}",) if is_staged else ()
    cluster.goodgain(*words, *staged, parallelism=1, workers=request.getfixturevalue(kind))
    # Without native workers it begins with `python`; the rest is about the submitting process.
    reading = json.loads((output / "manifest.json").read_bytes())["reading"]
    assert reading == "native" if is_staged else reading.startswith("python")
    assert contents(output) == contents(local)
