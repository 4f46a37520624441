"""Run the source of a watched folder without an engine, step by step and with its own clock."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.pvalue import TaggedOutput
from apache_beam.runners.sdf_utils import RestrictionTrackerView, ThreadsafeRestrictionTracker
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from goodgain.transforms.core.scoring import packing
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.streaming.watermark import WatermarkRule
from goodgain.transforms.read import REJECTED
from goodgain.transforms.sources.folder_source import FolderSource
from goodgain.transforms.sources.watch import FolderTracker, ReadFolder
from goodgain.transforms.stream_end import StoppableEnd
from tests.core.direct import shipped_rules

NOON = 1_740_000_000_000
MINUTE = 60_000
RULE = WatermarkRule(
    out_of_orderness_ms=5 * MINUTE,
    ahead_ms=30 * MINUTE,
    idle_ms=10 * MINUTE,
    quiet_ms=30 * MINUTE,
)


def record(conversation_id, at, **fields):
    """A trace record at `at` milliseconds."""
    return {"conversation_id": conversation_id, "iteration": 1, "timestamp": at, **fields}


def minutes(count, start=NOON, conversation_id="a"):
    """Records one minute apart."""
    return [record(conversation_id, start + minute * MINUTE) for minute in range(count)]


def lines(*records):
    """The content of a file with these records."""
    return "".join(json.dumps(record) + "\n" for record in records)


@dataclass
class Step:
    """The output of one call of the source.

    Attributes:
      calls: conversation_id and time of each call, in ms.
      calls_at: the event times with which they are emitted, in ms.
      rejected: the rejected records.
      rejected_at: the event times with which they are emitted, in ms.
      watermark: of the source before the step, in ms; None if unknown.
    """

    calls: list = field(default_factory=list)
    calls_at: list = field(default_factory=list)
    rejected: list = field(default_factory=list)
    rejected_at: list = field(default_factory=list)
    watermark: int | None = None


class Engine:
    """Runs the source of a folder like an engine, one step at a time.

    Attributes:
      steps: those with any output.
      read: what the source has counted.
      end: stops the source.
      has_ended: whether the source has finished for good.
    """

    def __init__(self, folder, now=NOON, ends_when_silent=False, **settings):
        self.now = now
        self.source = FolderSource(str(folder), **{"rule": RULE, "settle_ms": 0, **settings})
        self.end = StoppableEnd()
        self._ends_when_silent = ends_when_silent
        self.restore_in_new_process()
        provider = ReadFolder.PROGRESS.restriction_provider
        self._coder = provider.restriction_coder()
        self._kept = self._coder.encode(provider.initial_restriction(self.source))
        self._estimator = ManualWatermarkEstimator(None)
        self.steps, self.read = [], []
        self.has_ended = False

    @property
    def watermark(self):
        """The watermark of the source, in ms."""
        return _millis(self._estimator.current_watermark())

    @property
    def progress(self):
        """What the engine keeps of the source."""
        return self._coder.decode(self._kept)

    @property
    def calls(self):
        return [call for step in self.steps for call in step.calls]

    @property
    def rejected(self):
        return [row for step in self.steps for row in step.rejected]

    def total(self, count):
        """The sum of a count in `read`."""
        return sum(getattr(part, count) for part in self.read)

    def restore_in_new_process(self):
        """Continue from what the engine keeps, as a new process without other state."""
        self._read = ReadFolder(
            Packing(shipped_rules()), self._ends_when_silent, self.end, lambda: self.now
        )
        with mock.patch.object(packing, "MOST_BUFFERED_RESULTS", 0):
            self._read.setup()

    def checkpoint(self):
        """What an engine keeps of the source, for `restore`."""
        return self._kept, self._estimator.get_estimator_state(), len(self.steps), len(self.read)

    def restore(self, checkpoint):
        """Continue from an earlier checkpoint, as a new process without other state."""
        self._kept, watermark, steps, read = checkpoint
        self._estimator = ManualWatermarkEstimator(watermark)
        del self.steps[steps:], self.read[read:]
        self.restore_in_new_process()

    def step(self):
        """Call the source once; return after how many seconds it wants to be called again."""
        tracker = ThreadsafeRestrictionTracker(FolderTracker(self.progress))
        step = Step(watermark=self.watermark)
        view = RestrictionTrackerView(tracker)
        for output in self._outputs(view):
            if not isinstance(output, TaggedOutput):
                conversation_id, payload = output.value
                for call in unpack([payload]).calls:
                    step.calls.append((conversation_id, call.timestamp))
                    step.calls_at.append(_millis(output.timestamp))
            elif output.tag == REJECTED:
                step.rejected.append(output.value.value)
                step.rejected_at.append(_millis(output.value.timestamp))
            else:
                one = output.value
                self.read.append(one.value if isinstance(one, WindowedValue) else one)
        tracker.check_done()
        if step.calls or step.rejected:
            self.steps.append(step)
        deferred = tracker.deferred_status()
        if deferred is None:
            self.has_ended = True
            return None
        progress, delay = deferred
        self._kept = self._coder.encode(progress)
        return delay.micros / 1e6

    def _outputs(self, view):
        # One payload per record, so that a test sees when each is emitted.
        with mock.patch.object(packing, "MOST_BUFFERED_RESULTS", 0):
            yield from self._read.process(self.source, view, self._estimator)

    def run(self, most_steps=1_000):
        """Step until the source waits, or has ended."""
        for _ in range(most_steps):
            if self.step() != 0:
                return self
        raise AssertionError("The source never waits.")


def put(folder: Path, name: str, *records, age_ms=MINUTE, now=NOON):
    """Write a file, last modified `age_ms` before `now`."""
    path = folder / name
    path.write_text(lines(*records))
    _set_modified(path, now - age_ms)
    return path


def _set_modified(path, modified_ms):
    os.utime(path, (modified_ms / 1000, modified_ms / 1000))


def _millis(timestamp: Timestamp | None):
    return None if timestamp is None else timestamp.micros // 1000
