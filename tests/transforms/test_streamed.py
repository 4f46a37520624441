"""When the records of a stream are given, and how they travel together."""

import itertools

import apache_beam as beam
import pytest
from apache_beam.utils.timestamp import MIN_TIMESTAMP

from tests.transforms.streams import at, minute_of, stamp
from transforms.coders import AnyRecord, RecordCoder
from transforms.core.records import Millis, Result, SearchCall
from transforms.core.rejected import RejectedRecord
from transforms.streamed import stamped

BAD = RejectedRecord("f", "line 1", "It is broken.", conversation_id="c", records=2)


def call(minute):
    return SearchCall("c", 1, timestamp=Millis(at(minute)), results=[Result(id="a", gain=3)])


def given(records, earliest=None, latest=None):
    """The minutes of the records, in the order given; a record that is rejected as a text."""
    bounds = (None if minute is None else stamp(at(minute)) for minute in (earliest, latest))
    return [
        (str if isinstance(one.value, RejectedRecord) else float)(
            minute_of(one.timestamp.micros // 1000)
        )
        for one in stamped(records, *bounds)
    ]


@pytest.mark.parametrize(
    ("minutes", "bounds", "expected"),
    [
        ((5, 3), (None, None), [5, 3]),
        ((5, 999), (None, 10), [5, 10]),
        ((-999, 5), (0, 10), [0, 5]),
        # The watermark may be ahead of the clock; nothing is given behind it.
        ((5,), (20, 10), [20]),
    ],
)
def test_calls_are_given_when_they_happened_within_what_can_be(minutes, bounds, expected):
    assert given(map(call, minutes), *bounds) == expected


def test_what_is_rejected_is_given_at_the_time_of_its_neighbour():
    assert given([BAD, BAD, call(5), BAD, call(7), BAD]) == ["5.0", "5.0", 5, "5.0", 7, "7.0"]
    assert given([BAD, call(180)], earliest=0) == ["180.0", 180]
    assert given([BAD], earliest=3, latest=9) == ["3.0"]
    assert given([BAD], latest=9) == ["9.0"]
    assert [one.timestamp for one in stamped([BAD], None, None)] == [MIN_TIMESTAMP]


def test_a_file_of_nothing_but_garbage_does_not_wait_in_memory():
    endless = stamped(itertools.repeat(BAD), stamp(at(0)), None)
    assert [next(endless).timestamp for _ in range(3)] == [stamp(at(0))] * 3


def test_calls_and_rejected_records_travel_together():
    coder = beam.coders.registry.get_coder(AnyRecord)
    assert isinstance(coder, RecordCoder)
    for record in (call(1), BAD):
        assert coder.decode(coder.encode(record)) == record
