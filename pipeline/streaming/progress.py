"""Records the watermark up to which all sinks of a stream have written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.coders import VarIntCoder
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import ReadModifyWriteStateSpec, TimerSpec, on_timer

from goodgain.pipeline.streaming.checkpoint import record_progress
from goodgain.pipeline.streaming.sinks import WrittenPane
from goodgain.transforms.stream_end import StreamEnd
from goodgain.transforms.times import timestamp_of

_ALL = "all"


@dataclass(eq=False, repr=False)
class NoteProgress(beam.PTransform):
    """`PCollection[WrittenPane]` of all sinks to nothing: records their progress.

    A sink holds its output watermark at the first row that is still waiting. So when the watermark
    of this transform reaches a time, all rows before that time are in files.

    Attributes:
      folder: where to record progress; None if the engine restores streams.
      end: when the stream stops, and which timers still fire then.
    """

    folder: Path | None
    end: StreamEnd

    def expand(self, written: beam.PCollection[WrittenPane]) -> beam.PCollection[Any]:
        """Apply the transform."""
        return (
            written
            | "Together" >> beam.Map(_together).with_output_types(tuple[str, int])
            | "Note" >> beam.ParDo(_Note(self.folder, self.end))
        )


def _together(pane: WrittenPane) -> tuple[str, int]:
    return _ALL, pane.latest


class _Note(beam.DoFn):
    # The latest recorded time, and the time for which the timer is set.
    LATEST = ReadModifyWriteStateSpec("latest", VarIntCoder())
    PENDING = ReadModifyWriteStateSpec("pending", VarIntCoder())
    SAFE = TimerSpec("safe", TimeDomain.WATERMARK)

    def __init__(self, folder: Path | None, end: StreamEnd) -> None:
        self._folder = folder
        self._end = end

    def process(
        self,
        keyed: tuple[str, int],
        latest: Any = beam.DoFn.StateParam(LATEST),
        pending: Any = beam.DoFn.StateParam(PENDING),
        safe: Any = beam.DoFn.TimerParam(SAFE),
    ) -> None:
        known = latest.read()
        latest.write(keyed[1] if known is None else max(known, keyed[1]))
        if pending.read() is None:
            pending.write(keyed[1])
            safe.set(timestamp_of(keyed[1]))

    @on_timer(SAFE)
    def is_safe(
        self,
        latest: Any = beam.DoFn.StateParam(LATEST),
        pending: Any = beam.DoFn.StateParam(PENDING),
        safe: Any = beam.DoFn.TimerParam(SAFE),
    ) -> None:
        now, last = pending.read(), latest.read()
        if self._folder is not None and self._end.is_due(now):
            record_progress(self._folder, now)
        if last > now:
            pending.write(last)
            safe.set(timestamp_of(last))
        else:
            pending.clear()
