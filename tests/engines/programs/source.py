"""An unbounded source of positions at a steady rate, with its own watermark."""

import time
from collections.abc import Iterator
from pathlib import Path

import apache_beam as beam
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Duration

from tests.engines.programs.counting import event_time

SECONDS_BETWEEN_POLLS = 0.1
END = "source-ended"


def start(request: tuple[int, int]) -> tuple[float, int, int]:
    """The stretch (start in seconds, positions per second, positions) that starts now.

    A separate step, since an engine may take long from submission to the first element.
    """
    return time.time(), *request


class Stretch(RestrictionProvider):
    """All positions of a stretch from `started`."""

    def initial_restriction(self, element: tuple[float, int, int]) -> OffsetRange:
        return OffsetRange(0, element[2])

    def create_tracker(self, restriction: OffsetRange) -> OffsetRestrictionTracker:
        return OffsetRestrictionTracker(restriction)

    def restriction_size(self, element: tuple[float, int, int], restriction: OffsetRange) -> int:
        # The size of an endless stretch says nothing about the remaining work.
        return 1


POSITIONS_LEFT = beam.DoFn.RestrictionParam(Stretch())
WATERMARK = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())


class ReadPositions(beam.DoFn):
    """Emits every position that is due, in order, then defers the rest."""

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        element: tuple[float, int, int],
        tracker=POSITIONS_LEFT,
        watermark=WATERMARK,
    ) -> Iterator[TimestampedValue]:
        start, pace, _ = element
        position = tracker.current_restriction().start
        while position < (time.time() - start) * pace:
            if not tracker.try_claim(position):
                return
            watermark.set_watermark(event_time(position))
            yield TimestampedValue(position, event_time(position))
            position += 1
        tracker.defer_remainder(Duration(SECONDS_BETWEEN_POLLS))


class MarkEnd(beam.DoFn):
    """Passes positions on, and writes a file after the last one.

    With checkpoints a job stays RUNNING after its source has ended, so only this file shows the
    end.
    """

    def __init__(self, folder: str, positions: int) -> None:
        self._file = Path(folder) / END
        self._last = positions - 1

    def process(self, position: int) -> Iterator[int]:
        if position == self._last:
            self._file.touch()
        yield position
