"""Which way a program reads: native where it is built, fits and is not turned off."""

import json
import sys
from types import SimpleNamespace

import pytest

from goodgain.pipeline import manifest
from goodgain.pipeline.__main__ import main
from goodgain.transforms.core import native
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.scoring.native_packing import NativePacker, packer_for
from goodgain.transforms.core.scoring.packing import Packer, Packing
from tests.core.direct import shipped_rules
from tests.native.paths import needs_native
from tests.pipeline.runs import SAMPLE


@pytest.fixture
def forgotten():
    """Nothing is remembered of what was imported, before and after."""
    native._found.cache_clear()
    native._module.cache_clear()
    yield
    native._found.cache_clear()
    native._module.cache_clear()


@needs_native
def test_native_where_it_is_built():
    assert native.active_path() == "native"
    assert isinstance(packer_for(Packing(shipped_rules())), NativePacker)


def test_turned_off(monkeypatch, capsys):
    monkeypatch.setenv("GOODGAIN_NATIVE", "0")
    assert native.native_module() is None
    assert type(packer_for(Packing(shipped_rules()))) is Packer
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.endswith(", reads by python (GOODGAIN_NATIVE=0)\n")


@pytest.mark.usefixtures("forgotten")
def test_not_built(monkeypatch):
    monkeypatch.setitem(sys.modules, "goodgain_native", None)
    monkeypatch.delenv("GOODGAIN_NATIVE", raising=False)
    assert native.native_module() is None
    assert native.active_path() == "python"


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("differs", ["FORMAT", "CALL_FIELDS", "RESULT_FIELDS"])
def test_built_for_another_version(monkeypatch, differs):
    names = {
        "FORMAT": native.FORMAT,
        "CALL_FIELDS": native._names(native.SearchCall),
        "RESULT_FIELDS": native._names(native.Result),
    }
    monkeypatch.delenv("GOODGAIN_NATIVE", raising=False)
    monkeypatch.setitem(sys.modules, "goodgain_native", SimpleNamespace(**names))
    assert native.active_path() == "native"
    native._found.cache_clear()
    native._module.cache_clear()
    other = SimpleNamespace(**{**names, differs: 0})
    monkeypatch.setitem(sys.modules, "goodgain_native", other)
    assert native.native_module() is None
    assert native.active_path() == "python (goodgain-native is built for another version)"


def test_labels_from_outside_need_the_records():
    packing = Packing(shipped_rules(), label_keys=LabelKeys())
    assert type(packer_for(packing)) is Packer


@needs_native
@pytest.mark.slow
@pytest.mark.parametrize("written", ["avro", "jsonl", "parquet"])
def test_runs_write_the_same_bytes(written, tmp_path, monkeypatch, capsys):
    """All datasets; the manifest says which way it was."""
    found = {}
    for switch in ("1", "0"):
        monkeypatch.setenv("GOODGAIN_NATIVE", switch)
        folder = tmp_path / switch
        words = ["run", "--input", SAMPLE, "--output", str(folder), "--format", written]
        assert main([*words, "--write-duplicates"]) == 0
        found[switch] = {
            str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.is_file() and file.name not in ("manifest.json", "report.html")
        }
        told = json.loads((folder / "manifest.json").read_bytes())["reading"]
        assert told == ("native" if switch == "1" else "python (GOODGAIN_NATIVE=0)")
    assert found["1"].keys() == found["0"].keys()
    assert found["1"] == found["0"]


@pytest.mark.parametrize(
    ("native", "python", "told"),
    [
        (3, 0, "native"),
        (2, 1, "native in 2 of 3 parts of files"),
        (0, 3, "python (GOODGAIN_NATIVE=0)"),
    ],
)
def test_the_manifest_says_what_the_workers_did(native, python, told, monkeypatch):
    """Not what the program could do that started them."""
    monkeypatch.setenv("GOODGAIN_NATIVE", "0")
    counts = {"shards.native": native, "shards.python": python}
    assert manifest._reading(counts) == told


@needs_native
def test_workers_without_the_native_part_are_told_of():
    assert manifest._reading({"shards.python": 3}) == "python"
