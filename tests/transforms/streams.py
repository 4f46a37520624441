"""Streams whose arrivals and watermark a test sets, on the runner that follows them exactly."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.testing import test_stream
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.fingerprint import FingerprintCalls
from goodgain.transforms.score import ScoreConversations
from goodgain.transforms.score_stream import ScoreStreamedPayloads
from goodgain.transforms.stream_end import WITH_ENGINE
from tests.core.direct import scoring

MINUTE = 60_000
CENTURY = 100 * 365 * 86_400_000  # a window that holds all that a test has
START = 1_700_000_040_000  # a full minute

# Outputs by run and name. Pipelines run in this process, and module globals are not copied.
_GIVEN: dict[int, dict[str, list]] = defaultdict(lambda: defaultdict(list))
_runs = count()


def at(minute: float) -> int:
    """The event time of a minute of the test, in ms."""
    return START + round(minute * MINUTE)


def minute_of(millis: int) -> float:
    return (millis - START) / MINUTE


def batch_scores(
    pipeline: beam.Pipeline, calls: list[SearchCall], scoring: Scoring
) -> beam.PCollection[ConversationScore]:
    """The scores that a pipeline in batch gives calls."""
    given = pipeline | beam.Create(calls).with_output_types(SearchCall)
    return (given | ScoreConversations(scoring)).scores


def stamp(millis: int) -> Timestamp:
    return Timestamp(micros=millis * 1000)


class Script:
    """The events of a stream in order: records arrive, and the watermark moves."""

    def __init__(self) -> None:
        self._stream = test_stream.TestStream(coder=beam.coders.registry.get_coder(SearchCall))

    def arrive(self, *calls: SearchCall) -> "Script":
        elements = [TimestampedValue(call, stamp(call.timestamp)) for call in calls]
        self._stream.add_elements(elements)
        return self

    def watermark(self, *minutes: float) -> "Script":
        """Move the watermark in steps, since this runner does not hold it back for timers."""
        for minute in minutes:
            self._stream.advance_watermark_to(stamp(at(minute)))
        return self

    def end(self) -> test_stream.TestStream:
        self._stream.advance_watermark_to_infinity()
        return self._stream


def collect(element, run, name, timestamp=beam.DoFn.TimestampParam):
    _GIVEN[run][name].append((timestamp.micros // 1000, element))


@contextmanager
def collect_outputs() -> Iterator[tuple[beam.Pipeline, object, dict[str, list]]]:
    """A pipeline, a function that keeps a PCollection by name, and what is kept, with times."""
    run = next(_runs)
    options = PipelineOptions()
    options.view_as(StandardOptions).streaming = True
    pipeline = beam.Pipeline(runner=BundleBasedDirectRunner(), options=options)

    def keep(name, pcollection):
        pcollection | f"Keep {name}" >> beam.Map(collect, run, name)

    given = _GIVEN[run]
    yield pipeline, keep, given
    pipeline.run().wait_until_finish()
    del _GIVEN[run]


def play(script: Script, closing: Closing, settings=None, end=WITH_ENGINE):
    """Score the records of a script; lists of (timestamp, element) by output."""
    settings = settings or scoring()
    with collect_outputs() as (pipeline, keep, given):
        scored = (
            pipeline
            | script.end()
            | FingerprintCalls(Packing.of(settings))
            | ScoreStreamedPayloads(settings, closing, end)
        )
        keep("scores", scored.scores)
        keep("late", scored.late)
        keep("live", scored.live)
        keep("rejected", scored.rejected)
        keep("still_open", scored.still_open)
    return given
