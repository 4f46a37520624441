"""The means of all conversations have rows even if no conversation counts (SPEC 6)."""

from random import Random

import apache_beam as beam
import pytest
from apache_beam.testing.util import assert_that
from apache_beam.transforms.window import GlobalWindow

from goodgain.pipeline.run.engines import runners
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.ranking.families import GAUC, GAUC_WEIGHTED
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.means import CombineMeans, GlobalMeans, _SumScores
from tests.adversarial import trace
from tests.core.direct import score, scoring

METRICS = ("auc", "precision@5")
MAX_I = 3
PLAN = scoring(metrics=METRICS, max_i=MAX_I).plan


def means(scores, check, window=None):
    make, options = runners.create("FnApiRunner", ())
    with beam.Pipeline(runner=make, options=options) as pipeline:
        given = pipeline | beam.Create(scores).with_output_types(ConversationScore)
        if window is not None:
            given = given | beam.WindowInto(window)
        settings = scoring(metrics=METRICS, max_i=MAX_I)
        assert_that(given | GlobalMeans(settings, MeansOptions((("arm",),))), check)


def without_search():
    """A conversation whose last turn did not search."""
    record = {"conversation_id": "c", "iteration": 1, "turn_count": 2, "results": []}
    return list(score([record], metrics=METRICS).values())


@pytest.mark.parametrize("scores", [[], without_search()], ids=["no conversation", "no search"])
def test_without_counted_conversations_all_rows_have_n_0(scores):
    def check(rows):
        rows = [row for row in rows if row.slice == {}]
        everyone = [row for row in rows if row.population == "everyone"]
        assert {row.n + row.undefined for row in everyone} == {
            len(values) for values in [scores] if values
        }
        rows = [row for row in rows if row not in everyone]
        assert {(row.n, row.undefined, row.mean) for row in rows} == {(0, 0, None)}
        names = [metric.name for metric in (*CONVERSATION_METRICS, GAUC, GAUC_WEIGHTED)]
        at_end = {(name, None, "all") for name in (*names, *METRICS)}
        at_i = {
            (metric.name, i, population)
            for metric in GAINS.by_i
            for i in range(1, MAX_I + 1)
            for population in ("reached", "all")
        }
        assert sorted((row.metric, row.i or 0, row.population) for row in rows) == sorted(
            (metric, i or 0, population) for metric, i, population in at_end | at_i
        )

    means(scores, check)


def test_one_counted_conversation_has_rows_for_all_and_for_its_slice():
    record = {"conversation_id": "c", "iteration": 1, "results": []}

    def check(rows):
        everything = [row for row in rows if row.slice == {}]
        assert len(everything) == len(rows) / 2  # including the slice of arm ""
        assert {row.n for row in everything if row.metric == "CG"} == {1}

    means(list(score([record], metrics=METRICS).values()), check)


def test_windows_without_conversations_have_no_rows():
    def check(rows):
        assert rows == []

    means([], check, beam.window.FixedWindows(60))


def test_a_bundle_holds_a_limited_number_of_slices(monkeypatch):
    some = score(trace(Random(2), conversations=40), metrics=METRICS).values()
    counted = [one for each in some if (one := conversation_values(each, PLAN))]
    combine = CombineMeans()

    def summed(most):
        """The sums that a bundle emits before and at its end, and the rows of each slice."""
        monkeypatch.setattr("goodgain.transforms.means._MOST_SLICES", most)
        bundle = _SumScores()
        bundle.start_bundle()
        early = []
        for at, values in enumerate(counted):
            early += bundle.process((f"{at % 5}", values), GlobalWindow())
        last = list(bundle.finish_bundle())
        by_slice = {}
        for slice_, sums in (row.value for row in early + last):
            by_slice.setdefault(slice_, []).append(sums)
        merged = {key: combine.merge_accumulators(sums) for key, sums in by_slice.items()}
        return early, last, {key: sums.rows({}, PLAN) for key, sums in merged.items()}

    early, last, rows = summed(5)
    assert (len(early), len(last), len(rows)) == (0, 5, 5)
    early, last, again = summed(2)
    assert again == rows
    assert len(early) >= len(counted) - 2
    assert len(last) <= 2


CONVERSATIONS = 5_000
MOST_BYTES = 2_000  # per conversation; distributions would take more than 12,000


@pytest.mark.slow
def test_sums_of_single_conversations_are_shuffled_compactly():
    """As on an engine that combines bundles of one element separately."""
    some = score(trace(Random(1), conversations=60), metrics=METRICS).values()
    counted = [one for each in some if (one := conversation_values(each, PLAN))]
    values = [counted[at % len(counted)] for at in range(CONVERSATIONS)]
    combine = CombineMeans()
    coder = combine.get_accumulator_coder()
    shuffled = []
    for value in values:
        accumulator = combine.create_accumulator()
        accumulator.add(value)
        shuffled.append(coder.encode(combine.compact(accumulator)))
    assert sum(map(len, shuffled)) < CONVERSATIONS * MOST_BYTES
    together = combine.create_accumulator()
    for row in values:
        together.add(row)
    merged = combine.merge_accumulators(map(coder.decode, shuffled))
    assert merged.rows({}, PLAN) == together.rows({}, PLAN)
