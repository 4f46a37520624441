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
    advance,
    advance_in_silence,
    note_times,
)

RULE = WatermarkRule(out_of_orderness_ms=10, ahead_ms=100, idle_ms=1_000, quiet_ms=500)
NOW = 1_000_000
EVERY_50 = [50 * step for step in range(WITNESSES)]


def after_records(state, times, now=NOW, rule=RULE):
    """The state after a round of records, and how many of them were too far ahead."""
    return advance(note_times(state, times, now, rule), rule)


def reach(rounds, now=NOW, rule=RULE, start=None):
    """The state after rounds of records, each given by the times of its records."""
    state = start or WatermarkState()
    for times in rounds:
        state, _ = after_records(state, times, now, rule)
    return state


def test_the_watermark_stays_behind_the_newest_record():
    assert reach([EVERY_50]).watermark == 700 - 10
    assert reach([EVERY_50, [750, 720]]).watermark == 740


def test_too_few_records_set_no_watermark():
    state = reach([EVERY_50[:-1]])
    assert (state.watermark, state.newest, state.greatest) == (None, None, 650)
    # The records may come in separate rounds.
    assert reach([[time] for time in EVERY_50]).watermark == 690


@pytest.mark.parametrize(("time", "watermark", "ahead"), [(800, 790, 0), (801, 690, 1)])
def test_a_record_moves_the_watermark_by_no_more_than_ahead_ms(time, watermark, ahead):
    state, found = after_records(reach([EVERY_50]), [time], NOW, RULE)
    assert (state.watermark, found) == (watermark, ahead)


@pytest.mark.parametrize(("records", "watermark"), [(7, 690), (8, 4_990)])
def test_a_majority_of_the_last_records_crosses_a_gap(records, watermark):
    assert reach([EVERY_50, *[[5_000]] * records]).watermark == watermark


def test_a_majority_of_a_large_round_crosses_a_gap():
    far = [9_000] * 20
    assert reach([EVERY_50, [*far, *EVERY_50, *EVERY_50[:5]]]).watermark == 690
    assert reach([EVERY_50, [*far, *EVERY_50, *EVERY_50[:4]]]).watermark == 8_990


def test_the_watermark_does_not_pass_the_local_clock():
    future = [NOW + 101 + step for step in range(100)]
    state, ahead = after_records(reach([EVERY_50]), future, NOW, RULE)
    assert (state.watermark, state.greatest, ahead) == (690, 700, 100)
    assert after_records(state, future, NOW + 200, RULE)[0].watermark == NOW + 190


def test_silence_passes_all_records_and_then_advances_like_time():
    state = reach([EVERY_50, [5_000, NOW + 1_000]])
    assert state.watermark == 690
    watermarks = []
    for _ in range(3):
        state = advance_in_silence(state, RULE)
        watermarks.append(state.watermark)
    assert watermarks == [5_500, 6_500, 7_500]
    # The next record is within ahead_ms of the watermark that silence has advanced.
    assert reach([[7_600]], start=state).watermark == 7_590
    assert reach([[7_600]], start=state).silent == 0


def test_silence_before_any_time_is_known_is_only_counted():
    assert advance_in_silence(WatermarkState(), RULE) == WatermarkState(silent=1)
    assert reach([EVERY_50], start=advance_in_silence(WatermarkState(), RULE)).watermark == 690


@pytest.mark.parametrize(
    ("name", "value"),
    [("out_of_orderness_ms", -1), ("ahead_ms", 0), ("idle_ms", 0), ("quiet_ms", -1)],
)
def test_rejects_a_rule_out_of_range(name, value):
    with pytest.raises(UsageError, match=f"{name} must be at least .*, got {value}"):
        WatermarkRule(**{name: value})


def advance_by_all_times(state, times):
    """The rules over all times, without spans: (newest, greatest, recent, too far)."""
    newest, greatest, recent = state
    trusted = [time for time in times if time <= NOW + RULE.ahead_ms]
    ordered = sorted([*recent, *trusted])
    recent = [*recent, *trusted][-WITNESSES:]

    def reach(from_):
        for time in ordered:
            if from_ < time <= from_ + RULE.ahead_ms:
                from_ = time
        return from_

    newest = None if newest is None else reach(newest)
    witnesses = trusted if len(trusted) >= WITNESSES else recent
    if len(witnesses) >= WITNESSES:
        median = sorted(witnesses)[(len(witnesses) - 1) // 2]
        if newest is None or median > newest:
            newest = reach(median)
    limit = NOW + RULE.ahead_ms
    limit = limit if newest is None else min(limit, newest + RULE.ahead_ms)
    greatest = max([*ordered, *([] if greatest is None else [greatest])], default=None)
    return (newest, greatest, recent), sum(time > limit for time in times)


steps = st.lists(st.integers(0, 130), max_size=40).map(itertools.accumulate).map(list)
jumps = st.integers(-300, 2_000)
rounds_of_times = st.lists(
    st.tuples(steps, jumps).map(lambda one: [time + one[1] for time in one[0]]), max_size=6
)


@given(rounds_of_times, st.randoms(), st.integers(1, 7))
def test_spans_of_times_decide_as_all_times_do(rounds, order, size):
    state, by_all = WatermarkState(), (None, None, [])
    for times in rounds:
        order.shuffle(times)
        for start in range(0, len(times), size):
            state = note_times(state, times[start : start + size], NOW, RULE)
        state, ahead = advance(state, RULE)
        by_all, expected = advance_by_all_times(by_all, times)
        assert (state.newest, state.greatest, list(state.recent)) == by_all
        assert ahead == expected


times = st.lists(st.integers(-2_000, 2 * NOW), max_size=40)


@given(st.lists(st.one_of(times, st.none()), max_size=12))
def test_the_watermark_never_falls(events):
    state, before = WatermarkState(), None
    for event in events:
        if event is None:
            state = advance_in_silence(state, RULE)
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
    assert reach(rounds).watermark <= max(correct) + RULE.ahead_ms - RULE.out_of_orderness_ms


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
    assert reach(rounds).watermark == max(correct) - RULE.out_of_orderness_ms
