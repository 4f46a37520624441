"""The sdist, which Beam ships to remote workers, and the wheel: complete, and only our package."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.from_spans_to_verdict import follow
from tests.pipeline.init_commands import next_commands, shell, with_programs_of

ROOT = Path(__file__).parents[1]
# PYTHONPATH would make Python import the package of this checkout instead of the installed one.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with an sdist and the wheel built from it; `shipped` holds the sdist for workers."""
    folder = tmp_path_factory.mktemp("built")
    # As `--setup_file ./setup.py` does before Beam sends the package to remote workers.
    subprocess.run(
        [sys.executable, "setup.py", "sdist", "--dist-dir", str(folder / "shipped")],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module", params=["shipped/*.tar.gz", "*.whl"], ids=["shipped", "wheel"])
def environment(request, built, tmp_path_factory):
    """The `bin` of a virtual environment with the package, and with our dependencies."""
    (package,) = built.glob(request.param)
    folder = tmp_path_factory.mktemp("packaging")
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    site = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    ).strip()
    # Python ignores .pth files in a folder that a .pth file adds, so that the new environment sees
    # our dependencies but not our editable installs.
    dependencies = Path(site) / "dependencies.pth"
    dependencies.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--no-deps",
            package,
        ],
        check=True,
        capture_output=True,
        env=ENVIRONMENT,
    )
    return folder / "venv" / "bin"


@pytest.fixture
def user_folder(tmp_path):
    """A user's folder whose own modules have the names of our folders."""
    (tmp_path / "transforms").mkdir()
    for name in ("transforms/__init__.py", "pipeline.py", "configs.py"):
        (tmp_path / name).write_text("raise RuntimeError('a module of the user')\n")
    return tmp_path


def test_runs_in_a_folder_whose_modules_are_named_like_ours(environment, user_folder):
    python = environment / "python"
    sample = ("sample", "--output", "trace.avro", "--conversations", "5", "--bad-share", "0")
    imported_from = subprocess.check_output(
        [python, "-c", "import goodgain; print(goodgain.__file__)"],
        text=True,
        cwd=user_folder,
        env=ENVIRONMENT,
    )
    assert imported_from.startswith(str(environment.parent))
    for command in (
        [python, "-m", "goodgain", *sample],
        [environment / "goodgain", "run", "--input", "trace.avro", "--output", "out"],
    ):
        subprocess.run(command, check=True, capture_output=True, cwd=user_folder, env=ENVIRONMENT)
    manifest = json.loads((user_folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["records"]["balance_holds"]
    assert manifest["conversations"]["total"] == 5
    assert (user_folder / "out" / "report.html").stat().st_size > 500_000  # with its chart library


@pytest.mark.parametrize("environment", ["*.whl"], ids=["wheel"], indirect=True)
def test_commands_of_the_page_lead_from_unlabelled_spans_to_a_gate(environment, tmp_path):
    """The commands of the page run in an empty folder, and each step has the expected outcome."""
    follow(tmp_path, environment, ENVIRONMENT)


@pytest.mark.parametrize("environment", ["*.whl"], ids=["wheel"], indirect=True)
@pytest.mark.parametrize(
    ("kind", "promised"), [("nightly", "2025-03-03: passed"), ("beam", '"metric": "SRE"')]
)
def test_commands_that_init_names_work_from_a_wheel(environment, kind, promised, tmp_path):
    variables = with_programs_of(environment, ENVIRONMENT)
    for command in next_commands(kind, tmp_path, variables):
        code, printed = shell(command, tmp_path, variables)
        assert code == 0, printed
    assert promised in printed


def test_every_module_is_packaged_and_can_be_imported(environment, user_folder):
    """Remote workers import modules to unpickle; `configs` is left out, since it holds scripts."""
    code = (
        "import importlib, pkgutil, goodgain\n"
        "walked = pkgutil.walk_packages(goodgain.__path__, 'goodgain.')\n"
        "names = [module.name for module in walked if '.configs' not in module.name]\n"
        "for name in names:\n"
        "    name.endswith('__main__') or importlib.import_module(name)\n"
        "print(*names)"
    )
    found = subprocess.check_output(
        [environment / "python", "-c", code], text=True, cwd=user_folder, env=ENVIRONMENT
    ).split()
    ours = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in ("transforms", "pipeline")
        for path in (ROOT / folder).rglob("*.py")
    ]
    assert {f"goodgain.{name}" for name in ours if not name.endswith("__init__")} <= set(found)


def test_configurations_and_schemas_are_package_data(environment, user_folder):
    code = (
        "from importlib.resources import files; c = files('goodgain.configs');"
        "folders = (c, c / 'schemas', c / 'data', c / 'deploy');"
        "print(*sorted(path.name for folder in folders for path in folder.iterdir()))"
    )
    listed = subprocess.check_output(
        [environment / "python", "-c", code], text=True, cwd=user_folder, env=ENVIRONMENT
    )
    names = set(listed.split())
    assert {"dedup.yaml", "run.yaml", "trace.avsc", "means.avsc", "sample.avro"} <= names
    assert "trec_session_2013.jsonl.gz" in names
    assert {path.name for path in (ROOT / "configs/deploy").iterdir() if path.is_file()} <= names


def test_wheel_contains_only_the_package(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"goodgain"}
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_sdist_contains_licence_changelog_and_docs_but_no_tests(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "CHANGELOG.md", "README.md", "pyproject.toml"} <= names
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.*")} <= names
    assert not [name for name in names if name.startswith("tests")]


def test_packages_pass_the_strict_checks_of_twine(built):
    packages = [str(path) for path in built.iterdir() if path.is_file()]
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *packages],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
