"""The shape of the pipeline, as far as an engine refuses some shapes."""

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from goodgain.pipeline.graph import Plan, build
from goodgain.pipeline.outputs.sinks import Target
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.judgment import LabelKeys
from tests.pipeline.runs import plain_scoring

pytestmark = pytest.mark.slow

FLATTEN = "beam:transform:flatten:v1"
GROUPING = "beam:transform:group_by_key:v1"
PARDO = "beam:transform:pardo:v1"


def transforms_of(qrels, in_state=False):
    """All transforms of the graph that do something themselves, as engines see them."""
    plan = Plan(
        (InputFile("in.jsonl", 10),),
        Target("out", "avro", 1),
        plain_scoring(
            per_call=True, keep_duplicates=True, label_keys=LabelKeys() if qrels else None
        ),
        (("arm",),),
        max_i=10,
        shard_bytes=1000,
        qrels=(InputFile("qrels.txt", 10),) if qrels else (),
        in_state=in_state,
        interval="hall",
        cluster=None,
    )
    pipeline = beam.Pipeline(options=PipelineOptions([]))
    build(pipeline, plan)
    components = pipeline.to_runner_api().components
    return [one for one in components.transforms.values() if not one.subtransforms]


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
        name for one in transforms if one.spec.urn == FLATTEN for name in one.inputs.values()
    }
    beside = [one for one in transforms if has_side_inputs(one)]
    assert flattened
    assert beside
    shared = [one.unique_name for one in beside if flattened & set(one.inputs.values())]
    assert shared == []


def test_no_flatten_takes_scores_or_values_of_single_conversations():
    """Beam's local runner keeps all that passes a Flatten: more than all else in memory."""
    transforms = transforms_of(qrels=False)
    flattened = {
        name for one in transforms if one.spec.urn == FLATTEN for name in one.inputs.values()
    }
    by_name = {one.unique_name: one.outputs for one in transforms}
    scores = [
        collection
        for name, outputs in by_name.items()
        if "/ScoreConversation/" in name
        for tag, collection in outputs.items()
        if tag != "undecided"
    ]
    assert len(scores) == 2
    assert not flattened & set(scores)
    # These give what a bundle adds up to, or many at a time.
    steps = ("Means/SumBundle", "WriteScores/ToShard")
    for step in [f"{step}{branch}" for step in steps for branch in (1, 2)]:
        (outputs,) = [of for name, of in by_name.items() if name.startswith(step)]
        assert set(outputs.values()) <= flattened


@pytest.mark.parametrize("qrels", [False, True], ids=["traces alone", "with judgments"])
@pytest.mark.parametrize("label", ["Score/", "ScoreTied/Score/"])
@pytest.mark.parametrize("in_state", [False, True])
def test_the_table_of_engines_decides_how_conversations_are_gathered(qrels, label, in_state):
    """Prism fires timers before it brings what comes from behind groupings and side inputs."""
    transforms = transforms_of(qrels, in_state)
    made_by = {name: one for one in transforms for name in one.outputs.values()}
    (fold,) = (one for one in transforms if one.unique_name.startswith(f"{label}ScoreConv"))
    (source,) = fold.inputs.values()
    assert (made_by[source].spec.urn == GROUPING) is not in_state
    payload = beam.portability.api.beam_runner_api_pb2.ParDoPayload.FromString(fold.spec.payload)
    assert bool(payload.state_specs) is in_state
