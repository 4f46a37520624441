"""Compacting the journal while the stream runs changes nothing in what the source emits."""

import errno
import logging
import os
from pathlib import Path

import pytest

from goodgain.transforms.core.streaming.journal import JournalError, Take
from goodgain.transforms.sources import folder_watch
from goodgain.transforms.sources.journal_file import JournalFile, read_journal
from tests.transforms.watching import MINUTE, NOON, Engine, put, record

FILES = 96  # of a quarter of an hour each
HOUR = 60 * MINUTE
LATER = NOON + 2_000 * MINUTE
SETTINGS = {"now": LATER, "horizon_ms": 2 * HOUR, "keep_ms": 0, "portion_bytes": 3_000}


class Killed(BaseException):
    """Stands in for SIGKILL."""


@pytest.fixture(autouse=True)
def _compact_early(monkeypatch):
    monkeypatch.setattr(folder_watch, "_LEAST_COMPACTED", 3_000)


@pytest.fixture
def day(folder):
    """A day of files, five of them in each portion."""
    for number in range(FILES):
        times = range(NOON + number * 15 * MINUTE, NOON + (number + 1) * 15 * MINUTE, 2 * MINUTE)
        records = [record(f"{number:03d}", at) for at in times]
        file = put(folder, f"{number:03d}.jsonl", *records, age_ms=(FILES - number) * 1_000)
    assert 5 <= SETTINGS["portion_bytes"] / file.stat().st_size < 6


@pytest.fixture
def uncompacted(day, folder, tmp_path, monkeypatch):
    """The same stream with a journal that is never compacted, at its end."""
    with monkeypatch.context() as here:
        here.setattr(folder_watch, "_LEAST_COMPACTED", 10**9)
        return Engine(folder, tmp_path / "uncompacted", **SETTINGS).run(10_000)


def size(journal):
    return (journal / "journal.jsonl").stat().st_size


def taken(journal):
    return sum(isinstance(entry, Take) for entry in read_journal(str(journal)).entries)


def test_a_days_backlog_is_read_as_without_compaction(uncompacted, folder, journal):
    engine = Engine(folder, journal, **SETTINGS).run(10_000)
    assert (engine.steps, engine.watermark) == (uncompacted.steps, uncompacted.watermark)
    assert len(uncompacted.calls) == FILES * 8
    assert taken(journal) < FILES / 2
    totals = read_journal(str(journal)).totals()
    assert totals == read_journal(uncompacted.source.journal).totals()
    assert totals.files == FILES


def test_so_is_one_with_every_step_in_a_new_process(uncompacted, folder, journal):
    engine = Engine(folder, journal, **SETTINGS)
    while engine.step() == 0:
        engine.restore_in_new_process()
    assert (engine.steps, engine.watermark) == (uncompacted.steps, uncompacted.watermark)
    assert taken(journal) < FILES / 2


@pytest.mark.parametrize("steps", [1, 40, 43, 60, 97, 120, 10_000])
def test_a_restart_after_a_compaction_is_as_without_compaction(
    uncompacted, folder, journal, steps, monkeypatch
):
    engine = Engine(folder, journal, **SETTINGS)
    for _ in range(steps):
        engine.step()
    with monkeypatch.context() as here:
        here.setattr(folder_watch, "_LEAST_COMPACTED", 10**9)
        straight = Engine(folder, journal.with_name("straight"), **SETTINGS)
        for _ in range(steps):
            straight.step()
        again = Engine(folder, journal.with_name("straight"), **SETTINGS).run(10_000)
    assert Engine(folder, journal, **SETTINGS).run(10_000).steps == again.steps


@pytest.mark.parametrize("has_renamed", [False, True])
def test_a_stream_killed_while_compacting_resumes(
    uncompacted, folder, journal, has_renamed, monkeypatch
):
    replace = os.replace

    def killed(aside, path):
        if has_renamed:
            replace(aside, path)
        raise Killed

    engine = Engine(folder, journal, **SETTINGS)
    with monkeypatch.context() as here:
        here.setattr(os, "replace", killed)
        here.setattr(Path, "unlink", lambda *_, **__: None)  # a killed process cleans up nothing
        with pytest.raises(Killed):
            engine.run(10_000)
    assert (journal / ".journal.jsonl").exists() is not has_renamed
    before = engine.calls
    again = Engine(folder, journal, **SETTINGS).run(10_000)
    assert again.watermark == uncompacted.watermark
    assert set(before) | set(again.calls) == set(uncompacted.calls)
    assert size(journal) < 2 * 3_000 + 1_000
    assert read_journal(str(journal)).totals().files == FILES


def test_a_disk_too_full_for_compaction_stops_nothing(
    uncompacted, folder, journal, monkeypatch, caplog
):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(os, "replace", full)
    engine = Engine(folder, journal, **SETTINGS).run(10_000)
    assert engine.steps == uncompacted.steps
    assert size(journal) == size(Path(uncompacted.source.journal))
    # It is tried again when the journal has doubled, not at every entry.
    messages = [one for one in caplog.messages if "cannot be compacted" in one]
    assert 1 <= len(messages) <= size(journal).bit_length() - (3_000).bit_length() + 1
    assert "No space left on device" in messages[0]


def test_the_journal_stays_small_over_many_files(folder, journal, monkeypatch):
    lengths = []
    compact = JournalFile.compact
    monkeypatch.setattr(
        JournalFile,
        "compact",
        lambda file, *how: lengths.append(file.length) or compact(file, *how),
    )
    engine = Engine(folder, journal, **{**SETTINGS, "now": NOON})
    sizes = []
    for number in range(1_000):
        put(folder, f"{number}.jsonl", record("a", engine.now), now=engine.now)
        if number >= 20:
            (folder / f"{number - 20}.jsonl").unlink()  # as its owner would
        engine.run()
        sizes.append(size(journal))
        engine.now += 15 * MINUTE
    # The last two hours are 8 files, and the head has the names of 21: together they are 4,000.
    assert max(sizes) < 10_000
    assert max(sizes[-100:]) <= max(sizes[:200]) + 200
    assert len(lengths) < 1_000 / 10
    assert read_journal(str(journal)).totals().files == 1_000


def test_nothing_is_removed_while_progress_is_unknown(day, folder, journal):
    unknown = {**SETTINGS, "needed": lambda _: None}
    Engine(folder, journal, **unknown).run(10_000)
    assert taken(journal) == FILES


def test_progress_decides_what_is_removed_not_the_watermark(day, folder, journal):
    asked = []
    behind = {**SETTINGS, "needed": lambda watermark: asked.append(watermark) or NOON + 10 * HOUR}
    engine = Engine(folder, journal, **behind).run(10_000)
    assert asked[-1] <= engine.watermark
    assert FILES - 40 <= taken(journal) < FILES - 40 + 5  # four an hour


def test_a_file_that_was_removed_is_not_taken_again(uncompacted, folder, journal):
    engine = Engine(folder, journal, **SETTINGS).run(10_000)
    put(folder, "000.jsonl", record("new", LATER), now=LATER)
    put(folder, "new.jsonl", record("newer", LATER), now=LATER)
    engine.run()
    assert engine.calls[len(uncompacted.calls) :] == [("newer", LATER)]
    (row,) = engine.rejected
    assert row.source.endswith("000.jsonl")


def test_a_compaction_by_another_process_is_noticed_even_at_the_same_length(
    uncompacted, folder, journal
):
    Engine(folder, journal.with_name("other"), **{**SETTINGS, "needed": lambda _: None}).run(10_000)
    whole = (journal.with_name("other") / "journal.jsonl").read_bytes()
    (journal / "journal.jsonl").parent.mkdir()
    (journal / "journal.jsonl").write_bytes(whole)
    mine, others = JournalFile(str(journal)), JournalFile(str(journal))
    others.compact(str(folder), LATER)
    entry = Take("x", 1, LATER)
    others.append(entry)
    while len(whole) - others.length > 200:
        others.append(entry)
    name = "x" * (
        len(whole) - others.length - len('{"type":"take","name":"","size":1,"clock":1}\n')
    )
    others.append(Take(name, 1, 1))
    assert others.length == mine.length
    assert others.is_current
    assert not mine.is_current


class TestCheckpoints:
    """Engines like Flink restore checkpoints, for which the journal must still have the files."""

    def test_a_recent_one_is_restored(self, uncompacted, folder, journal):
        engine = Engine(folder, journal, **{**SETTINGS, "keep_ms": 4 * MINUTE})
        kept = []
        while engine.step() == 0:
            kept.append(engine.checkpoint())
            engine.now += MINUTE // 10
        assert read_journal(str(journal)).first > 0
        for checkpoint in kept[-40:]:
            engine.restore(checkpoint)
            assert engine.run(10_000).steps == uncompacted.steps
            assert engine.watermark == uncompacted.watermark

    def test_an_older_one_is_refused_and_no_file_skipped(self, uncompacted, folder, journal):
        engine = Engine(folder, journal, **SETTINGS)
        for _ in range(20):
            engine.step()
        checkpoint = engine.checkpoint()
        engine.run(10_000)
        engine.restore(checkpoint)
        with pytest.raises(JournalError, match="no longer has the files"):
            engine.step()

    def test_one_from_before_a_silence_is_restored_at_any_age(self, uncompacted, folder, journal):
        engine = Engine(folder, journal, **SETTINGS).run(10_000)
        checkpoint = engine.checkpoint()
        for _ in range(200):
            engine.now += 10 * MINUTE
            engine.run()
        moved = engine.watermark
        assert moved > uncompacted.watermark + 1_900 * MINUTE
        assert len(read_journal(str(journal)).entries) < 100
        engine.restore(checkpoint)
        put(folder, "new.jsonl", record("new", moved), now=engine.now)
        engine.run()
        assert engine.watermark == moved
        assert engine.calls == [*uncompacted.calls, ("new", moved)]

    def test_one_that_was_just_restored_can_be_restored_again(self, uncompacted, folder, journal):
        """After a month with a savepoint, all files yet to be read were taken long ago."""
        settings = {**SETTINGS, "keep_ms": 60 * MINUTE}
        engine = Engine(folder, journal, **settings)
        for _ in range(20):
            engine.step()
        savepoint = engine.checkpoint()
        for _ in range(50):
            engine.step()
        engine.now += 30 * 24 * HOUR
        engine.restore(savepoint)
        while engine.step() == 0:
            pass
        first = read_journal(str(journal)).first
        assert first > 0
        engine.restore(savepoint)
        assert engine.run(10_000).steps == uncompacted.steps
