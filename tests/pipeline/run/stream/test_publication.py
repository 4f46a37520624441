"""Files of a stream on an engine with checkpoints: whatever fails, each row is seen once.

The engine is simulated as Flink works: a checkpoint holds the state at its beginning; when it is
complete, all bundles that have ended by then are final, also later ones; after a failure all goes
on from the last complete checkpoint, and the elements since then come again.
"""

import shutil
import tempfile
from collections import Counter
from copy import deepcopy
from itertools import count
from pathlib import Path

import hypothesis.strategies as st
import pytest
from apache_beam.transforms.core import DoFn
from apache_beam.utils.timestamp import Timestamp
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import msgpack

from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.rows import LATE
from goodgain.pipeline.run.stream.pane_files import StreamTarget
from goodgain.pipeline.run.stream.publication import Publish, hidden_path, next_move
from goodgain.pipeline.run.stream.sinks import Waiting, _WritePane
from goodgain.transforms.core.scoring.score_rows import LateRow
from tests.pipeline.run.stream.rows import NOON
from tests.transforms.one_by_one import Bag, Cell

DAY = 86_400_000
_requests = Counter()


class Timer:
    """A timer that is set or not; the test says when it fires."""

    is_set = False

    def set(self, timestamp):
        self.is_set = True

    def clear(self):
        self.is_set = False


class Sink:
    """One shard of a sink, with its state in an engine, and the bundles that are not final."""

    def __init__(self, folder):
        target = StreamTarget(str(folder), "jsonl", 1, DAY, 1, at_once=False)
        numbers = count()
        self._write = _WritePane(
            target,
            LATE,
            lambda: Timestamp(0),
            lambda: f"{next(numbers):x}",
        )
        self._write.setup()
        self._publish = Publish(str(folder))
        spec = _WritePane
        self.state = {
            "waiting": Bag(spec.WAITING.coder, _requests),
            "progress": Cell(spec.PROGRESS.coder, _requests),
            "unpublished": Bag(spec.UNPUBLISHED.coder, _requests),
        }
        self.flush, self.outstanding = Timer(), []

    def arrive(self, number):
        row = LateRow(f"c{number}", 1, 1, 0, None, NOON, 1)
        element = msgpack.encode(row, enc_hook=int)
        waiting = Waiting(False, NOON // DAY * DAY, row.conversation_id, element, NOON)
        arguments = {**self.state, "flush": self.flush, "end": Timer()}
        self._end_bundle(self._write.process(("0", waiting), **arguments))

    def fire(self):
        self.flush.is_set = False
        self._end_bundle(self._write.on_flush("0", **self.state, flush=self.flush))

    def _end_bundle(self, paths):
        finalizer = DoFn.BundleFinalizerParam()
        for path in paths:
            self._publish.process(path, finalizer)
        self.outstanding.append(finalizer)

    def finalize(self):
        for finalizer in self.outstanding:
            finalizer.finalize_bundle()
        self.outstanding.clear()

    def is_idle(self):
        return not self.flush.is_set


class CheckpointedSink(RuleBasedStateMachine):
    """Any order of elements, flushes, checkpoints and failures."""

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.sink, self.elements, self.at = Sink(self.folder), 0, 0
        self.begun = None
        self.complete = self.kept()
        self.seen = {}

    def teardown(self):
        for _ in range(4):  # a flush, two checkpoints, and a flush that finds the files published
            self.replay()
            if self.sink.flush.is_set:
                self.sink.fire()
            self.begun = None
            self.begin_a_checkpoint()
            self.end_the_checkpoint()
        assert self.sink.is_idle()
        assert sorted(self.rows()) == sorted(f"c{n}" for n in range(self.elements))
        shutil.rmtree(self.folder)

    def kept(self):
        return deepcopy(self.sink.state), self.sink.flush.is_set, self.at

    def rows(self):
        return [row["conversation_id"] for row in read_dataset(str(self.folder), "late")]

    def replay(self):
        while self.at < self.elements:
            self.sink.arrive(self.at)
            self.at += 1

    @rule(elements=st.integers(1, 4))
    def arrive(self, elements):
        self.elements += elements
        self.replay()

    @precondition(lambda self: self.sink.flush.is_set)
    @rule()
    def flush(self):
        self.sink.fire()

    @precondition(lambda self: self.at < self.elements)
    @rule()
    def arrive_again(self):
        self.sink.arrive(self.at)
        self.at += 1

    @precondition(lambda self: self.begun is None)
    @rule()
    def begin_a_checkpoint(self):
        self.begun = self.kept()

    @precondition(lambda self: self.begun is not None)
    @rule()
    def end_the_checkpoint(self):
        self.complete, self.begun = self.begun, None
        self.sink.finalize()

    @precondition(lambda self: self.begun is not None)
    @rule()
    def end_the_checkpoint_and_fail_before_any_call(self):
        self.complete = self.begun
        self.fail()

    @rule()
    def fail(self):
        """The process is lost, and another goes on from the last complete checkpoint."""
        state, is_set, self.at = self.complete
        self.begun = None
        self.sink.outstanding.clear()
        self.sink.state, self.sink.flush.is_set = deepcopy(state), is_set

    @invariant()
    def no_visible_file_changes(self):
        for path in self.folder.glob("late/*"):
            content = path.read_bytes()
            assert self.seen.setdefault(path, content) == content
        assert all(path.exists() for path in self.seen)

    @invariant()
    def no_row_is_seen_twice(self):
        found = Counter(self.rows())
        assert set(found.values()) <= {1}
        assert all(int(name[1:]) < self.elements for name in found)


TestCheckpointedSink = pytest.mark.slow(CheckpointedSink.TestCase)
TestCheckpointedSink.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_bundle_that_ends_within_a_checkpoint_does_not_publish_at_its_end(tmp_path):
    """The checkpoint does not hold its state, so a failure would repeat its rows."""
    sink = Sink(tmp_path)
    sink.arrive(0)
    sink.fire()
    sink.finalize()
    assert not list(tmp_path.glob("late/*"))
    sink.fire()
    assert not list(tmp_path.glob("late/*"))
    sink.finalize()
    assert len(list(tmp_path.glob("late/*"))) == 1
    assert sink.flush.is_set
    sink.fire()
    assert sink.is_idle()


def test_a_file_that_its_readers_have_removed_counts_as_published(tmp_path):
    path = "late/part-1.jsonl"
    hidden = Path(hidden_path(str(tmp_path), path))
    hidden.parent.mkdir(parents=True)
    hidden.write_text("{}")
    moves = [next_move(str(tmp_path), path)] * 2
    for move in moves:  # registered for two bundles that become final together
        move()
    assert Path(hidden_path(str(tmp_path), path, confirmed=True)).is_file()
    next_move(str(tmp_path), path)()
    (tmp_path / path).unlink()
    assert next_move(str(tmp_path), path) is None
