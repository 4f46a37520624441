"""A watched folder with random deliveries, crashes, silence, outages and full disks."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from goodgain.pipeline.run.stream.stopping import THIS_PROCESS
from goodgain.transforms.sources.journal_file import compact_journal, read_journal
from tests.transforms.watching import MINUTE, NOON, Engine, full_disk, put, record

YEAR = 365 * 24 * 60
# Event times relative to the clock of the machine, in minutes; some are wrong by years.
OFFSETS = st.one_of(st.integers(-90, 0), st.sampled_from([-YEAR, 20, 45, YEAR]))


class WatchedFolder(RuleBasedStateMachine):
    """The guarantees of the source in any run.

    Each run that reads a file emits each of its records once, at the same watermark as other runs;
    only garbage is rejected; the watermark never decreases.
    """

    @initialize()
    def begin(self):
        self.root = Path(tempfile.mkdtemp())
        self.folder, self.journal = self.root / "in", self.root / "journal"
        self.folder.mkdir()
        self.now = NOON
        self.delivered = Counter()
        self.garbage = self.files = 0
        self.watermark_of_file = {}
        self.start()

    def teardown(self):
        THIS_PROCESS.reset()
        shutil.rmtree(self.root)

    @rule()
    def start(self):
        """Start a process; the previous one was killed or stopped."""
        THIS_PROCESS.reset()
        settings = {"shard_bytes": 200, "portion_bytes": 600}
        self.engine = Engine(self.folder, self.journal, now=self.now, **settings)
        self.watermark = None

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

    @rule(room=st.integers(0, 4_000))
    def step_on_a_full_disk(self, room):
        with full_disk(room):
            self.step(3)

    @rule()
    def step_without_folder(self):
        away = self.folder.rename(self.root / "away")
        self.engine.now = self.now
        before = read_journal(str(self.journal)).entries
        self.step(2)
        assert read_journal(str(self.journal)).entries == before
        away.rename(self.folder)

    @rule()
    def move_to_another_process(self):
        self.engine.restore_in_new_process()

    @rule()
    def compact_journal_and_restart(self):
        compact_journal(str(self.journal), str(self.folder), 10**15)
        self.start()

    @rule(size=st.integers(1, 30))
    def tear_the_last_line_and_restart(self, size):
        file = self.journal / "journal.jsonl"
        with file.open("ab") as torn:
            torn.write(b'{"type":"take","name":"somewhere'[:size])
        self.start()

    @rule()
    def stop(self):
        THIS_PROCESS.request_stop()
        self.step(1)
        assert self.engine.has_ended

    @rule()
    def run_to_the_end(self):
        """Restart and read everything, so that this process has emitted all records."""
        self.start()
        self.engine.run()
        assert Counter(self.engine.calls) == self.delivered
        assert len(self.engine.rejected) == self.garbage
        totals = read_journal(str(self.journal)).totals()
        assert totals.files == self.files
        assert totals.records == sum(self.delivered.values()) + self.garbage
        assert totals.rejected == self.garbage

    @invariant()
    def only_delivered_records_are_emitted_and_none_twice(self):
        assert Counter(self.engine.calls) <= self.delivered
        assert len(self.engine.rejected) <= self.garbage

    @invariant()
    def records_have_the_same_watermark_in_every_run(self):
        for step in self.engine.steps:
            for name, _ in step.calls:
                assert self.watermark_of_file.setdefault(name, step.watermark) == step.watermark
            assert all(at >= (step.watermark or at) for at in step.calls_at)

    @invariant()
    def the_watermark_never_decreases(self):
        now = self.engine.watermark
        assert self.watermark is None or now >= self.watermark
        self.watermark = now


TestWatchedFolder = pytest.mark.slow(WatchedFolder.TestCase)
TestWatchedFolder.settings = settings(max_examples=30, stateful_step_count=25)
