"""The targets of the Makefile, in a checkout that has only been cloned."""

import os
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


@pytest.mark.parametrize(
    ("target", "work"),
    [("run", "Installing goodgain"), ("native", "Building the native part")],
)
def test_what_takes_minutes_says_so_before_it_begins(target, work, clone):
    printed = subprocess.run(
        ["make", "-n", target], cwd=clone, capture_output=True, text=True, check=True
    ).stdout
    (told,) = (line for line in printed.splitlines() if work in line)
    assert "this takes a minute or two" in told
    begins = printed.index("pip install")
    assert printed.index("this takes a minute or two") < begins


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


@pytest.fixture
def unbuildable(clone, tmp_path):
    """A checkout with an environment in which the native part fails to build."""
    folder = tmp_path / "clone"
    shutil.copytree(clone, folder)
    cargo = tmp_path / "bin/cargo"
    for path, code in ((cargo, 0), (folder / ".venv/bin/python", 1)):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\nexit {code}\n")
        path.chmod(0o755)
    (folder / ".venv/installed").touch()
    return folder, f"{cargo.parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 2)])
def test_a_failed_build_of_the_native_part_is_an_error_only_in_ci(ci, code, unbuildable):
    folder, path = unbuildable
    made = subprocess.run(
        ["make", ".venv/native"],
        cwd=folder,
        env={"PATH": path, "CI": ci},
        capture_output=True,
        text=True,
    )
    assert "The native part could not be built" in made.stdout, made.stderr
    assert made.returncode == code
    assert (folder / ".venv/native").exists() == (code == 0)
