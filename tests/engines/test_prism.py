"""State, timers and watermarks of Prism, Beam's local streaming engine."""

import sys
from pathlib import Path

import pytest

from goodgain.pipeline.run.engines.table import ENGINES
from tests.engines.processes import run_to_end
from tests.engines.programs.counting import expected_rows, written_rows

POSITIONS = 2000
ELEMENTS = 20
SAFE = ENGINES["PrismRunner"].arguments

pytestmark = pytest.mark.engines


@pytest.mark.parametrize(
    ("module", "mode"),
    [
        ("tests.engines.programs.batch", []),
        ("tests.engines.programs.stream", ["--streaming"]),
    ],
)
def test_each_row_is_written_once(
    prism: Path, tmp_path: Path, module: str, mode: list[str]
) -> None:
    options = ["--runner=PrismRunner", f"--prism_location={prism}", *SAFE, *mode]
    arguments = [f"--positions={POSITIONS}", f"--output={tmp_path}", *options]
    run_to_end([sys.executable, "-m", module, *arguments], tmp_path / "log", module)
    assert written_rows(tmp_path) == expected_rows(POSITIONS)


@pytest.mark.parametrize(("options", "counted"), [((), "less"), (SAFE, "all")])
def test_state_is_lost_unless_splits_are_off(
    prism: Path, tmp_path: Path, options: tuple[str, ...], counted: str
) -> None:
    module = "tests.engines.programs.slow_state"
    arguments = [f"--elements={ELEMENTS}", f"--output={tmp_path}", "--runner=PrismRunner"]
    command = [sys.executable, "-m", module, *arguments, f"--prism_location={prism}", *options]
    run_to_end(command, tmp_path / "log", module)
    count = int((tmp_path / "counted").read_text())
    assert count == ELEMENTS if counted == "all" else 0 < count < ELEMENTS
