"""The direction of imports: core <- transforms <- pipeline, and no circle among their folders."""

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


def is_below(name, package):
    return name == package or name.startswith(f"{package}.")


@cache
def imported(path):
    """The full names of what a module imports, wherever in it the import stands."""
    return tuple(_imported(path))


def statements(node):
    """All below a node, without looking into expressions, which hold no imports."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, ()):
            yield child
            yield from statements(child)


def _imported(path):
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
def test_the_check_can_see_beam():
    assert imports_beam("goodgain.transforms.score")


def upwards(path):
    """The imports of a module that lead to a layer above its own."""
    layer = next(layer for layer in ABOVE if path.is_relative_to(layer))
    return [
        name
        for name in imported(path)
        if any(is_below(name, above) for above in ABOVE[layer])
        and not (layer == "transforms/core" and is_below(name, "goodgain.transforms.core"))
    ]


def test_no_module_imports_upwards():
    assert len(MODULES) > 300
    assert not {str(path): names for path in MODULES if (names := upwards(path))}


def test_nothing_is_imported_by_the_bare_name_of_a_folder():
    def bare(path):
        return [name for name in imported(path) if name.split(".")[0] in FOLDERS]

    assert len(TESTS) > 300
    assert not {str(path): names for path in [*MODULES, *TESTS] if (names := bare(path))}


@pytest.mark.parametrize("package", ["transforms/core", "transforms", "pipeline"])
def test_folders_import_each_other_in_one_direction(package):
    """A folder below the package is one node with all in it; so is a module beside them."""
    prefix = module_name(Path(package))
    depth = prefix.count(".") + 1

    def node(name):
        return ".".join(name.split(".")[: depth + 1])

    nodes = {
        node(module_name(path))
        for path in MODULES
        if path.is_relative_to(package) and path != Path(package, "__init__.py")
    }
    arrows = {name: set() for name in nodes}
    for path in MODULES:
        name = node(module_name(path))
        if name in arrows:
            arrows[name] |= {node(to) for to in imported(path)} & nodes - {name}
    assert sum(map(len, arrows.values())) > 10
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}")
