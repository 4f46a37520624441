"""The graph avoids shapes that an engine cannot run, or only with much memory."""

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from goodgain.pipeline.results.sinks import Target
from goodgain.pipeline.run.hosts.graph import Plan, build
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.judgment import LabelKeys
from tests.pipeline.run.hosts.test_finish import start_run
from tests.pipeline.runs import plain_scoring

pytestmark = pytest.mark.slow

FLATTEN = "beam:transform:flatten:v1"
GROUPING = "beam:transform:group_by_key:v1"
PARDO = "beam:transform:pardo:v1"


def transforms_of(qrels, in_state=False):
    """The primitive transforms of the graph, as engines see them."""
    scoring = plain_scoring(
        per_call=True, write_duplicates=True, label_keys=LabelKeys() if qrels else None
    )
    run = start_run(
        "out",
        config=RunConfig(input=("in.jsonl",), output="out", slice=["arm"]),
        files=(InputFile("in.jsonl", 10),),
        qrels=(InputFile("qrels.txt", 10),) if qrels else (),
        scoring=scoring,
    )
    plan = Plan(run, Target("out", "avro", 1), in_state)
    pipeline = beam.Pipeline(options=PipelineOptions([]))
    build(pipeline, plan)
    components = pipeline.to_runner_api().components
    return [
        transform for transform in components.transforms.values() if not transform.subtransforms
    ]


def has_state(transform):
    payload = beam.portability.api.beam_runner_api_pb2.ParDoPayload.FromString(
        transform.spec.payload
    )
    return bool(payload.state_specs)


def has_side_inputs(transform):
    if transform.spec.urn != PARDO:
        return False
    payload = beam.portability.api.beam_runner_api_pb2.ParDoPayload.FromString(
        transform.spec.payload
    )
    return bool(payload.side_inputs)


@pytest.mark.parametrize("qrels", [False, True], ids=["traces alone", "with judgments"])
def test_no_collection_feeds_a_flatten_and_a_step_with_side_inputs(qrels):
    """Flink's runner cannot translate that (apache/beam#34647)."""
    transforms = transforms_of(qrels)
    flattened = {
        name
        for transform in transforms
        if transform.spec.urn == FLATTEN
        for name in transform.inputs.values()
    }
    with_side_inputs = [transform for transform in transforms if has_side_inputs(transform)]
    assert flattened
    assert with_side_inputs
    shared = [
        input_.unique_name for input_ in with_side_inputs if flattened & set(input_.inputs.values())
    ]
    assert shared == []


def test_no_flatten_takes_scores_or_values_of_single_conversations():
    """Beam's local runner keeps every element that passes a Flatten in memory."""
    transforms = transforms_of(qrels=False)
    flattened = {
        name
        for transform in transforms
        if transform.spec.urn == FLATTEN
        for name in transform.inputs.values()
    }
    by_name = {transform.unique_name: transform.outputs for transform in transforms}
    scores = [
        collection
        for name, outputs in by_name.items()
        if name == "Score/ScoreConversation"
        for collection in outputs.values()
    ]
    assert len(scores) == 1
    assert not flattened & set(scores)
    # These emit one sum per bundle, or many rows at a time.
    steps = ("Means/SumBundle", "WriteScores/ToShard")
    for step in steps:
        (outputs,) = [of for name, of in by_name.items() if name.startswith(step)]
        assert set(outputs.values()) <= flattened


@pytest.mark.parametrize("qrels", [False, True], ids=["traces alone", "with judgments"])
@pytest.mark.parametrize("in_state", [False, True], ids=["grouped", "in state"])
def test_conversations_are_gathered_once(qrels, in_state):
    """Prism fires timers before it delivers the outputs of groupings and steps with side inputs."""
    transforms = transforms_of(qrels, in_state)
    scoring_steps = [
        transform for transform in transforms if transform.unique_name.startswith("Score/")
    ]
    assert [step.spec.urn for step in scoring_steps].count(GROUPING) == int(not in_state)
    stateful = [step for step in scoring_steps if step.spec.urn == PARDO and has_state(step)]
    assert len(stateful) == int(in_state)


def test_nothing_but_the_shuffle_of_payloads_reads_from_reading():
    """Flink sends all outputs of a step to each reader of one of them."""
    assert readers_of_reading(in_state=False) == {"Score/Loaded", "Score/Load0", "Score/Load1"}


def test_in_this_process_counts_do_not_wait_for_the_shuffle():
    """They show how much has been read."""
    assert readers_of_reading(in_state=True) == {
        "Score/ScoreConversation",
        "CountRead",
        "WriteRejected/ToShard",
    }


def readers_of_reading(in_state):
    transforms = transforms_of(qrels=False, in_state=in_state)
    (reading,) = [transform for transform in transforms if "ReadShard/" in transform.unique_name]
    outputs = set(reading.outputs.values())
    return {
        transform.unique_name
        for transform in transforms
        if outputs & set(transform.inputs.values())
    }
