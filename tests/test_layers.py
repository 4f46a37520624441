"""Imports go in one direction: core <- transforms <- pipeline, without cycles between folders."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("transforms", "pipeline", "configs")
MODULES = sorted(
    path.relative_to(ROOT) for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")
)
TESTS = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py"))
ABOVE = {
    "transforms/core": ("goodgain.pipeline", "goodgain.transforms", "apache_beam", "tests"),
    "transforms": ("goodgain.pipeline", "tests"),
    "pipeline": ("tests",),
    "configs": ("tests",),
}
# How many rooms of the pipeline know which others. One more has to be worth it: look first whether
# what is imported lies in the wrong room.
MOST_ARROWS_AMONG_ROOMS = 40
# Whoever runs one of these rooms hands its views in.
ROOMS_WITHOUT_VIEWS = (
    "convert", "document", "inputs", "results", "run", "sample", "settings", "studies",
)  # fmt: skip
VIEWS = ("views", "document.terminal", "document.html", "document.markdown", "document.junit")
MOST_LINES = 250  # of a module: more are two responsibilities


def is_below(name, package):
    return name == package or name.startswith(f"{package}.")


@cache
def imported_names(path):
    """The full names that a module imports, at its top or anywhere else."""
    return tuple(_find_imported(path))


def statements(node):
    """All statements below a node; expressions are skipped, since they contain no imports."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, ()):
            yield child
            yield from statements(child)


def _find_imported(path):
    for node in statements(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_beam(*modules):
    """Whether a fresh interpreter has Beam loaded after importing these modules."""
    names = "".join(f"import {name}\n" for name in modules)
    script = f"import sys\n{names}print('apache_beam' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {"True": True, "False": False}[done.stdout.strip()]


def module_name(path):
    parts = path.with_suffix("").parts
    return ".".join(("goodgain", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def test_core_imports_without_beam():
    core = [module_name(path) for path in MODULES if path.is_relative_to("transforms/core")]
    assert "goodgain.transforms.core.scoring.score" in core
    assert not imports_beam("goodgain", "goodgain.transforms", *core)


@pytest.mark.slow
def test_imports_beam_detects_beam():
    assert imports_beam("goodgain.transforms.score")


def upward_imports(path):
    """The imports of a module from layers above its own."""
    layer = next(layer for layer in ABOVE if path.is_relative_to(layer))
    return [
        name
        for name in imported_names(path)
        if any(is_below(name, above) for above in ABOVE[layer])
        and not (layer == "transforms/core" and is_below(name, "goodgain.transforms.core"))
    ]


def test_no_module_imports_upwards():
    assert len(MODULES) > 300
    assert not {str(path): names for path in MODULES if (names := upward_imports(path))}


def test_our_folders_are_imported_only_through_goodgain():
    def imported_by_folder_name(path):
        return [name for name in imported_names(path) if name.split(".")[0] in FOLDERS]

    assert len(TESTS) > 300
    assert not {
        str(path): names for path in [*MODULES, *TESTS] if (names := imported_by_folder_name(path))
    }


def test_no_import_cycles_between_folders():
    """The nodes are the folders at every depth, and the modules that lie directly in a layer."""
    node_of = {
        module_name(path): module_name(path if str(path.parent) in ABOVE else path.parent)
        for path in MODULES
        if path.name != "__init__.py" or str(path.parent) not in ABOVE
    }

    def node(name):
        while name and name not in node_of:
            name = name.rpartition(".")[0]
        return node_of.get(name)

    imports_of = {name: set() for name in node_of.values()}
    for path in MODULES:
        name = node_of.get(module_name(path))
        if name is not None:
            imports_of[name] |= set(map(node, imported_names(path))) - {name, None}
    assert len(imports_of) > 60
    assert sum(map(len, imports_of.values())) > 400
    try:
        TopologicalSorter(imports_of).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' <- '.join(error.args[1])}")


def room_of(name):
    """The folder of the pipeline in which a module lies; None outside, or if it lies in none."""
    _, _, below = name.partition("goodgain.pipeline.")
    room = below.split(".")[0]
    return room if room and (ROOT / "pipeline" / room).is_dir() else None


def test_no_more_rooms_of_the_pipeline_know_each_other():
    arrows = {
        (room, other)
        for path in MODULES
        if (room := room_of(module_name(path)))
        for other in map(room_of, imported_names(path))
        if other not in (room, None)
    }
    assert ("cli", "views") in arrows
    assert len(arrows) <= MOST_ARROWS_AMONG_ROOMS, sorted(arrows)


def test_what_people_see_is_handed_in():
    views = [f"goodgain.pipeline.{view}" for view in VIEWS]

    def imported_views(path):
        return [name for name in imported_names(path) if any(is_below(name, of) for of in views)]

    below = [path for path in MODULES if room_of(module_name(path)) in ROOMS_WITHOUT_VIEWS]
    assert len(below) > 100
    assert imported_views(Path("pipeline/views/run.py"))
    assert not {str(path): names for path in below if (names := imported_views(path))}


def test_modules_are_short():
    lengths = {
        str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines())
        for path in MODULES
        if path.parts[0] in ("transforms", "pipeline")
    }
    assert len(lengths) > 600
    assert not {path: lines for path, lines in lengths.items() if lines > MOST_LINES}
