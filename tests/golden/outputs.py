"""Runs the commands over a case: all outputs, as rows by table.

Every combination of formats and readings must give the same rows, which are kept once.
"""

import json
import marshal
import warnings
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from msgspec import to_builtins

import goodgain as gg
from goodgain.pipeline.__main__ import main as goodgain
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from goodgain.pipeline.results.folder import manifest_json
from goodgain.pipeline.results.pool_store import read_pool
from goodgain.transforms.core.native import SWITCH
from tests.golden import traces
from tests.golden.differences import differences
from tests.golden.digests import digests
from tests.golden.traces import FORMATS

READINGS = ("native", "python")
# Of a manifest: what differs from run to run, and what depends on the formats or the engine.
_PASSING = frozenset(
    {"versions", "started", "finished", "inputs", "engine", "reading", "input", "output", "format"}
)
_DATASETS = ("conversations", "iterations", "calls", "duplicates", "means", "rejected", "late")
_EXPLAINED = 2  # conversations of each case


class Outputs:
    """The rows of a case by table.

    Attributes:
      tables: rows by name.
      differing: tables that differ between two combinations, in words.
    """

    def __init__(self, folder):
        self.folder = folder
        self.tables = {}
        self.differing = []
        self._from = {}
        self._digests = {}
        self._equal = defaultdict(set)

    def add(self, name, rows, by):
        """Keep rows or a document that a combination gave, or compare them with the first."""
        content = marshal.dumps(rows, 0)  # equal for the same values of the same types in order
        if content in self._equal[name]:
            return
        rows = _portable(rows, str(self.folder))
        if name not in self.tables:
            self.tables[name], self._from[name] = rows, by
            self._digests[name] = digests({name: rows})
            self._equal[name].add(content)
            return
        changes = differences(self._digests[name], digests({name: rows}))
        self.differing += [f"by {by}, unlike by {self._from[name]}: {what}" for what in changes]
        if not changes:
            self._equal[name].add(content)


def _portable(value, folder):
    """A value without what depends on time, versions and the folder of the test."""
    if isinstance(value, dict):
        return {
            name: _portable(part, folder) for name, part in value.items() if name not in _PASSING
        }
    if isinstance(value, list | tuple):
        return [_portable(part, folder) for part in value]
    return value.replace(folder, "FOLDER") if isinstance(value, str) else value


@contextmanager
def reading_by(reading):
    """Read natively or in Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SWITCH, "1" if reading == "native" else "0")
        yield


class Command:
    """Runs commands and reads what they print as JSON."""

    def __init__(self, printed):
        self._printed = printed

    def __call__(self, *words, codes=(ExitCode.DONE,)):
        code = goodgain([*map(str, words), "--json"])
        printed, messages = self._printed()
        assert code in codes, messages
        assert printed, messages
        return json.loads(printed)


def outputs_of(case, left_out, folder: Path, command):
    """The outputs of a case, of `run`, `evaluate`, `validate` and `explain`.

    To save time, `run` does not read the format `left_out` unless the outputs depend on it.
    """
    found = Outputs(folder)
    records = case.records()
    files = {
        name: traces.write(folder, f"traces.{name}", case.content(records, name))
        for name in case.formats
    }
    options = {**case.options, **case.files(folder, records)}
    config = traces.write(folder, "run.yaml", yaml.safe_dump(options))
    if "pool" in options:
        found.add("pool", to_builtins(list(read_pool(options["pool"]).documents())), "pool build")
    for at, (name, path) in enumerate(files.items()):
        suffix = f" of {name}" if case.varies else ""
        if case.varies or name != left_out:
            reading, format_ = READINGS[at % 2], FORMATS[(FORMATS.index(name) + 1) % 3]
            output = folder / f"out {name}"
            words = ("--config", config, "--input", path, "--output", output, "--format", format_)
            with reading_by(reading):
                command("run", *words, "--write-duplicates", codes=tuple(ExitCode))
            _add_run(found, output, suffix, f"run of {name} by {reading} to {format_}")
        _add_in_memory(found, config, name, path, suffix)
        if case.varies or at == 0:
            words = ("validate", path, *_reading_options(case), "--max-rejected", "100%")
            found.add(f"validate{suffix}", command(*words), f"validate of {name}")
    ids = sorted(row["conversation_id"] for row in found.tables.get("conversations", ()))
    for number in ids[:_EXPLAINED]:
        words = ("explain", number, "--config", config, "--input", files[case.formats[0]])
        found.add(f"explain {number}", command(*words), "explain")
    return found


def _reading_options(case):
    """The options of a case that `validate` has, too."""
    words = []
    if names := case.options.get("mapping"):
        words += ["--map", *names]
    if "iteration_base" in case.options:
        words += ["--iteration-base", case.options["iteration_base"]]
    return words


def _add_run(found, output, suffix, by):
    manifest = read_manifest(str(output))
    # Only the command has `datasets`, and options that Python has not.
    found.add(f"manifest of run{suffix}", manifest, by)
    for dataset in manifest["datasets"]:
        found.add(f"{dataset}{suffix}", list(read_dataset(str(output), dataset)), by)


def _add_in_memory(found, config, name, path, suffix):
    for reading in READINGS:
        with reading_by(reading), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = gg.evaluate(path, config=config)
            by = f"evaluate of {name} by {reading}"
            for dataset in (*_DATASETS, "rejected_labels"):
                if f"{dataset}{suffix}" in found.tables:
                    found.add(f"{dataset}{suffix}", list(getattr(run, dataset).stored()), by)
            found.add(f"manifest of evaluate{suffix}", json.loads(manifest_json(run.manifest)), by)
