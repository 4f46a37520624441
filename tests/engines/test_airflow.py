"""The Airflow DAG in configs/deploy, parsed and run by a real Airflow."""

import os
import sys
from pathlib import Path

import pytest

from tests.engines.install import install_airflow
from tests.engines.processes import run_to_end
from tests.engines.settings import REPOSITORY, Settings
from tests.pipeline.studies.nightly.world import World

pytestmark = pytest.mark.engines
DAG = REPOSITORY / "configs" / "deploy" / "airflow_dag.py"
FOLDER = 'FOLDER = "/opt/goodgain"'


class Airflow:
    """An Airflow with its own database, whose only DAG is that of this repository."""

    def __init__(self, venv: Path, home: Path, folder: Path) -> None:
        """Create the database; `folder` is the folder in which the DAG runs its command."""
        self._home = home
        self._bin = venv / "bin"
        (home / "dags").mkdir(parents=True)
        text = DAG.read_text()
        assert text.count(FOLDER) == 1
        (home / "dags" / DAG.name).write_text(text.replace(FOLDER, f"FOLDER = {str(folder)!r}"))
        self("db", "migrate")

    def __call__(self, *words: str) -> str:
        """Run `airflow` with these arguments, which must succeed, and return its output."""
        log = self._home / "log.txt"
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("PYTHON")
        } | {
            "AIRFLOW_HOME": str(self._home),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            # goodgain is in another environment than Airflow, as the DAG requires.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        run_to_end([str(self._bin / "airflow"), *words], log, f"airflow {words}", environment)
        return log.read_text()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A folder of nightly runs as the DAG expects it, with the traces of one day."""
    world = World(tmp_path / "world")
    world.folder.mkdir()
    world.configure()
    world.make_traces("2025-03-04", 20, seed=1)
    return world


@pytest.fixture
def airflow(settings: Settings, tmp_path: Path, world: World) -> Airflow:
    return Airflow(install_airflow(settings), tmp_path / "airflow", world.folder)


def test_airflow_scores_the_day_before_its_run(airflow: Airflow, world: World) -> None:
    assert "No data found" in airflow("dags", "list-import-errors")
    airflow("dags", "test", "goodgain_nightly", "2025-03-05T02:30:00+00:00")
    assert world.verdicts() == {"2025-03-04": "passed"}
