"""When conversations close, decided without an engine (SPEC 3, 7)."""

import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.streaming.closing import Arrival, Closing, arrived, woken

GAP, AGE = 100, 1_000
CLOSING = Closing(gap=GAP, allowed_lateness=50, max_open=AGE)
NO_TIME = -(2**53)
END_OF_TIME = 2**53


def record(at, **fields):
    what = {"first": at, "last": at, "final": None, "records": 1, "results": 1, "size": 10}
    return Arrival(**{"at": at, "rejected": 0, **what, **fields})


def flag(at):
    return record(at, records=0, results=0, rejected=1)


def after(*arrivals, closing=CLOSING):
    known = None
    for arrival in arrivals:
        fate, known = arrived(known, arrival, closing)
        assert fate == "keep"
    return known


def test_the_pending_wake_up_moves_only_forward():
    assert after(record(0)).wake == GAP
    assert after(record(0), record(80)).wake == GAP  # found out when it rings
    assert after(record(0), record(80, final=80)).wake == 81
    assert after(record(80), record(0)).wake == 80 + GAP


def test_a_wake_up_that_finds_more_to_come_is_set_again():
    step, known = woken(after(record(0), record(80)), GAP, CLOSING)
    assert (step, known.wake) == ("wait", 80 + GAP)
    step, known = woken(known, 80 + GAP, CLOSING)
    assert (step, known.closed, known.wake) == ("close", 80 + GAP, 80 + GAP + 50)
    assert woken(known, 80 + GAP + 49, CLOSING)[0] == "wait"
    assert woken(known, 80 + GAP + 50, CLOSING)[0] == "forget"


def test_of_two_final_records_the_first_closes():
    assert after(record(60, final=60), record(20, final=20)).deadline(CLOSING) == 21


def test_flags_alone_close_when_they_were_read_but_do_not_prolong():
    assert after(flag(5)).deadline(CLOSING) == 5 + GAP
    assert after(record(0), flag(90)).deadline(CLOSING) == GAP
    assert after(flag(0), record(500)).deadline(CLOSING) == 500 + GAP


def test_a_flag_without_a_time_waits_for_a_record_or_the_end_of_the_stream():
    """A source that has no watermark yet has no time for what it cannot use."""
    known = after(flag(NO_TIME))
    assert woken(known, 10**13, CLOSING)[0] == "wait"
    assert woken(known, END_OF_TIME, CLOSING)[0] == "close"
    assert after(flag(NO_TIME), record(7)).deadline(CLOSING) == 7 + GAP


def test_a_record_long_past_does_not_age_a_conversation():
    assert after(record(5_000), record(0)).deadline(CLOSING) == 5_000 + GAP


def test_a_clock_ahead_by_years_does_not_hold_its_conversation_open():
    """The source gives such a record a time near its own; so the conversation is of bounded age."""
    years_ahead = record(0, first=10**12, last=10**12)
    assert after(years_ahead).deadline(CLOSING) == AGE


def test_a_flag_beyond_the_cap_is_counted_like_one_that_is_kept():
    capped = Closing(gap=GAP, most_results=1)
    _, known = arrived(after(record(0)), record(1), capped)
    fate, known = arrived(known, flag(2), capped)
    assert (fate, known.over_cap, known.rejected) == ("over_cap", 1, 2)


@pytest.mark.parametrize("field", ["gap", "max_open", "most_results", "most_bytes"])
def test_rules_that_make_no_sense_are_refused(field):
    with pytest.raises(UsageError, match=f"{field} is 0; it must be at least 1"):
        Closing(**{field: 0})
    with pytest.raises(UsageError, match="allowed_lateness is -1; it must be at least 0"):
        Closing(allowed_lateness=-1)
