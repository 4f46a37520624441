"""Metadata and launcher of the Dataflow templates, checked without Dataflow."""

import json
import re
from importlib.resources import files

import pytest
from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions

from goodgain.configs.dataflow.launch import words
from goodgain.pipeline.cli.commands import load_command, parse_arguments
from goodgain.pipeline.cli.config_options import collect_given_options
from goodgain.pipeline.generated.templates import (
    NOT_IN_TEMPLATES,
    run_template,
    stream_template,
)
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig

FOLDER = files("goodgain.configs").joinpath("dataflow")
CONFIGS = {"run": RunConfig, "stream": StreamConfig}
LAUNCHER = (
    *("--runner=DataflowRunner", "--project=p", "--region=r", "--job_name=j"),
    *("--template_location=gs://bucket/staging/template_launches/1/job_object",),
    *("--sdk_container_image=host/image:tag", "--temp_location=gs://bucket/temp"),
)


def metadata(command):
    return json.loads(FOLDER.joinpath(f"metadata-{command}.json").read_text())


def parameters(command):
    return {parameter["name"]: parameter for parameter in metadata(command)["parameters"]}


def launch(*parameters):
    """The configuration from parameters of a template, and the arguments left for Beam."""
    command, *options = words([*parameters, *LAUNCHER])
    args = parse_arguments(load_command(command), options)
    model = CONFIGS[command]
    config = load_config(model, collect_given_options(args, model), args.config)
    return config, args.beam_arguments


@pytest.mark.parametrize("command", CONFIGS)
def test_each_template_accepts_only_its_command(command):
    (regex,) = parameters(command)["command"]["regexes"]
    assert not parameters(command)["command"]["isOptional"]
    assert [config for config in CONFIGS if re.match(regex, config)] == [command]
    assert metadata(command)["streaming"] is (command == "stream")


@pytest.mark.parametrize("command", CONFIGS)
def test_exactly_the_required_options_are_parameters_that_must_be_given(command):
    fields = CONFIGS[command].model_fields
    needed = {name for name, found in parameters(command).items() if not found["isOptional"]}
    assert needed == {"command", *(name for name in fields if fields[name].is_required())}


def test_all_other_options_of_run_are_parameters():
    assert set(RunConfig.model_fields) - set(parameters("run")) == set(NOT_IN_TEMPLATES)


@pytest.mark.parametrize(
    ("command", "name", "fitting", "other"),
    [
        ("run", "input", "gs://a/*.avro;gs://b/c", "a/*.avro"),
        ("run", "exclude", "gs://bucket/a.txt", "a.txt"),
        ("run", "overwrite", "true", "yes"),
        ("run", "duplicates", "hold_slot", "drop"),
        ("stream", "input", "pubsub://projects/p/subscriptions/s", "gs://bucket/traces"),
        ("stream", "output", "gs://bucket/out", "out"),
    ],
)
def test_a_parameter_says_what_its_values_look_like(command, name, fitting, other):
    (regex,) = parameters(command)[name]["regexes"]
    assert re.match(regex, fitting)
    assert not re.match(regex, other)


@pytest.mark.parametrize("written", [run_template, stream_template])
def test_templates_are_made_of_the_options(written):
    """`make generated` writes them; a new option of a run becomes a parameter."""
    name = written.__name__.removesuffix("_template")
    text = FOLDER.joinpath(f"metadata-{name}.json").read_text(encoding="utf-8")
    assert written(text) == text
    template = json.loads(text)
    *others, last = template["parameters"]
    missing = written(json.dumps({**template, "parameters": others}))
    added = [
        parameter for parameter in json.loads(missing)["parameters"] if parameter not in others
    ]
    assert added == ([last] if name == "run" else [])


def test_launcher_configures_a_stream():
    config, rest = launch(
        "--command=stream",
        "--input=pubsub://projects/p/subscriptions/s",
        "--output=gs://bucket/out",
        *("--live=true", "--per_call=false", "--slice=market;arm,market", "--gap=10m"),
    )
    assert config.live
    assert not config.per_call
    assert config.slice == (("market",), ("arm", "market"))
    assert config.gap == 600_000
    assert config.runner == "DataflowRunner"
    assert "--sdk_container_image=host/image:tag" in rest


def test_launcher_configures_a_run(tmp_path):
    (tmp_path / "run.yaml").write_text("max_i: 3\nmax_rejected: 5%\nrunner: DirectRunner\n")
    values = {
        "command": "run",
        "config": f"{tmp_path}/run.yaml",
        "input": "gs://bucket/a/*;gs://bucket/b/*",
        "output": "gs://bucket/out",
        "overwrite": "true",
        "bounds": "false",
        "slice": "market;arm,market",
        "metrics": "map,ndcg@10",
        "max_rejected": "2%",
    }
    for name, value in values.items():
        for regex in parameters("run")[name].get("regexes", ()):
            assert re.search(regex, value), name
    config, rest = launch(*(f"--{name}={value}" for name, value in values.items()))
    assert config.input == ("gs://bucket/a/*", "gs://bucket/b/*")
    assert config.output == "gs://bucket/out"
    assert config.overwrite
    assert not config.bounds
    assert config.slice == (("market",), ("arm", "market"))
    assert config.metrics == ("map", "ndcg@10")
    assert (config.max_i, str(config.max_rejected)) == (3, "2%")
    assert config.runner == "DataflowRunner"
    assert PipelineOptions(rest).view_as(GoogleCloudOptions).template_location


def test_arguments_without_a_command_are_unchanged():
    assert words(["--input=a"]) == ["--input=a"]
