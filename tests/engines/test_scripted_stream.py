"""Closing, late and live rows, panes and stopping on Prism (SPEC 7)."""

import json
import sys
from pathlib import Path

import pytest

from tests.engines.processes import run_to_end

MODULE = "tests.engines.programs.scripted"
SAFE = "--experiments=prism_disable_sdf_split"

pytestmark = pytest.mark.engines


def test_a_scripted_stream_has_the_expected_outputs(prism: Path, tmp_path: Path) -> None:
    """Computed by hand from the script, whose comments explain each step."""
    options = ["--runner=PrismRunner", f"--prism_location={prism}", SAFE, "--streaming"]
    command = [sys.executable, "-m", MODULE, f"--output={tmp_path}", *options]
    run_to_end(command, tmp_path / "log", MODULE)
    given = json.loads((tmp_path / "given").read_text())
    assert of("score", given) == [["b", 40, 1], ["a", 55, 2], ["c", 70, 1], ["b", 128, 1]]
    assert of("late", given) == [["b", 35], ["a", 50]]
    # (conversation, i, revision, calls); a record of iteration 1 arrived after iteration 2.
    assert sorted(of("live", given)) == [
        ["a", 1, 1, 1],
        ["a", 1, 1, 1],
        ["a", 1, 2, 2],
        ["a", 2, 1, 1],
        ["b", 1, 1, 1],
        ["b", 1, 1, 1],
        ["c", 1, 1, 1],
        ["d", 1, 1, 1],
    ]
    # First hour: on time, updated by c, last. Second hour: only the pane due at the stop.
    assert of("pane", given) == [
        [0, 0, False, 2],
        [0, 1, False, 3],
        [0, 2, True, 3],
        [60, 0, False, 1],
    ]


def of(name: str, given: list[list]) -> list[list]:
    return [line[1:] for line in given if line[0] == name]
