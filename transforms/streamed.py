"""What every source of a stream gives: calls at their event times, and what could not be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

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
    records: Iterable[SearchCall | RejectedRecord], source_time: Timestamp
) -> Iterator[TimestampedValue | beam.pvalue.TaggedOutput]:
    """Calls, all of which have a timestamp, at that; rejected records at `source_time`."""
    for record in records:
        if isinstance(record, RejectedRecord):
            yield beam.pvalue.TaggedOutput(REJECTED, TimestampedValue(record, source_time))
        elif record.timestamp is not None:
            yield TimestampedValue(record, timestamp_of(record.timestamp))
        else:
            raise ValueError(f"A call of {record.conversation_id} has no timestamp.")


def timestamp_of(millis: int) -> Timestamp:
    """A point in time of Good Gain as Beam's."""
    return Timestamp(micros=millis * 1_000)
