"""When conversations close; tested without a stream engine (SPEC 3, 7)."""

import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.streaming.closing import Arrival, admit, decide_at
from goodgain.transforms.core.streaming.options import Closing

GAP, AGE = 100, 1_000
CLOSING = Closing(gap=GAP, allowed_lateness=50, max_open=AGE)
NO_TIME = -(2**53)
END_OF_TIME = 2**53


def record(at, **fields):
    defaults = {"first": at, "last": at, "final": None, "records": 1, "results": 1, "size": 10}
    return Arrival(**{"at": at, "rejected": 0, **defaults, **fields})


def flag(at):
    return record(at, records=0, results=0, rejected=1)


def after(*arrivals, closing=CLOSING):
    known = None
    for arrival in arrivals:
        fate, known = admit(known, arrival, closing)
        assert fate == "keep"
    return known


def test_a_pending_wake_up_is_only_moved_to_an_earlier_time():
    assert after(record(0)).wake == GAP
    assert after(record(0), record(80)).wake == GAP  # the later deadline is found when it fires
    assert after(record(0), record(80, final=80)).wake == 81
    assert after(record(80), record(0)).wake == 80 + GAP


def test_a_wake_up_before_the_deadline_is_set_again():
    step, known = decide_at(after(record(0), record(80)), GAP, CLOSING)
    assert (step, known.wake) == ("wait", 80 + GAP)
    step, known = decide_at(known, 80 + GAP, CLOSING)
    assert (step, known.closed, known.wake) == ("close", 80 + GAP, 80 + GAP + 50)
    assert decide_at(known, 80 + GAP + 49, CLOSING)[0] == "wait"
    assert decide_at(known, 80 + GAP + 50, CLOSING)[0] == "forget"


def test_the_earlier_of_two_final_records_closes():
    assert after(record(60, final=60), record(20, final=20)).deadline(CLOSING) == 21


def test_flags_set_the_deadline_only_while_there_are_no_records():
    assert after(flag(5)).deadline(CLOSING) == 5 + GAP
    assert after(record(0), flag(90)).deadline(CLOSING) == GAP
    assert after(flag(0), record(500)).deadline(CLOSING) == 500 + GAP


def test_a_flag_without_a_time_waits_for_a_record_or_the_end_of_the_stream():
    """A source without a watermark has no time to give to rejected records."""
    known = after(flag(NO_TIME))
    assert decide_at(known, 10**13, CLOSING)[0] == "wait"
    assert decide_at(known, END_OF_TIME, CLOSING)[0] == "close"
    assert after(flag(NO_TIME), record(7)).deadline(CLOSING) == 7 + GAP


def test_an_older_record_does_not_add_to_the_age_of_a_conversation():
    assert after(record(5_000), record(0)).deadline(CLOSING) == 5_000 + GAP


def test_a_clock_ahead_by_years_does_not_keep_its_conversation_open():
    """The source gives the record an arrival time near its watermark, so `max_open` applies."""
    years_ahead = record(0, first=10**12, last=10**12)
    assert after(years_ahead).deadline(CLOSING) == AGE


def test_a_flag_beyond_the_cap_is_counted_like_one_that_is_kept():
    capped = Closing(gap=GAP, max_open_results=1)
    _, known = admit(after(record(0)), record(1), capped)
    fate, known = admit(known, flag(2), capped)
    assert (fate, known.over_cap, known.rejected) == ("over_cap", 1, 2)


@pytest.mark.parametrize("field", ["gap", "max_open", "max_open_results", "max_open_bytes"])
def test_rejects_rules_out_of_range(field):
    with pytest.raises(UsageError, match=f"{field} is 0: give at least 1"):
        Closing(**{field: 0})
    with pytest.raises(UsageError, match="allowed_lateness is -1: give at least 0"):
        Closing(allowed_lateness=-1)
