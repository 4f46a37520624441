"""`goodgain init` writes files and names commands that work unchanged, and schemas that fit."""

import json
import re
import warnings
from pathlib import Path

import jsonschema
import pytest
import yaml

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.mapping_file import parse_mapping_file
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.init_config import kinds
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.studies.gate.gate_file import load_gate
from goodgain.pipeline.studies.nightly.config import load_nightly_config
from goodgain.transforms.core.config_text import load_rules
from tests.page_commands import arguments_of
from tests.pipeline.init_commands import commands_in

pytestmark = pytest.mark.slow

NEEDED = {"input": ["traces"], "output": "out"}
LOADERS = {
    "run": lambda path: load_config(RunConfig, NEEDED, path),
    "gate": load_gate,
    "nightly": load_nightly_config,
    "stream": lambda path: load_config(StreamConfig, {"input": "i", "output": "o"}, path),
    "rules": load_rules,
    "mapping": lambda path: parse_mapping_file(Path(path).read_text(), path, ImportCounts()),
}


@pytest.mark.parametrize("kind", LOADERS)
def test_written_configuration_loads_and_fits_its_schema(kind, tmp_path, capsys):
    assert main(["init", kind, "--output", str(tmp_path)]) == 0
    config = tmp_path / f"{kind}.yaml"
    assert LOADERS[kind](str(config))
    schema = json.loads((tmp_path / f"{kind}.schema.json").read_text())
    content = yaml.safe_load(config.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(content, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**content, "no_such_option": 1}, schema)
    assert config.read_text().startswith(f"# yaml-language-server: $schema={kind}.schema.json\n")
    assert "SPEC" not in json.dumps(schema)
    printed = capsys.readouterr().out
    assert f"wrote {config}" in printed
    assert f"next: cd {tmp_path} && goodgain " in printed


@pytest.mark.parametrize(
    ("kind", "promised"),
    [
        ("run", "Report: out/report.html"),
        ("gate", "The gate passed: 4 rules, none failed; 2 skipped."),
        ("nightly", "2025-03-03: passed"),
        ("rules", "Report: out/report.html"),
        ("mapping", "3 conversations, 3 turns, 4 iterations, 5 calls, 8 results"),
    ],
)
def test_every_command_that_init_names_works(kind, promised, tmp_path, monkeypatch, capsys):
    """Those for streams run in `tests/engines/test_init.py`, those from a wheel in a shell."""
    monkeypatch.chdir(tmp_path)
    assert main(["init", kind]) == 0
    for arguments in arguments_of("\n".join(commands_in(capsys.readouterr().out))):
        assert main(arguments) == 0
    assert promised in capsys.readouterr().out


def test_written_files_name_only_files_that_are_there(tmp_path):
    for kind in sorted(kinds()):
        assert main(["init", kind, "--output", str(tmp_path / kind)]) == 0
        for path in (tmp_path / kind).glob("*.yaml"):
            text = path.read_text()
            assert not re.search(r"(?<!\()configs/|setup\.py|'\.\[", text), path
            for config in re.findall(r"--(?:config|rules|mapping|gate) (\S+)", text):
                assert (tmp_path / kind / config).exists(), f"{path}: {config}"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("run", {"max-i": 3, "good_gain-threshold": 1}),
        ("run", {"map": ["gain=relevance"]}),
        ("run", {"mapping": {"gain": "relevance"}}),
        ("stream", {"allowed-lateness": "1h"}),
    ],
)
def test_schemas_accept_every_spelling_that_the_loader_accepts(kind, content, tmp_path):
    assert main(["init", kind, "--output", str(tmp_path)]) == 0
    config = tmp_path / f"{kind}.yaml"
    config.write_text(yaml.safe_dump(content))
    assert LOADERS[kind](str(config))
    schema = json.loads((tmp_path / f"{kind}.schema.json").read_text())
    jsonschema.validate(content, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(dict.fromkeys(content, -1), schema)


def properties_of(schema):
    """Every property anywhere in a schema, with its name."""
    if isinstance(schema, list):
        for part in schema:
            yield from properties_of(part)
    elif isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
        for key, value in schema.items():
            yield from properties_of(list(value.values()) if key == "properties" else value)


@pytest.mark.parametrize("kind", LOADERS)
def test_every_property_of_a_schema_has_a_description(kind, tmp_path):
    assert main(["init", kind, "--output", str(tmp_path)]) == 0
    schema = json.loads((tmp_path / f"{kind}.schema.json").read_text())
    found = list(properties_of(schema))
    assert len(found) >= 6
    assert [name for name, option in found if not option.get("description")] == []
    assert '"flag"' not in json.dumps(schema)


def test_schema_of_nightly_knows_the_types_of_its_options(tmp_path):
    assert main(["init", "nightly", "--output", str(tmp_path)]) == 0
    schema = json.loads((tmp_path / "nightly.schema.json").read_text())
    content = {"input": "t/{date}/*", "output": "nights"}
    jsonschema.validate({**content, "notify": "mail a@example.org"}, schema)
    for wrong in ({"notify": ["mail"]}, {"notify": ""}, {"webhook": "https://example.org"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**content, **wrong}, schema)


def test_schemas_have_only_defaults_that_json_can_hold(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["init", "nightly", "--output", str(tmp_path)]) == 0


def test_written_traces_pass_validate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert main(["validate", "traces/*"]) == 0


def test_written_logs_become_traces_by_the_mapping(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "mapping"]) == 0
    command = capsys.readouterr().out.splitlines()[-1].removeprefix("next: goodgain ")
    assert main(command.split()) == 0
    assert "3 conversations, 3 turns, 4 iterations, 5 calls, 8 results" in capsys.readouterr().out
    assert main(["validate", "traces.parquet"]) == 0


def test_does_not_overwrite_files(tmp_path, capsys):
    mine = tmp_path / "gate.yaml"
    mine.write_text("mine")
    assert main(["init", "gate", "--output", str(tmp_path)]) == 2
    assert mine.read_text() == "mine"
    assert "gate.yaml exists already" in capsys.readouterr().err
