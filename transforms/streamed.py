"""What every source of a stream gives: calls at their event times, and what could not be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import MAX_TIMESTAMP, MIN_TIMESTAMP, Timestamp

from transforms import coders as _coders  # noqa: F401  (registers the coders of what is read)
from transforms.core.records import SearchCall
from transforms.core.rejected import RejectedRecord
from transforms.read import REJECTED


class StreamedTraces(NamedTuple):
    """What a stream gives.

    Attributes:
      calls: PCollection[SearchCall], each at its event time.
      rejected: PCollection[RejectedRecord], what could not be used; it has no event time of its
        own, and is given at that of the source.
    """

    calls: beam.PCollection[SearchCall]
    rejected: beam.PCollection[RejectedRecord]


def streamed_traces(outputs: Any) -> StreamedTraces:
    """The outputs of a ParDo that gives what `stamped` gives, tagged `calls` and `rejected`."""
    calls, rejected = outputs["calls"], outputs[REJECTED]
    calls.element_type = SearchCall
    rejected.element_type = RejectedRecord
    return StreamedTraces(calls, rejected)


def stamped(
    records: Iterable[SearchCall | RejectedRecord], source_time: Timestamp | None
) -> Iterator[TimestampedValue | beam.pvalue.TaggedOutput]:
    """Calls, all of which have a timestamp, at that; rejected records at the time of the source.

    While a source has no time yet, rejected records come last, at the least time of the calls, or
    if there are none, at Beam's least.
    """
    waiting = []
    least = MAX_TIMESTAMP
    for record in records:
        if isinstance(record, RejectedRecord):
            if source_time is None:
                waiting.append(record)
            else:
                yield _rejected(record, source_time)
        elif record.timestamp is not None:
            at = timestamp_of(record.timestamp)
            if source_time is None:
                least = min(least, at)
            yield TimestampedValue(record, at)
        else:
            raise ValueError(f"A call of {record.conversation_id} has no timestamp.")
    for record in waiting:
        yield _rejected(record, MIN_TIMESTAMP if least == MAX_TIMESTAMP else least)


def _rejected(record: RejectedRecord, at: Timestamp) -> beam.pvalue.TaggedOutput:
    return beam.pvalue.TaggedOutput(REJECTED, TimestampedValue(record, at))


def timestamp_of(millis: int) -> Timestamp:
    """A point in time of Good Gain as Beam's."""
    return Timestamp(micros=millis * 1_000)
