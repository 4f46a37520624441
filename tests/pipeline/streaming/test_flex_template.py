"""The files of the Dataflow template, as far as they can be checked without Dataflow."""

import json
from importlib.resources import files
from pathlib import Path

import apache_beam as beam
import pytest
import yaml
from apache_beam.portability import common_urns
from apache_beam.portability.api.org.apache.beam.model.pipeline.v1 import beam_runner_api_pb2

from configs.dataflow.launch import words
from pipeline.cli.arguments import parse_arguments
from pipeline.cli.commands import load_command
from pipeline.cli.config_options import given_options
from pipeline.config_file import load_config
from pipeline.streaming import graph, run, sources
from pipeline.streaming.config import StreamConfig

FOLDER = files("configs").joinpath("dataflow")
METADATA = json.loads(FOLDER.joinpath("metadata.json").read_text())
PARAMETERS = {parameter["name"]: parameter for parameter in METADATA["parameters"]}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_is_an_option_of_the_stream(name):
    field = StreamConfig.model_fields[name]
    assert PARAMETERS[name]["isOptional"] is not field.is_required()
    assert PARAMETERS[name]["label"] == name.replace("_", " ")


def test_every_option_that_must_be_given_is_a_parameter():
    needed = {name for name, field in StreamConfig.model_fields.items() if field.is_required()}
    assert needed <= set(PARAMETERS)


def test_the_launcher_turns_parameters_into_a_command_line():
    command, *options = words(
        [
            "--input=pubsub://projects/p/subscriptions/s",
            "--output=gs://bucket/out",
            *("--live=true", "--per_call=false", "--slice=market;arm,market", "--gap=10m"),
            *("--runner=DataflowRunner", "--sdk_container_image=host/image:tag"),
        ]
    )
    args = parse_arguments(load_command(command), options)
    config = load_config(StreamConfig, given_options(args, StreamConfig), None)
    assert config.live
    assert not config.per_call
    assert config.slice == (("market",), ("arm", "market"))
    assert config.gap == 600_000
    assert config.runner == "DataflowRunner"
    assert args.beam_arguments == ["--sdk_container_image=host/image:tag"]


def test_names_of_state_are_those_that_running_jobs_have(tmp_path):
    """A job can be replaced by a new release only where these stay as they are."""
    config = StreamConfig(input=str(tmp_path), output=str(tmp_path / "out"), live=True)
    source = sources.folder(config, Path(tmp_path), 0, ends_when_silent=False)
    pipeline = beam.Pipeline()
    graph.build(pipeline, run._plan(config, source, 1, None))
    found = {}
    for transform in pipeline.to_runner_api().components.transforms.values():
        if transform.spec.urn == common_urns.primitives.PAR_DO.urn:
            payload = beam_runner_api_pb2.ParDoPayload.FromString(transform.spec.payload)
            names = sorted([*payload.state_specs, *payload.timer_family_specs])
            if names:
                found[transform.unique_name] = names
    assert found == yaml.safe_load(FOLDER.joinpath("state-names.yaml").read_text())
