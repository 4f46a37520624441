"""Outputs of another version, or changed ones, are refused in one sentence."""

import json
import shutil

import pytest
from pyarrow import Table, parquet

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.views.pages.run import build_report
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.runs import call, write_jsonl

pytestmark = pytest.mark.slow

SENTENCE = "If another version of goodgain wrote it, or it was changed since, run it again."
LACKING = {"means": "note", "conversations": "turn"}


def traces(gain):
    found = [{"id": f"{at}", "gain": (at + gain) % 5} for at in range(4)]
    return [call(f"c{at}", 1, found, attributes={"arm": "ab"[at % 2]}) for at in range(12)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs, their traces and a comparison."""
    folder = tmp_path_factory.mktemp("made")
    for name, gain in (("a", 0), ("b", 2)):
        gg.evaluate(write_jsonl(folder / f"{name}.jsonl", traces(gain))).save(folder / name)
    words = [str(folder / name) for name in ("a", "b")]
    assert main(["compare", *words, "--output", str(folder / "c"), "--quiet"]) == ExitCode.DONE
    (folder / "gate.yaml").write_text("rules: [SRE >= 0, CG drop <= 90 %]\nwarnings: [no_labels]\n")
    return folder


@pytest.fixture
def change(made, tmp_path):
    """Copies outputs and changes their manifest; returns the copy."""

    def changed(name, path, **value):
        shutil.copytree(made / name, tmp_path / "out", dirs_exist_ok=True)
        manifest = json.loads((made / name / MANIFEST).read_text())
        *above, key = path
        part = manifest
        for name_above in above:
            part = part[name_above]
        part.pop(key, None)
        if value:
            part[key] = value["value"]
        (tmp_path / "out" / MANIFEST).write_text(json.dumps(manifest))
        return str(tmp_path / "out")

    return changed


def refuses(capsys, *words):
    """Whether a command refuses outputs, in one line; else it succeeds."""
    capsys.readouterr()
    code = main([str(word) for word in words])
    errors = capsys.readouterr().err
    if code == ExitCode.USAGE:
        assert errors.startswith("goodgain: ")
        assert errors.count("\n") == 1
        assert SENTENCE in errors or errors.endswith(
            ("run it again.\n", "use the folder that its --output named.\n")
        )
    return code == ExitCode.USAGE


def keys_of(folder):
    manifest = json.loads((folder / MANIFEST).read_text())
    yield from ((key,) for key in manifest)
    for above in ("records", "results", "parameters", "request"):
        yield from ((above, key) for key in manifest.get(above, ()))


@pytest.mark.parametrize("name", ["a", "c"])
def test_a_report_without_a_key_of_the_manifest_is_drawn_or_refused(name, made, change, capsys):
    refused = [key for key in keys_of(made / name) if refuses(capsys, "report", change(name, key))]
    needed = {"a": ("records", "read"), "c": ("base_account",)}
    assert needed[name] in refused


@pytest.mark.parametrize("value", [None, [], "x", 7])
@pytest.mark.parametrize("key", ["parameters", "outcomes", "records", "datasets"])
def test_every_command_uses_or_refuses_a_key_with_another_value(key, value, made, change, capsys):
    out = change("a", (key,), value=value)
    base, config = made / "b", ("--config", made / "gate.yaml")
    commands = (
        ("report", out),
        ("gate", out, *config, "--baseline", base),
        ("gate", base, *config, "--baseline", out),
        ("compare", out, base),
        ("explain", "c1", "--input", made / "b.jsonl", "--against", out),
        ("export", out, "--to", "langfuse", "--output", made / "scores.jsonl"),
    )
    refused = {words[0] for words in commands if refuses(capsys, *words)}
    assert key != "parameters" or len(refused) == len({words[0] for words in commands})


def test_a_comparison_with_a_sensitivity_of_another_form_is_refused(change, capsys):
    out = change("c", ("sensitivity",), value=[{"metric": "CG", "turns": False}])
    assert main(["report", out]) == ExitCode.USAGE
    errors = capsys.readouterr().err
    assert errors.startswith(f"goodgain: {out}/{MANIFEST} cannot be used (sensitivity[0]: Object ")
    assert errors.endswith(f"). {SENTENCE}\n")


def test_names_the_field_that_is_missing_or_of_another_type(change):
    with pytest.raises(UsageError, match=r"cannot be used \(records: .* required field `read`\)"):
        gg.load(change("a", ("records", "read")))
    with pytest.raises(UsageError, match=r"cannot be used \(parameters.g_max: Expected `int`"):
        gg.load(change("a", ("parameters", "g_max"), value="4"))


@pytest.mark.parametrize("command", ["report", "gate", "compare", "export"])
def test_names_a_column_that_a_dataset_lacks(command, made, tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(made / "a", out)
    for dataset in ("means", "conversations"):
        (path,) = (out / dataset).iterdir()
        parquet.write_table(parquet.read_table(path).drop_columns(LACKING[dataset]), path)
    words = {
        "report": (),
        "gate": ("--config", made / "gate.yaml"),
        "compare": (made / "b",),
        "export": ("--to", "langfuse", "--output", tmp_path / "scores.jsonl"),
    }
    assert main(list(map(str, (command, out, *words[command])))) == ExitCode.USAGE
    errors = capsys.readouterr().err
    assert any(f"(it has no {column}). {SENTENCE}" in errors for column in LACKING.values())


def test_a_metric_that_is_gone_is_named(made, tmp_path, capsys):
    """The columns of its rows are those of today, but one has another name."""
    out = tmp_path / "out"
    shutil.copytree(made / "a", out)
    (path,) = (out / "conversations").iterdir()
    table = parquet.read_table(path)
    renamed = ["gone" if name == "RG" else name for name in table.column_names]
    parquet.write_table(table.rename_columns(renamed), path)
    with pytest.raises(UsageError, match="have no RG"):
        _ = gg.load(out).conversations
    (path,) = (out / "means").iterdir()
    rows = [
        row | {"metric": "gone" if row["metric"] == "RG" else row["metric"]}
        for row in parquet.read_table(path).to_pylist()
    ]
    parquet.write_table(Table.from_pylist(rows, parquet.read_schema(path)), path)
    capsys.readouterr()
    assert main(["report", str(out)]) == ExitCode.USAGE
    sentence = f"goodgain: The means of {out} have the metric gone, which there is not. {SENTENCE}"
    assert capsys.readouterr().err.startswith(sentence)


def test_an_error_of_our_own_is_no_foreign_output(made, monkeypatch):
    monkeypatch.setattr(
        "goodgain.pipeline.views.pages.data.run_content.outcome_views", lambda *_: {}["ours"]
    )
    with pytest.raises(KeyError, match="ours"):
        build_report(str(made / "a"))


def test_scores_of_a_comparison_cannot_be_exported(made, tmp_path, capsys):
    scores = tmp_path / "scores.jsonl"
    words = ["export", str(made / "c"), "--to", "langfuse", "--output", str(scores)]
    assert main(words) == ExitCode.USAGE
    assert "is not the output of `goodgain run`" in capsys.readouterr().err
    assert not scores.exists()


def test_a_run_that_cannot_be_loaded_says_so(change):
    out = change("a", ("outcomes",), value=7)
    with pytest.raises(UsageError, match=SENTENCE):
        gg.load(out)


def test_a_comparison_of_outputs_with_a_warning_of_another_form_leaves_nothing(
    made, change, tmp_path, capsys
):
    out = change("a", ("warnings",), value=[{"code": 5}])
    words = ("compare", out, str(made / "b"), "--output", str(tmp_path / "compared"))
    assert refuses(capsys, *words)
    assert not (tmp_path / "compared").exists()
