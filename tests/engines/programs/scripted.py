"""Score a stream of scripted events: `... .scripted --output=FOLDER`.

A source plays a script step by step: a record arrives, or the watermark moves. All outputs of
scoring are written to the file `given`. For Prism, whose workers are threads of the program.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import apache_beam as beam
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Duration, Timestamp

from goodgain.transforms.core.records.search_call import Millis, Result, SearchCall
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.fingerprint import FingerprintCalls
from goodgain.transforms.score_stream import ScoreStreamedPayloads
from goodgain.transforms.stream_end import StoppableEnd
from goodgain.transforms.windowed_means import WindowedMeans
from tests.core.direct import scoring, shipped_rules

MINUTE = 60_000
START = 1_700_002_800_000  # a full hour
GIVEN: list[list] = []
SECONDS_BETWEEN_STEPS = 0.05
STOP = "stop"

# A record (conversation, minute, iteration), the minute of the watermark, or a stop.
SCRIPT = [
    ("a", 0, 1), ("b", 10, 1), 20,
    ("a", 25, 2), ("a", 15, 1), 41,         # b is closed at 40
    ("b", 35, 2), 56,                       # b late; a is closed at 55
    ("a", 50, 3), 99,                       # a late; the first hour's means are on time at 90
    ("c", 40, 1), 101,                      # c is far behind: closed at once; the means are updated
    ("b", 98, 7), 130,                      # b is forgotten at 100: a new conversation until 128
    ("a", 130, 9), 131, ("d", 131, 1), 159, # a is forgotten too; d is open until 161
    STOP,
]  # fmt: skip


def millis(minute: float) -> int:
    return START + round(minute * MINUTE)


def timestamp(minute: float) -> Timestamp:
    return Timestamp(micros=millis(minute) * 1000)


def call(conversation: str, minute: float, iteration: int) -> SearchCall:
    found = [Result(id=f"{iteration}", gain=3)]
    return SearchCall(conversation, iteration, timestamp=Millis(millis(minute)), results=found)


class Steps(RestrictionProvider):
    """All steps of a script."""

    def initial_restriction(self, element: list) -> OffsetRange:
        return OffsetRange(0, len(element))

    def create_tracker(self, restriction: OffsetRange) -> OffsetRestrictionTracker:
        return OffsetRestrictionTracker(restriction)

    def restriction_size(self, element: list, restriction: OffsetRange) -> int:
        return 1


STEPS_LEFT = beam.DoFn.RestrictionParam(Steps())
WATERMARK = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())


class Play(beam.DoFn):
    """Plays one step per bundle, so that the engine sees each move of the watermark in order."""

    def __init__(self, end: StoppableEnd) -> None:
        self._end = end

    @beam.DoFn.unbounded_per_element()
    def process(
        self, element: list, tracker=STEPS_LEFT, watermark=WATERMARK
    ) -> Iterator[TimestampedValue]:
        at = tracker.current_restriction().start
        if not tracker.try_claim(at):
            return
        step = element[at]
        if step == STOP:
            self._end.begin_draining(watermark.current_watermark().micros // 1000)
        elif isinstance(step, tuple):
            yield TimestampedValue(call(*step), timestamp(step[1]))
        else:
            watermark.set_watermark(timestamp(step))
        tracker.defer_remainder(Duration(SECONDS_BETWEEN_STEPS))


def record(element: object, name: str, describe) -> None:
    GIVEN.append([name, *describe(element)])


def minute_of(time: int) -> float:
    return round((time - START) / MINUTE, 1)


def score_line(score) -> list:
    row = score.conversation
    return [row.conversation_id, minute_of(score.closed), row.N]


def late_line(row) -> list:
    return [row.conversation_id, minute_of(row.timestamp)]


def live_line(one) -> list:
    return [one.row.conversation_id, one.row.i, one.revision, one.row.calls]


def pane_line(one) -> list:
    return [minute_of(one.window_start), one.pane, one.is_last, one.row.n]


def is_gain_of_all(one) -> bool:
    return one.row.metric == "CG" and not one.row.slice


def main() -> None:
    """Run the pipeline with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    arguments, options = parser.parse_known_args()
    closing, end = Closing(live=True), StoppableEnd()
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        scored = (
            pipeline
            | beam.Create([SCRIPT])
            | beam.ParDo(Play(end)).with_output_types(SearchCall)
            | FingerprintCalls(Packing(shipped_rules()))
            | ScoreStreamedPayloads(scoring(), closing, end)
        )
        means = scored.scores | WindowedMeans(scoring(), closing, window=60 * MINUTE, end=end)
        _ = scored.scores | "Scores" >> beam.Map(record, "score", score_line)
        _ = scored.late | "Late" >> beam.Map(record, "late", late_line)
        _ = scored.live | "Live" >> beam.Map(record, "live", live_line)
        panes = means.rows | beam.Filter(is_gain_of_all)
        _ = panes | "Panes" >> beam.Map(record, "pane", pane_line)
    Path(arguments.output, "given").write_text(json.dumps(GIVEN))


if __name__ == "__main__":
    # Imported as a module, because Beam copies what __main__ defines to workers, GIVEN too.
    from tests.engines.programs import scripted

    scripted.main()
