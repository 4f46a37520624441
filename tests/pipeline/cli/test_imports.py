"""What the commands import: in a short run, imports take most of the time."""

import subprocess
import sys
from importlib.resources import files

import pytest

SAMPLE = str(files("goodgain.configs").joinpath("data/sample.avro"))
CONVERSATION = "40b47410-079c-50a6-2357-d1cb69bb3806"


def modules_imported_by(*words):
    """The modules that a command imports in a new process."""
    script = (
        "import sys, goodgain.pipeline.__main__ as program; program.main(sys.argv[1:]); "
        "sys.stderr.write('\\n'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines())


@pytest.mark.slow
class TestImports:
    def test_a_run_with_a_wrong_option_imports_no_beam(self):
        """The commands that work are in `tests/pipeline/run/hosts/test_without_beam.py`."""
        imported = modules_imported_by("run", "--input", "a", "--max-i", "0")
        assert "goodgain.pipeline.cli.commands" in imported
        assert not {name for name in imported if name.split(".")[0] == "apache_beam"}

    @pytest.mark.parametrize(
        ("words", "unneeded"),
        [
            (["validate", SAMPLE], {"apache_beam", "numpy.f2py", "scipy", "pandas", "jinja2"}),
            (
                ["explain", CONVERSATION, "--input", SAMPLE],
                {"apache_beam", "scipy", "pandas", "jinja2"},
            ),
            (
                ["run", SAMPLE, "--output", "{folder}/out", "--quiet"],
                {
                    "pandas",
                    "scipy.stats",
                    "polars",
                    "duckdb",
                    "goodgain.pipeline.studies.comparison.compare",
                    "goodgain.pipeline.studies.gate.evaluate",
                },
            ),
        ],
    )
    def test_a_command_imports_no_package_that_it_does_not_need(self, tmp_path, words, unneeded):
        imported = modules_imported_by(*(word.format(folder=tmp_path) for word in words))
        assert "goodgain.transforms.core.files.avro_reader" in imported
        assert not imported & unneeded

    @pytest.mark.parametrize(
        ("module", "shown", "expected"),
        [
            pytest.param("pandas", "pandas.DataFrame.__name__", "DataFrame", id="pandas"),
            pytest.param(
                "pyarrow",
                "pyarrow.default_memory_pool().backend_name",
                "system",
                id="Arrow returns memory to the system",
            ),
        ],
    )
    def test_run_leaves_its_process_as_others_need_it(self, tmp_path, module, shown, expected):
        script = (
            "import sys, goodgain.pipeline.__main__ as program; program.main(sys.argv[1:]); "
            f"import {module}; print({shown})"
        )
        words = ["run", SAMPLE, "--output", str(tmp_path / "out"), "--quiet"]
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True
        )
        assert done.stdout.splitlines()[-1] == expected

    def test_help_imports_no_reader(self):
        imported = modules_imported_by("--help")
        assert not imported & {
            "pyarrow",
            "numpy",
            "scipy",
            "fastavro",
            "rich.console",
            "goodgain.transforms.core.files.avro_reader",
        }
