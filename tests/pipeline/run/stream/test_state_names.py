"""Names of state, which must not change so that a new release can update a Dataflow job."""

from importlib.resources import files

import apache_beam as beam
import yaml
from apache_beam.portability import common_urns
from apache_beam.portability.api.org.apache.beam.model.pipeline.v1 import beam_runner_api_pb2

from goodgain.pipeline.run.stream import graph, run, sources
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.stream_end import WITH_ENGINE

NAMES = files("goodgain.configs").joinpath("dataflow/state-names.yaml")


def test_names_of_state_equal_those_of_running_jobs(tmp_path):
    """If this fails, a new release cannot update running jobs."""
    config = StreamConfig(input=str(tmp_path), output=str(tmp_path / "out"), live=True)
    scoring = run.open_stream(config).scoring
    source = sources.folder(config, scoring.rules)
    pipeline = beam.Pipeline()
    graph.build(pipeline, graph.StreamPlan(config, scoring, source, WITH_ENGINE))
    found = {}
    for transform in pipeline.to_runner_api().components.transforms.values():
        if transform.spec.urn == common_urns.primitives.PAR_DO.urn:
            payload = beam_runner_api_pb2.ParDoPayload.FromString(transform.spec.payload)
            names = sorted([*payload.state_specs, *payload.timer_family_specs])
            if names:
                found[transform.unique_name] = names
    assert found == yaml.safe_load(NAMES.read_text())
