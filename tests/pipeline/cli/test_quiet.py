"""`--quiet` on every command that prints progress or a summary, and `--json` alone on stdout."""

import json
import re
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.convert.importing import FIXTURES
from tests.pipeline.runs import run, write_jsonl

pytestmark = pytest.mark.slow

GATE = "least_n: 2\nrules: [SRE >= 0]\n"
NIGHTLY = "input: traces/{date}/*\noutput: nights\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with traces, two runs, a pool, a gate and the configuration of nights."""
    folder = tmp_path_factory.mktemp("quiet")
    traces = folder / "traces" / "2025-03-04" / "sample.avro"
    traces.parent.mkdir(parents=True)
    few = ["--conversations", "8", "--bad-share", "0"]
    assert main(["sample", "--output", str(traces), *few]) == 0
    for name in ("one", "two"):
        assert run(folder / name, [traces]) == 0
    words = ["pool", "build", "--run", f"one={traces}", "--output", str(folder / "pool")]
    assert main(words) == 0
    (folder / "gate.yaml").write_text(GATE)
    (folder / "nightly.yaml").write_text(NIGHTLY)
    (folder / "labels.csv").write_text("document,gain\n")
    return folder


COMMANDS = (
    ["validate", "traces/2025-03-04"],
    ["compare", "one", "two"],
    ["gate", "one", "--config", "gate.yaml"],
    ["export", "one", "--to", "otlp", "--output", "scores.jsonl"],
    ["convert", "--from-traces", "traces/2025-03-04", "--to-run", "trec"],
    ["convert", "--from", "otlp", str(FIXTURES / "otlp_gen_ai.jsonl"), "--output", "t.jsonl"],
    ["sample", "--output", "s.jsonl", "--conversations", "3"],
    ["pool", "todo", "pool", "--output", "todo.csv"],
    ["pool", "judge", "pool", "--command", "true", "--at-most", "0"],
    ["pool", "build", "--run", "two=traces/2025-03-04", "--update", "pool", "--replace"],
    ["nightly", "--config", "nightly.yaml", "--date", "2025-03-04"],
)


def documented_keys(command):
    """The keys of a command's JSON in the docs; None if it is not in their table."""
    lines = Path(__file__).parents[3].joinpath("docs/outputs.md").read_text().splitlines()
    for line in lines:
        if line.startswith(f"| `{command}` |"):
            return set(re.findall(r"`(\w+)`", line.split("|")[2]))
    return None


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_quiet_prints_only_warnings_about_the_data_and_json_nothing_else(
    words, place, monkeypatch, capfd
):
    monkeypatch.chdir(place)
    assert main([*words, "--quiet"]) == 0
    printed = capfd.readouterr()
    assert printed.out == ""
    warnings = printed.err.splitlines()
    expected = re.compile(r"(?:.*: )?Warning \(beyond_cutoff\): ")
    assert [line for line in warnings if line and not expected.match(line)] == []
    assert main([*words, "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    documented = documented_keys(" ".join(words[: 1 + (words[0] == "pool")]))
    assert documented is None or documented == printed.keys()
    if words != COMMANDS[0]:
        assert main(words) == 0
        assert capfd.readouterr().out


def test_quiet_still_says_what_is_wrong(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    Path("bad.jsonl").write_text("{}\n")
    assert main(["validate", "bad.jsonl", "--quiet"]) == 3
    assert "that is more than --max-rejected 1%." in capsys.readouterr().out
    Path("strict.yaml").write_text("rules: [SRE >= 1]\n")
    assert main(["gate", "one", "--config", "strict.yaml", "--quiet"]) == 4
    assert "The gate failed: 1 of 1 rule." in capsys.readouterr().out
    Path("odd.jsonl").write_text('{"conversation_id": "a", "iteration": 1, "results": [{}]}\n')
    assert main(["validate", "odd.jsonl", "--quiet"]) == 0
    assert "Warning (" in capsys.readouterr().err


@pytest.fixture(scope="module")
def half_labelled(tmp_path_factory):
    """A folder with a day of traces, half of them unlabelled, a run of them, and nights."""
    folder = tmp_path_factory.mktemp("half")
    traces = folder / "traces" / "2025-03-04" / "half.jsonl"
    traces.parent.mkdir(parents=True)
    results = [{"id": "a", "gain": 3}, {"title": "A title"}]
    write_jsonl(traces, [{"conversation_id": "c", "iteration": 1, "results": results}])
    assert run(folder / "one", [traces]) == 0
    (folder / "nightly.yaml").write_text(NIGHTLY)
    return folder


FEW_LABELS = "Warning (few_labels): 1 of 2 results (50.0 %) has no label"
DAY = "traces/2025-03-04"


@pytest.mark.parametrize(
    ("words", "finding"),
    [
        (["run", "--input", DAY, "--output", "out", "--overwrite"], FEW_LABELS),
        (["compare", "one", "one"], f"Both arms: {FEW_LABELS}"),
        (
            ["nightly", "--config", "nightly.yaml", "--date", "2025-03-04"],
            f"2025-03-04: {FEW_LABELS}",
        ),
        (
            ["pool", "build", "--run", f"a={DAY}", "--output", "pool"],
            "1 document has too few attributes to be recognized in another run",
        ),
        (
            ["run", "--input", DAY, "--output", "out", "--slice", "mrket", "--overwrite"],
            "no conversation has the attribute mrket; is it misspelt?",
        ),
    ],
    ids=("run", "compare", "nightly", "pool build", "misspelt"),
)
def test_quiet_prints_warnings_on_stderr(words, finding, half_labelled, monkeypatch, capsys):
    monkeypatch.chdir(half_labelled)
    assert main([*words, "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count(finding) == 1


def test_json_is_the_only_output_on_stdout_if_there_are_warnings(
    half_labelled, monkeypatch, capsys
):
    monkeypatch.chdir(half_labelled)
    assert main(["run", "--input", DAY, "--output", "json", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["manifest"]["warnings"][0]["code"] == "few_labels"


def test_counts_for_programs_are_those_for_people(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    words = ["sample", "--output", "c.jsonl", "--conversations", "3"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["conversations"] == 3
    assert f"{counts['records']:,} record" in text
    assert f"{counts['bytes']:,} bytes" in text
    assert Path("c.jsonl").stat().st_size == counts["bytes"]
    todo = ["pool", "todo", "pool", "--output", "todo.csv", "--depth", "1"]
    assert main([*todo, "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert main(todo) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"{counts['documents']:,} document" in text
    assert f"{counts['saved']:,} of {counts['results']:,} results" in text
    assert f"{counts['below_depth']:,} more" in text
