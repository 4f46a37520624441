"""A pool of the runs that a module gives as `found`."""

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from tests.pipeline.studies.pool.steps import build, write_runs


@pytest.fixture(scope="module")
def paths(found, tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("runs"), found)


@pytest.fixture(scope="module")
def pool(paths, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pools") / "pool"
    assert build(folder, paths, "--topic", "topic", "--shards", "3") == ExitCode.DONE
    return folder
