"""The targets of the Makefile, in a checkout that has only been cloned."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKEFILES = ("Makefile", "tests/engines/engines.mk")
TARGET = re.compile(r"^([a-z-]+):.*  ## ", re.MULTILINE)
TARGETS = [name for file in MAKEFILES for name in TARGET.findall((ROOT / file).read_text())]

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """What make reads of a checkout, without a virtual environment."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "tests/engines").mkdir(parents=True)
    (folder / "configs").mkdir()
    (folder / "native").mkdir()
    natives = [f"native/{name}" for name in ("Cargo.toml", "Cargo.lock", "pyproject.toml")]
    for name in (*MAKEFILES, "pyproject.toml", "setup.py", "configs/constraints.txt", *natives):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_first_installs_what_it_uses(target, clone):
    """`make -n` prints the commands of a target without running them."""
    printed = subprocess.run(
        ["make", "-n", target], cwd=clone, capture_output=True, text=True, check=True
    ).stdout
    commands = [line for line in printed.splitlines() if ".venv/bin/" in line]
    assert all("pip install" in line for line in commands[:1]), printed
    if re.search(r"-m (?:tests|pytest|mkdocs)\b|/(?:ruff|mypy)\b", printed):
        assert "-e '.[dev]'" in printed
