"""A watched folder with random deliveries, restored checkpoints, silence and outages."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.transforms.watching import MINUTE, NOON, Engine, put, record

YEAR = 365 * 24 * 60
# Event times relative to the clock of the machine, in minutes; some are wrong by years.
OFFSETS = st.one_of(st.integers(-90, 0), st.sampled_from([-YEAR, 20, 45, YEAR]))


class WatchedFolder(RuleBasedStateMachine):
    """The guarantees of the source, whichever checkpoints are restored.

    Each record is emitted once; only garbage is rejected; the watermark never decreases, and no
    record is emitted behind it.
    """

    @initialize()
    def begin(self):
        self.root = Path(tempfile.mkdtemp())
        self.folder = self.root / "in"
        self.folder.mkdir()
        self.now = NOON
        self.delivered = Counter()
        self.garbage = self.files = 0
        self.start()

    def teardown(self):
        shutil.rmtree(self.root)

    @rule()
    def start(self):
        """Start over; the previous stream was killed or stopped."""
        self.engine = Engine(self.folder, now=self.now, shard_bytes=200, portion_bytes=600)
        self.watermark = None
        self.kept = self.engine.checkpoint()

    @rule(offsets=st.lists(OFFSETS, max_size=20), bad=st.integers(0, 2))
    def deliver(self, offsets, bad):
        times = [self.now + offset * MINUTE for offset in offsets]
        self.files += 1
        self.delivered.update((f"f{self.files}", at) for at in times)
        self.garbage += bad
        records = [record(f"f{self.files}", at) for at in times]
        file = put(self.folder, f".{self.files}", *records, now=self.now)
        with file.open("a") as more:
            more.write("garbage\n" * bad)
        file.rename(self.folder / f"{self.files % 7}-{self.files}.jsonl")

    @rule(minutes=st.integers(1, 25))
    def pass_time(self, minutes):
        self.now += minutes * MINUTE

    @rule(steps=st.integers(1, 8))
    def step(self, steps):
        self.engine.now = self.now
        for _ in range(steps):
            if not self.engine.has_ended:
                self.engine.step()

    @rule()
    def step_without_folder(self):
        away = self.folder.rename(self.root / "away")
        self.engine.now = self.now
        before = self.engine.progress
        self.step(2)
        if not self.engine.has_ended:
            assert self.engine.progress == before
        away.rename(self.folder)

    @rule()
    def move_to_another_process(self):
        self.engine.restore_in_new_process()

    @rule()
    def keep_a_checkpoint(self):
        if not self.engine.has_ended:
            self.kept = self.engine.checkpoint()

    @rule()
    def restore_the_checkpoint(self):
        if not self.engine.has_ended:
            self.engine.restore(self.kept)
            self.watermark = None

    @rule()
    def stop(self):
        self.engine.end.request_stop()
        self.step(1)
        assert self.engine.has_ended

    @rule()
    def run_to_the_end(self):
        if self.engine.has_ended:
            self.start()
        self.engine.now = self.now
        self.engine.run()
        assert Counter(self.engine.calls) == self.delivered
        assert len(self.engine.rejected) == self.garbage
        assert self.engine.total("records") == sum(self.delivered.values()) + self.garbage
        assert len(self.engine.progress.sizes) == self.files

    @invariant()
    def only_delivered_records_are_emitted_and_none_twice(self):
        assert Counter(self.engine.calls) <= self.delivered
        assert len(self.engine.rejected) <= self.garbage

    @invariant()
    def no_record_is_emitted_behind_the_watermark(self):
        for step in self.engine.steps:
            assert all(at >= (step.watermark or at) for at in step.calls_at)

    @invariant()
    def the_watermark_never_decreases(self):
        now = self.engine.watermark
        assert self.watermark is None or now >= self.watermark
        self.watermark = now


TestWatchedFolder = pytest.mark.slow(WatchedFolder.TestCase)
TestWatchedFolder.settings = settings(max_examples=30, stateful_step_count=25)
