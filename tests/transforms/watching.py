"""Run the source of a watched folder without an engine, step by step and with its own clock."""

import json
import os
import resource
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from apache_beam.io.restriction_trackers import OffsetRestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.pvalue import TaggedOutput
from apache_beam.runners.sdf_utils import RestrictionTrackerView, ThreadsafeRestrictionTracker
from apache_beam.utils.timestamp import Timestamp

from goodgain.pipeline.run.stream.stopping import THIS_PROCESS
from goodgain.transforms.core.scoring import packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.streaming.watermark import WatermarkRule
from goodgain.transforms.read import REJECTED
from goodgain.transforms.sources.folder_watch import FolderSource, FolderWatch
from goodgain.transforms.sources.watch import ReadFolder
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
    return "".join(json.dumps(one) + "\n" for one in records)


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
      has_ended: whether the source has finished for good.
    """

    def __init__(self, folder, journal, now=NOON, ends_when_silent=False, needed=None, **settings):
        self.now = now
        self.source = FolderSource(
            str(folder), str(journal), **{"rule": RULE, "settle_ms": 0, **settings}
        )
        self._ends_when_silent = ends_when_silent
        self._needed = needed
        self.restore_in_new_process()
        resumption = FolderWatch(self.source, lambda: self.now).resumption()
        self._element = (self.source, resumption)
        self._restriction = ReadFolder.POSITIONS.restriction_provider.initial_restriction(None)
        self._estimator = ManualWatermarkEstimator(None)
        self.steps = []
        self.has_ended = False

    @property
    def watermark(self):
        """The watermark of the source, in ms."""
        return _millis(self._estimator.current_watermark())

    @property
    def calls(self):
        return [call for step in self.steps for call in step.calls]

    @property
    def rejected(self):
        return [row for step in self.steps for row in step.rejected]

    def restore_in_new_process(self):
        """Continue from the checkpoint, as a new process without other state."""
        self._read = ReadFolder(
            shipped_rules(), self._ends_when_silent, THIS_PROCESS, lambda: self.now, self._needed
        )
        with mock.patch.object(packing, "MOST_BUFFERED_RESULTS", 0):
            self._read.setup()

    def checkpoint(self):
        """What an engine keeps of the source, for `restore`."""
        return self._restriction, self._estimator.get_estimator_state(), len(self.steps)

    def restore(self, checkpoint):
        """Continue from an earlier checkpoint, as a new process without other state."""
        self._restriction, watermark, steps = checkpoint
        self._estimator = ManualWatermarkEstimator(watermark)
        del self.steps[steps:]
        self.restore_in_new_process()

    def step(self):
        """Call the source once; return after how many seconds it wants to be called again."""
        tracker = ThreadsafeRestrictionTracker(OffsetRestrictionTracker(self._restriction))
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
        tracker.check_done()
        if step.calls or step.rejected:
            self.steps.append(step)
        deferred = tracker.deferred_status()
        if deferred is None:
            self.has_ended = True
            return None
        self._restriction, delay = deferred
        return delay.micros / 1e6

    def _outputs(self, view):
        # One payload per record, so that a test sees when each is emitted.
        with mock.patch.object(packing, "MOST_BUFFERED_RESULTS", 0):
            yield from self._read.process(self._element, view, self._estimator)

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


@contextmanager
def full_disk(room):
    """Let no file grow beyond `room` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _set_modified(path, modified_ms):
    os.utime(path, (modified_ms / 1000, modified_ms / 1000))


def _millis(timestamp: Timestamp | None):
    return None if timestamp is None else timestamp.micros // 1000
