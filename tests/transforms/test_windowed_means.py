"""Means by window: when panes are emitted, each over all of its window so far (SPEC 7)."""

from random import Random
from types import SimpleNamespace

import apache_beam as beam
import pytest
from apache_beam.testing import test_stream
from apache_beam.transforms.window import TimestampedValue
from hypothesis import given as given_by
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from goodgain.transforms import window_panes
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.streaming.event_window import window_start
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.core.streaming.windowed_means import (
    MissedByMeans,
    WindowRules,
)
from goodgain.transforms.stream_end import WITH_ENGINE, StoppableEnd
from goodgain.transforms.window_panes import MISSED, GivePanes, WindowSums
from goodgain.transforms.windowed_means import WindowedMeans
from tests.core.direct import score_one, scoring
from tests.transforms.one_by_one import OneByOne, Timers
from tests.transforms.streams import at, collect_outputs, minute_of, stamp

pytestmark = pytest.mark.slow

MINUTE = 60_000
HOUR = 60
CLOSING = Closing(gap=10 * MINUTE, allowed_lateness=20 * MINUTE)


def score_with(gain, **fields):
    return score_one([{"results": [{"id": "a", "gain": gain}], **fields}])


class Scores:
    """A stream of scores with their event times, and its watermark."""

    def __init__(self):
        self.stream = test_stream.TestStream(
            coder=beam.coders.registry.get_coder(ConversationScore)
        )

    def arrive(self, minute, score):
        row = replace(score.conversation, last_timestamp=at(minute))
        timed = replace(score, conversation=row)
        self.stream.add_elements([TimestampedValue(timed, stamp(at(minute)))])
        return self

    def watermark(self, *minutes):
        for minute in minutes:
            self.stream.advance_watermark_to(stamp(at(minute)))
        return self

    def means(self, slices=(), settings=None, cluster=None, end=WITH_ENGINE):
        options = MeansOptions(slices, cluster=cluster)
        settings = settings or scoring()
        with collect_outputs() as (pipeline, keep, given):
            means = (
                pipeline
                | self.stream.advance_watermark_to_infinity()
                | beam.Map(lambda score: score).with_output_types(ConversationScore)
                | WindowedMeans(
                    settings,
                    CLOSING,
                    options,
                    window=HOUR * MINUTE,
                    end=end,
                )
            )
            keep("rows", means.rows)
            keep("missed", means.missed)
            keep("warnings", means.warnings)
            keep("relations", means.relations)
        return given


def gains(given, slice_=None):
    """(start of window, pane, is_last, n, mean) of CG, in order of output."""
    return [
        (minute_of(row.window_start), row.pane, row.is_last, row.row.n, row.row.mean)
        for _, row in given["rows"]
        if (row.row.metric, row.row.population) == ("CG", "all")
        if row.row.slice == (slice_ or {})
    ]


@pytest.fixture(scope="module")
def start():
    """The minute at which the window of minute 0 starts."""
    return minute_of(at(0) - at(0) % (HOUR * MINUTE))


def test_a_window_has_an_on_time_pane_updates_and_a_last_pane(start):
    scores = Scores().arrive(start + 1, score_with(3)).arrive(start + 59, score_with(4))
    scores.watermark(start + 69).watermark(start + 70).arrive(start + 2, score_with(2))
    scores.watermark(start + 71, start + 89).watermark(start + 90, start + 91)
    assert gains(scores.means()) == [
        (start, 0, False, 2, 3.5),
        (start, 1, False, 3, 3),
        (start, 2, True, 3, 3),
    ]


def test_each_pane_has_the_warnings_of_its_window(start):
    scores = Scores().arrive(start + 1, score_with(None)).arrive(start + 60, score_with(4))
    scores.watermark(start + 70).arrive(start + 2, score_with(3)).arrive(start + 61, score_with(2))
    given = scores.watermark(start + 71, start + 90, start + 130, start + 150).means()
    assert [
        (
            minute_of(warning.window_start),
            warning.pane,
            warning.is_last,
            [found.code for found in warning.warnings],
        )
        for _, warning in given["warnings"]
    ] == [
        (start, 0, False, ["no_labels"]),
        (start, 1, False, ["few_labels"]),
        (start, 2, True, ["few_labels"]),
        (start + 60, 1, True, ["none"]),
    ]
    # The mean has no value either before anything is labelled.
    assert gains(given)[0] == (start, 0, False, 0, None)


def test_each_pane_relates_metrics_and_outcomes_as_batch_does(start):
    options = {"outcome": ("correct",)}

    def judged(gain, correct):
        one = {"results": [{"id": "a", "gain": gain}], "outcomes": {"correct": correct}}
        return score_one([one], **options)

    first = [judged(3, 1), judged(2, 0), judged(4, 1)]
    scores = Scores()
    for minute, score in enumerate(first, 1):
        scores.arrive(start + minute, score)
    last = judged(4, 0)
    scores.watermark(start + 70).arrive(start + 4, last).watermark(start + 71, start + 90)
    settings = scoring(**options)
    found = [relation for _, relation in scores.means(settings=settings)["relations"]]
    assert {minute_of(pane.window_start) for pane in found} == {start}
    for pane, of_pane in ((0, first), (1, [*first, last]), (2, [*first, last])):
        sums = MeansAccumulator()
        for score in of_pane:
            sums.add(conversation_values(score, settings.plan))
        rows = [pane_.row for pane_ in found if pane_.pane == pane]
        assert rows == sums.relations({}, settings.plan) != []
        assert {pane_.is_last for pane_ in found if pane_.pane == pane} == {pane == 2}


def test_a_window_warns_of_clusters_of_very_different_size(start):
    """Five conversations of one query and one of another: 6^2 / (5^2 + 1) = 1.4 of 2."""
    scores = Scores()
    for query in "aaaaab":
        scores.arrive(start + 1, score_with(3, attributes={"query": query}))
    given = [
        warning
        for _, pane in scores.means(cluster="query")["warnings"]
        for warning in pane.warnings
    ]
    assert {warning.code for warning in given} == {"few_effective_clusters"}
    assert given[-1].message.startswith(
        "The 2 clusters differ so much in size that they weigh like 1.4 of the same size"
    )


def test_a_window_warns_of_records_that_were_dropped_for_others(start):
    searches = [{"call": 0, "results": [{"id": name, "gain": 3}]} for name in "abc"]
    given = Scores().arrive(start + 1, score_one(searches)).watermark(start + 70).means()
    found = [warning for _, pane in given["warnings"] for warning in pane.warnings]
    assert {(warning.code, warning.count) for warning in found} == {("conflicting_redeliveries", 2)}
    assert "2 of 3 records" in found[0].message


def test_a_window_warns_of_ids_that_are_positions_with_examples(start):
    searches = [
        {
            "iteration": i,
            "results": [
                {"ids": {"doc_id": at}, "url": f"e.org/{i}{at}", "title": f"{i}{at}", "gain": 3}
                for at in "123456789"
            ],
        }
        for i in (1, 2)
    ]
    scores = Scores()
    for name in "dcba":
        score = score_one([{"conversation_id": name, **search} for search in searches])
        scores.arrive(start + 1, score)
    given = scores.watermark(start + 70).means()
    found = [warning for _, pane in given["warnings"] for warning in pane.warnings]
    assert {(warning.code, warning.count, warning.share) for warning in found} == {
        ("ids_contradicted", 36, 1.0)
    }
    assert "duplicates by ids.doc_id" in found[0].message
    assert "a: result 3 of iteration 2 and result 3 of iteration 1." in found[0].message


def test_a_window_warns_if_no_label_is_relevant(start):
    settings = scoring(relevance_threshold=3)
    scores = Scores().arrive(start + 1, score_with(2)).watermark(start + 70)
    given = scores.means(settings=settings)
    found = {warning.code for _, pane in given["warnings"] for warning in pane.warnings}
    assert found == {"labels_below_relevance_threshold"}


def test_windows_are_independent(start):
    scores = Scores().arrive(start + 1, score_with(3)).arrive(start + 60, score_with(4))
    scores.watermark(start + 70).arrive(start + 2, score_with(1)).arrive(start + 119, score_with(2))
    scores.watermark(start + 71, start + 90, start + 130, start + 150)
    assert gains(scores.means()) == [
        (start, 0, False, 1, 3),
        (start, 1, False, 2, 1.5),
        (start, 2, True, 2, 1.5),
        (start + 60, 0, False, 2, 3),
        (start + 60, 1, True, 2, 3),
    ]


def test_scores_after_the_last_pane_are_counted_as_missed(start):
    scores = Scores().arrive(start + 1, score_with(3)).watermark(start + 70, start + 90)
    given = scores.arrive(start + 2, score_with(2)).watermark(start + 500).means()
    assert [pane[1:4] for pane in gains(given)] == [(0, False, 1), (1, True, 1)]
    assert [element for _, element in given["missed"]] == [
        MissedByMeans(at(start), at(start + 60), {}, 1)
    ]


def test_a_score_far_behind_the_watermark_opens_its_window(start):
    """The window had no pane before, so the score is not missed."""
    scores = Scores().watermark(start + 10_000).arrive(start + 2, score_with(2))
    given = scores.watermark(start + 10_001, start + 10_002).means()
    assert gains(given) == [(start, 0, False, 1, 2), (start, 1, True, 1, 2)]
    assert given["missed"] == []


def test_the_end_of_the_stream_emits_all_panes(start):
    given = Scores().arrive(start + 1, score_with(3)).arrive(start + 61, score_with(4)).means()
    assert gains(given) == [
        (start, 0, False, 1, 3),
        (start, 1, True, 1, 3),
        (start + 60, 0, False, 1, 4),
        (start + 60, 1, True, 1, 4),
    ]


def test_slices_have_their_own_panes(start):
    one, other = (score_with(gain, attributes={"arm": arm}) for arm, gain in (("A", 3), ("B", 4)))
    scores = Scores().arrive(start + 1, one).arrive(start + 2, other).watermark(start + 70)
    given = scores.arrive(start + 3, other).watermark(start + 71).means([["arm"]])
    assert gains(given, {"arm": "A"}) == [(start, 0, False, 1, 3), (start, 1, True, 1, 3)]
    assert [pane[1:4] for pane in gains(given, {"arm": "B"})] == [
        (0, False, 1), (1, False, 2), (2, True, 2)
    ]  # fmt: skip
    assert [pane[3] for pane in gains(given)] == [2, 3, 3]


def test_a_stopped_stream_emits_only_panes_that_are_due(start):
    end = StoppableEnd()
    end.begin_draining(at(start + 80))
    scores = Scores().arrive(start + 1, score_with(3)).arrive(start + 61, score_with(4))
    given = scores.watermark(start + 70, start + 80).means(end=end)
    assert gains(given) == [(start, 0, False, 1, 3)]


WINDOW = 1_000
RULES = WindowRules(WINDOW, gap=100, allowed_lateness=300)


def engine_of_panes():
    give_panes = GivePanes(SCORING, RULES)
    engine = OneByOne(give_panes, give_panes.wake_up)

    def arrive(time, gain):
        values = conversation_values(SCORES[gain], SCORING.plan)
        sums = MeansAccumulator()
        sums.add(values)
        part = WindowSums.of(window_start(time, WINDOW), 1, sums)
        engine.arrive("{}", part, time)

    return engine, arrive


SCORING = scoring(max_i=2)
SCORES = [score_with(gain) for gain in range(2, 5)]


@given_by(st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_every_conversation_is_in_the_last_pane_of_its_window_or_missed(seed):
    """Each pane equals the mean computed directly over all earlier arrivals in its window."""
    random = Random(seed)
    engine, arrive = engine_of_panes()
    arrived = {}
    watermark = 0
    for _ in range(random.randrange(150)):
        time, gain = watermark + random.randrange(-3 * WINDOW, WINDOW), random.randrange(3)
        seen = len(engine.given)
        arrive(time, gain)
        missed = engine.given[seen:]
        assert [tag for tag, _, _ in missed] in ([], [MISSED])
        if not missed:
            arrived.setdefault(window_start(time, WINDOW), []).append(gain + 2)
        if random.random() < 0.1:
            watermark += random.randrange(WINDOW)
            seen = len(engine.given)
            engine.watermark(watermark)
            assert_direct(engine.given[seen:], arrived)
    seen = len(engine.given)
    engine.end()
    assert_direct(engine.given[seen:], arrived)
    panes = cg_rows(engine.given)
    for start, gains_there in arrived.items():
        own = [pane for pane in panes if pane.window_start == start]
        assert [row.pane for row in own] == list(range(len(own)))
        assert [row.is_last for row in own] == [False] * (len(own) - 1) + [True]
        assert own[-1].row.n == len(gains_there)


def test_state_does_not_grow_with_each_conversation():
    engine, arrive = engine_of_panes()
    for number in range(200):
        arrive(number, 0)
    kept = engine.remaining()["{}"]
    assert max(len(cell) for cell in kept if isinstance(cell, list)) < 70
    engine.end()
    assert [row.row.n for row in cg_rows(engine.given)] == [200, 200]


def cg_rows(given):
    return [row for tag, _, row in given if tag == "main" and row.row.metric == "CG"]


def assert_direct(given, arrived):
    for row in cg_rows(given):
        gains_there = arrived[row.window_start]
        assert row.row.n == len(gains_there)
        assert row.row.mean == pytest.approx(sum(gains_there) / len(gains_there))


def test_a_backlog_of_windows_sets_no_timer_while_timers_fire(monkeypatch):
    """All timers were set on arrival, so panes do not wait for the engine between windows."""
    engine, arrive = engine_of_panes()
    for start in range(20):
        arrive(start * WINDOW, 0)
    monkeypatch.setattr(Timers, "set", None)
    engine.watermark(20 * WINDOW + RULES.gap + RULES.allowed_lateness)
    panes = cg_rows(engine.given)
    assert [(pane.pane, pane.is_last) for pane in panes] == [(0, False), (1, True)] * 20


def test_a_pane_reads_only_the_sums_of_its_window(monkeypatch):
    engine, arrive = engine_of_panes()
    for start in range(20):
        arrive(start * WINDOW, 0)
    decoded = []
    decode = window_panes._accumulator_decoder.decode
    counting = SimpleNamespace(decode=lambda packed: decoded.append(packed) or decode(packed))
    monkeypatch.setattr(window_panes, "_accumulator_decoder", counting)
    engine.watermark(RULES.on_time(0))
    assert len(cg_rows(engine.given)) == len(decoded) == 1
