"""The event times of the records of a stream, and their packing into payloads."""

import itertools
import logging

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.utils.timestamp import MIN_TIMESTAMP
from msgspec.structs import replace

from goodgain.transforms.core.native import active_path
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import Millis, Result, SearchCall
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.read import REJECTED
from goodgain.transforms.sources import stream_packing
from goodgain.transforms.sources.stream_packing import (
    READ,
    ReadRecords,
    StreamPacker,
    split_outputs,
    stamp_records,
)
from goodgain.transforms.times import timestamp_of
from tests.core.direct import shipped_rules
from tests.transforms.streams import at, minute_of, stamp

BAD = RejectedRecord("f", "line 1", "It is broken.", conversation_id="c", records=2)


def call(minute):
    return SearchCall("c", 1, timestamp=Millis(at(minute)), results=[Result(id="a", gain=3)])


def stamped_minutes(records, earliest=None, latest=None):
    """The minutes of the records in order; as text for rejected records."""
    bounds = (None if minute is None else at(minute) for minute in (earliest, latest))
    return [
        (str if isinstance(record, RejectedRecord) else float)(minute_of(time))
        for record, time in stamp_records(records, *bounds)
    ]


@pytest.mark.parametrize(
    ("minutes", "bounds", "expected"),
    [
        ((5, 3), (None, None), [5, 3]),
        ((5, 999), (None, 10), [5, 10]),
        ((-999, 5), (0, 10), [0, 5]),
        # The watermark may be ahead of the clock; nothing is emitted behind it.
        ((5,), (20, 10), [20]),
    ],
)
def test_event_times_of_calls_are_clipped_to_bounds(minutes, bounds, expected):
    assert stamped_minutes(map(call, minutes), *bounds) == expected


def test_rejected_records_have_the_time_of_a_neighbouring_call():
    assert stamped_minutes([BAD, BAD, call(5), BAD, call(7), BAD]) == [
        "5.0",
        "5.0",
        5,
        "5.0",
        7,
        "7.0",
    ]
    assert stamped_minutes([BAD, call(180)], earliest=0) == ["180.0", 180]
    assert stamped_minutes([BAD], earliest=3, latest=9) == ["3.0"]
    assert stamped_minutes([BAD], latest=9) == ["9.0"]
    assert [timestamp_of(time) for _, time in stamp_records([BAD], None, None)] == [MIN_TIMESTAMP]


@pytest.mark.parametrize("is_off", [False, True])
def test_a_worker_logs_once_which_code_reads(is_off, caplog, monkeypatch):
    if is_off:
        monkeypatch.setenv("GOODGAIN_NATIVE", "off")
    stream_packing._log_reading.cache_clear()
    caplog.set_level(logging.INFO)
    for _ in range(2):
        StreamPacker(Packing(shipped_rules()))
    lines = [message for message in caplog.messages if "reading" in message]
    assert lines == [f"goodgain reading: {active_path()}"]


def test_a_file_of_only_garbage_is_not_held_in_memory():
    endless = stamp_records(itertools.repeat(BAD), at(0), None)
    assert [next(endless)[1] for _ in range(3)] == [at(0)] * 3


@pytest.mark.parametrize("keep_records", [False, True], ids=["labels", "pool"])
def test_records_read_together_share_a_payload_and_are_counted_once(keep_records):
    packer = StreamPacker(Packing(shipped_rules(), keep_records))
    records = [(call(5), at(5)), (BAD, at(5)), (call(3), at(3))]
    for _ in range(2):  # as in two bundles
        (bad,) = packer.add(records)
        assert (bad.tag, bad.value.value, bad.value.timestamp) == (REJECTED, BAD, stamp(at(5)))
        packed, read = packer.rest()
        conversation_id, payload = packed.value
        frame = unpack([payload])
        assert (conversation_id, packed.timestamp) == ("c", stamp(at(3)))
        assert ([call.timestamp for call in frame.calls], frame.rejected_records) == (
            [at(5), at(3)],
            2,
        )
        assert {bool(call.record) for call in frame.calls} == {keep_records}
        assert (read.tag, read.value.value) == (READ, ReadRecords(4, ["c"]))


def test_counts_have_the_time_of_the_latest_payload():
    packer = StreamPacker(Packing(shipped_rules()))
    later = replace(call(5), conversation_id="d")
    assert not list(packer.add([(later, at(5)), (call(3), at(3))]))
    *_, read = packer.rest()
    assert read.value.timestamp == stamp(at(5))


def test_an_endless_file_is_not_held_in_memory():
    packer = StreamPacker(Packing(shipped_rules()))
    endless = ((replace(call(0), conversation_id=str(at)), at) for at in itertools.count())
    assert next(packer.add(endless)).value[0] == "0"


def test_each_output_has_a_coder_that_workers_know():
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        traces = pipeline | beam.Create([(call(1), BAD)]) | Read()
        assert traces.payloads.element_type == beam.typehints.Tuple[str, bytes]
        assert traces.rejected.element_type is RejectedRecord
        assert traces.read.element_type is ReadRecords


class Read(beam.PTransform):
    def expand(self, records):
        return split_outputs(records, NoOutput())


class NoOutput(beam.DoFn):
    def process(self, element):
        return ()
