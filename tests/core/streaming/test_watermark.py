"""The watermark of a source follows correct clocks, and one wrong clock cannot move it far."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.streaming.watermark import (
    WITNESSES,
    WatermarkRule,
    WatermarkState,
    after_records,
    after_silence,
)

RULE = WatermarkRule(out_of_orderness_ms=10, ahead_ms=100, idle_ms=1_000, quiet_ms=500)
NOW = 1_000_000
EVERY_50 = [50 * step for step in range(WITNESSES)]


def reached(rounds, now=NOW, rule=RULE, start=None):
    """The state after rounds of records, each given by the times of its records."""
    state = start or WatermarkState()
    for times in rounds:
        state, _ = after_records(state, times, now, rule)
    return state


def test_the_watermark_stays_behind_the_newest_record():
    assert reached([EVERY_50]).watermark == 700 - 10
    assert reached([EVERY_50, [750, 720]]).watermark == 740


def test_too_few_records_set_no_watermark():
    assert reached([EVERY_50[:-1]]) == WatermarkState(None, None, 650, tuple(EVERY_50[:-1]))
    # The records may come in separate rounds.
    assert reached([[time] for time in EVERY_50]).watermark == 690


@pytest.mark.parametrize(("time", "watermark", "ahead"), [(800, 790, 0), (801, 690, 1)])
def test_a_record_moves_the_watermark_by_no_more_than_ahead_ms(time, watermark, ahead):
    state, found = after_records(reached([EVERY_50]), [time], NOW, RULE)
    assert (state.watermark, found) == (watermark, ahead)


@pytest.mark.parametrize(("records", "watermark"), [(7, 690), (8, 4_990)])
def test_a_majority_of_the_last_records_crosses_a_gap(records, watermark):
    assert reached([EVERY_50, *[[5_000]] * records]).watermark == watermark


def test_a_majority_of_a_large_round_crosses_a_gap():
    far = [9_000] * 20
    assert reached([EVERY_50, [*far, *EVERY_50, *EVERY_50[:5]]]).watermark == 690
    assert reached([EVERY_50, [*far, *EVERY_50, *EVERY_50[:4]]]).watermark == 8_990


def test_the_watermark_does_not_pass_the_local_clock():
    future = [NOW + 101 + step for step in range(100)]
    state, ahead = after_records(reached([EVERY_50]), future, NOW, RULE)
    assert (state.watermark, state.greatest, ahead) == (690, 700, 100)
    assert after_records(state, future, NOW + 200, RULE)[0].watermark == NOW + 190


def test_silence_passes_all_records_and_then_advances_like_time():
    state = reached([EVERY_50, [5_000, NOW + 1_000]])
    assert state.watermark == 690
    watermarks = []
    for _ in range(3):
        state = after_silence(state, RULE)
        watermarks.append(state.watermark)
    assert watermarks == [5_500, 6_500, 7_500]
    # The next record is within ahead_ms of the watermark that silence has advanced.
    assert reached([[7_600]], start=state).watermark == 7_590
    assert reached([[7_600]], start=state).silent == 0


def test_silence_before_any_time_is_known_is_only_counted():
    assert after_silence(WatermarkState(), RULE) == WatermarkState(silent=1)
    assert reached([EVERY_50], start=after_silence(WatermarkState(), RULE)).watermark == 690


@pytest.mark.parametrize(
    ("name", "value"),
    [("out_of_orderness_ms", -1), ("ahead_ms", 0), ("idle_ms", 0), ("quiet_ms", -1)],
)
def test_rejects_a_rule_out_of_range(name, value):
    with pytest.raises(UsageError, match=f"{name} must be at least .*, got {value}"):
        WatermarkRule(**{name: value})


times = st.lists(st.integers(-2_000, 2 * NOW), max_size=40)


@given(st.lists(st.one_of(times, st.none()), max_size=12))
def test_the_watermark_never_falls(events):
    state, before = WatermarkState(), None
    for event in events:
        if event is None:
            state = after_silence(state, RULE)
        else:
            state, ahead = after_records(state, event, NOW, RULE)
            assert 0 <= ahead <= len(event)
        assert before is None or state.watermark >= before
        before = state.watermark


@given(st.lists(st.integers(0, 60), min_size=45, max_size=100), st.randoms(), st.data())
def test_one_wrong_clock_moves_the_watermark_by_no_more_than_ahead_ms(steps, order, data):
    correct = list(itertools.accumulate(steps))
    order.shuffle(correct)
    wrong = data.draw(st.integers(-NOW, 2 * NOW))
    place = data.draw(st.integers(0, len(correct)))
    size = data.draw(st.integers(1, 60))
    both = [*correct[:place], wrong, *correct[place:]]
    rounds = [both[start : start + size] for start in range(0, len(both), size)]
    assert reached(rounds).watermark <= max(correct) + RULE.ahead_ms - RULE.out_of_orderness_ms


@settings(max_examples=40)
@given(st.lists(st.integers(0, 60), min_size=45, max_size=100), st.data())
def test_a_minority_of_clocks_wrong_by_years_does_not_move_the_watermark(steps, data):
    correct = list(itertools.accumulate(steps))
    wrong_times = st.sampled_from([-10 * NOW, 100_000, NOW // 2, NOW, 10 * NOW])
    size = data.draw(st.integers(1, 40))
    mixed = []
    for place, time in enumerate(correct):
        mixed.append(time)
        # At most every third record is wrong, so never a majority of the last fifteen.
        if place % 2 and data.draw(st.booleans()):
            mixed.append(data.draw(wrong_times))
    rounds = [mixed[start : start + size] for start in range(0, len(mixed), size)]
    assert reached(rounds).watermark == max(correct) - RULE.out_of_orderness_ms
