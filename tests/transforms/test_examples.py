"""Each exported transform in a pipeline as a user would write it."""

from importlib.resources import files

import apache_beam as beam
import msgspec
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to, is_empty

import goodgain.transforms
import goodgain.transforms.core.scoring.packing
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.fingerprint import FingerprintCalls
from goodgain.transforms.means import GlobalMeans
from goodgain.transforms.read import ReadTraces
from goodgain.transforms.read_payloads import ReadPayloads
from goodgain.transforms.score import ScoreConversations, ScorePayloads

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("reading")]

TRACES = str(files("goodgain.configs").joinpath("data/trec_session_2013.jsonl.gz"))
RULES = compile_rules(read_rules(read_shipped_rules()))
SCORING = Scoring(RULES, metrics=("ndcg@10",), max_i=2)

# The worked example of SPEC 5, without the ids of duplicates.
CALLS = [
    SearchCall("c", 1, results=[Result(id="a", gain=3), Result(id="b", gain=2)]),
    SearchCall("c", 2, results=[Result(id="d", gain=4), Result(id="e", gain=1), Result(id="a")]),
    SearchCall("c", 3, results=[Result(id="f", gain=2), Result(id="a"), Result(id="d")]),
]
# Two searches of one iteration that differ only in their content.
TIED = [
    SearchCall("tied", 1, results=[Result(id="a", gain=3)]),
    SearchCall("tied", 1, results=[Result(id="b", gain=2)]),
]


@pytest.fixture
def pipeline():
    """A pipeline that also checks every element against its declared type."""
    options = PipelineOptions(["--runtime_type_check"])
    return beam.Pipeline(runner=FnApiRunner(), options=options)


def test_files_are_read_scored_and_averaged(pipeline):
    with pipeline:
        traces = pipeline | ReadTraces([TRACES])
        scored = traces.records | ScoreConversations(SCORING)
        means = scored.scores | GlobalMeans(SCORING, MeansOptions((("topic",),)))

        overall = (
            means
            | beam.Filter(lambda row: row.metric == "CG" and row.i is None and not row.slice)
            | beam.Filter(lambda row: row.population == "all")
            | beam.Map(lambda row: (row.n, round(row.mean, 4)))
        )
        assert_that(overall, equal_to([(133, 2.6692)]), label="means")
        assert means.element_type is MeanRow


def test_read_traces_gives_calls(pipeline):
    with pipeline:
        traces = pipeline | ReadTraces([TRACES])
        conversations = (
            traces.calls
            | beam.Map(lambda call: call.conversation_id)
            | beam.Distinct()
            | beam.combiners.Count.Globally()
        )
        assert_that(conversations, equal_to([133]), label="conversations")
        assert_that(traces.rejected, is_empty(), label="rejected")
        assert traces.calls.element_type is SearchCall


def test_score_conversations_gives_scores(pipeline):
    with pipeline:
        scored = (
            pipeline
            | beam.Create(CALLS).with_output_types(SearchCall)
            | ScoreConversations(SCORING)
        )
        gains = scored.scores | beam.Map(lambda score: score.conversation.CG)
        assert_that(gains, equal_to([11]))
        assert scored.scores.element_type is ConversationScore


def test_fingerprint_calls_and_score_payloads_score_in_two_steps(pipeline):
    """With a step of the user in between."""
    with pipeline:
        payloads = (
            pipeline
            | beam.Create(CALLS).with_output_types(SearchCall)
            | FingerprintCalls(Packing(RULES))
        )
        assert payloads.element_type == beam.typehints.Tuple[str, bytes]
        scored = (
            payloads
            | beam.Map(lambda keyed: (f"copy of {keyed[0]}", keyed[1])).with_output_types(
                tuple[str, bytes]
            )
            | ScorePayloads(SCORING)
        )
        rows = scored.scores | beam.FlatMap(
            lambda score: [(row.conversation_id, row.i, row.G_i) for row in score.iterations]
        )
        assert_that(rows, equal_to([("copy of c", 1, 5), ("copy of c", 2, 4), ("copy of c", 3, 2)]))


def test_global_means_gives_means_by_iteration(pipeline):
    with pipeline:
        scored = (
            pipeline
            | beam.Create(CALLS).with_output_types(SearchCall)
            | ScoreConversations(SCORING)
        )
        means = scored.scores | GlobalMeans(SCORING)
        by_iteration = (
            means
            | beam.Filter(lambda row: row.metric == "CG_at_i" and row.population == "all")
            | beam.Map(lambda row: (row.i, row.mean))
        )
        assert_that(by_iteration, equal_to([(1, 5), (2, 9)]))


def test_read_payloads_and_score_payloads_need_no_records_in_between(
    pipeline, tmp_path, monkeypatch
):
    # No two calls share a payload, as on engines with many workers.
    monkeypatch.setattr(goodgain.transforms.core.scoring.packing, "MOST_BUFFERED_RESULTS", 0)
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\n".join(msgspec.json.encode(call) for call in [*CALLS, *TIED]))
    with pipeline:
        files = pipeline | ReadPayloads([str(path)], Packing(RULES))
        gains = (files.payloads | ScorePayloads(SCORING)).scores | beam.Map(
            lambda score: (score.conversation.conversation_id, score.conversation.CG)
        )
        assert_that(gains, equal_to([("c", 11), ("tied", 5)]), label="gains")
        assert_that(files.rejected, is_empty(), label="rejected")
        read = files.counts | beam.Map(lambda counts: counts["records.read"])
        assert_that(read, equal_to([5]), label="read")
        assert files.payloads.element_type == beam.typehints.Tuple[str, bytes]
