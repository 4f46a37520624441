"""Native code reads if it is installed, made for this version, and not turned off."""

import json
import sys
from types import SimpleNamespace

import fastavro
import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.api.evaluate import evaluate
from goodgain.pipeline.inputs.local_files import find_local_files, read_files
from goodgain.pipeline.results.manifest import describe_reading
from goodgain.transforms.core import native
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.native_packing import NativePacker
from goodgain.transforms.core.scoring.packers import packer_for
from goodgain.transforms.core.scoring.packing import Packer, Packing
from tests.core.direct import shipped_rules
from tests.core.files.samples import avro_record
from tests.native.paths import count_folds, needs_native
from tests.pipeline.runs import SAMPLE

DETAILS = ["--per-call", "--bounds"]


@pytest.fixture
def fresh_import():
    """Clear the caches of what was imported, before and after a test."""
    native._import_installed.cache_clear()
    native._compatible.cache_clear()
    yield
    native._import_installed.cache_clear()
    native._compatible.cache_clear()


@needs_native
def test_native_where_it_is_built():
    assert native.active_path() == "native"
    for keys in (None, LabelKeys()):
        assert isinstance(packer_for(Packing(shipped_rules(), label_keys=keys)), NativePacker)


@pytest.mark.parametrize("off", ["0", "false", "off", "No"])
def test_turned_off(off, monkeypatch, capsys):
    monkeypatch.setenv("GOODGAIN_NATIVE", off)
    assert native.native_module() is None
    assert type(packer_for(Packing(shipped_rules()))) is Packer
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.endswith(f", reads by python (GOODGAIN_NATIVE={off})\n")


@pytest.mark.parametrize("on", ["", "1", "true", "ON", "yes"])
def test_turned_on(on, monkeypatch):
    monkeypatch.delenv("GOODGAIN_NATIVE", raising=False)
    unset = native.active_path()
    monkeypatch.setenv("GOODGAIN_NATIVE", on)
    assert native.active_path() == unset


def test_neither_on_nor_off(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("GOODGAIN_NATIVE", "maybe")
    said = (
        "The environment variable GOODGAIN_NATIVE is 'maybe': use 0, false, off or no to read in "
        "Python, 1, true, on or yes to read natively."
    )
    with pytest.raises(UsageError) as raised:
        evaluate(SAMPLE)
    assert str(raised.value) == said
    assert main(["run", "--input", SAMPLE, "--output", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == f"goodgain: {said}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("fresh_import")
def test_not_built(monkeypatch):
    monkeypatch.setitem(sys.modules, "goodgain_native", None)
    monkeypatch.delenv("GOODGAIN_NATIVE", raising=False)
    assert native.native_module() is None
    assert native.active_path() == "python"


@pytest.mark.usefixtures("fresh_import")
@pytest.mark.parametrize("differs", ["FORMAT", "CALL_FIELDS", "RESULT_FIELDS"])
def test_built_for_another_version(monkeypatch, differs):
    names = {
        "FORMAT": native.FORMAT,
        "CALL_FIELDS": list(native.SearchCall.__struct_fields__),
        "RESULT_FIELDS": list(native.Result.__struct_fields__),
    }
    monkeypatch.delenv("GOODGAIN_NATIVE", raising=False)
    monkeypatch.setitem(sys.modules, "goodgain_native", SimpleNamespace(**names))
    assert native.active_path() == "native"
    native._import_installed.cache_clear()
    native._compatible.cache_clear()
    other = SimpleNamespace(**{**names, differs: 0})
    monkeypatch.setitem(sys.modules, "goodgain_native", other)
    assert native.native_module() is None
    assert native.active_path() == "python (goodgain-native is built for another version)"


@needs_native
@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "details", "judged"), [("avro", [], True), ("parquet", DETAILS, False)]
)
def test_runs_write_the_same_bytes(written, details, judged, tmp_path, monkeypatch):
    """All datasets; the manifest says which code read."""
    found, judgments = {}, {}
    options = [*details, *(["--qrels", qrels_of_sample(tmp_path)] if judged else [])]
    folds = count_folds(monkeypatch)
    for switch in ("1", "0"):
        monkeypatch.setenv("GOODGAIN_NATIVE", switch)
        folder = tmp_path / switch
        words = ["run", "--input", SAMPLE, "--output", str(folder), "--format", written]
        assert main([*words, *options]) == 0
        found[switch] = {
            str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.is_file() and file.name not in ("manifest.json", "report.html")
        }
        saved = json.loads((folder / "manifest.json").read_bytes())
        assert saved["reading"] == ("native" if switch == "1" else "python (GOODGAIN_NATIVE=0)")
        judgments[switch] = saved.get("qrels")
    conversations = saved["conversations"]["total"]
    assert folds == {True: conversations}
    assert found["1"].keys() == found["0"].keys()
    assert found["1"] == found["0"]
    assert judgments["1"] == judgments["0"]
    if judged:
        assert judgments["1"]["judgments"] > judgments["1"]["never_retrieved"]


def qrels_of_sample(folder):
    """Judgments of half of the sample's documents, by conversation."""
    keys = LabelKeys()
    names = dict.fromkeys(
        (call.conversation_id, name)
        for call in read_files(find_local_files([SAMPLE]))
        if isinstance(call, SearchCall)
        for of_result in keys.documents(call)
        for name in of_result
    )
    path = folder / "qrels.txt"
    path.write_text(
        "".join(f"{topic} 0 {name} {at % 5}\n" for at, (topic, name) in enumerate(names) if at % 2)
    )
    return str(path)


@pytest.mark.parametrize(
    ("native", "python", "reading"),
    [
        (3, 0, "native"),
        (2, 1, "native in 2 of 3 parts of files"),
        (0, 3, "python (GOODGAIN_NATIVE=0)"),
    ],
)
def test_the_manifest_says_what_the_workers_did(native, python, reading, monkeypatch):
    """Not what the program could do that started them."""
    monkeypatch.setenv("GOODGAIN_NATIVE", "0")
    counts = {"shards.native": native, "shards.python": python}
    assert describe_reading(counts) == reading


@needs_native
def test_the_manifest_names_workers_without_the_native_part():
    assert describe_reading({"shards.python": 3}) == "python"


ODD = '{"conversation_id": "c", "iteration": "1", "results": []}'  # the iteration is a text
PLAIN = ODD.replace('"1"', "1")


@pytest.mark.slow
@needs_native
@pytest.mark.parametrize(
    ("lines", "options", "reading"),
    [
        ([PLAIN, PLAIN, "{"], [], "native"),
        ([PLAIN, ODD, "{"], [], "native, but 1 of 2 records in Python"),
        (
            [PLAIN.replace("conversation_id", "cid")],
            ["--map", "conversation_id=cid"],
            "native",
        ),
        (
            [PLAIN, PLAIN],
            ["--iteration-base", "0"],
            "native",
        ),
    ],
)
def test_the_manifest_counts_records_that_python_parsed(lines, options, reading, tmp_path):
    traces, folder = tmp_path / "traces.jsonl", tmp_path / "out"
    traces.write_text("\n".join(lines))
    words = ["run", "--input", str(traces), "--output", str(folder), "--max-rejected", "100%"]
    assert main([*words, *options]) in (0, 3)
    assert json.loads((folder / "manifest.json").read_bytes())["reading"] == reading
    if not options:
        assert evaluate(traces, max_rejected="100%").manifest.reading == reading


@needs_native
def test_records_of_a_caller_come_from_python():
    evaluated = evaluate([json.loads(PLAIN), json.loads(PLAIN)])
    assert evaluated.manifest.reading == "native, but 2 of 2 records in Python"


@needs_native
def test_avro_records_that_python_parsed_are_counted(tmp_path):
    schema = avro_record("call", conversation_id="string", iteration=["int", "string"])
    records = [{"conversation_id": "c", "iteration": iteration} for iteration in (1, "2", 3)]
    with (tmp_path / "traces.avro").open("wb") as file:
        fastavro.writer(file, schema, records)
    evaluated = evaluate(tmp_path / "traces.avro")
    assert evaluated.manifest.reading == "native, but 1 of 3 records in Python"
