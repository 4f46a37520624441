"""A backlog of a day of files: it is read in portions, and later removed from the journal."""

import os

import pytest

from goodgain.transforms.sources.journal_file import compact_journal, read_journal
from tests.transforms.watching import MINUTE, NOON, Engine, put, record

FILES = 96  # of a quarter of an hour each
DAY = FILES * 15
GAP = 30  # minutes
PORTION = 8
LATER = NOON + (DAY + 600) * MINUTE


@pytest.fixture
def day(folder):
    """Write a day of files, each with a conversation that continues in the next; their size."""
    for number in range(FILES):
        records = [
            record(f"{number - age:03d}", NOON + (number * 15 + minute) * MINUTE)
            for minute in range(0, 15, 3)
            for age in (0, 1)
        ]
        file = put(folder, f"{number:03d}.jsonl", *records, age_ms=(FILES - number) * 1_000)
    return file.stat().st_size


def most_open(engine):
    """The greatest number of open conversations, if each closes `GAP` after its last record."""
    last, most = {}, 0
    for step in engine.steps:
        for conversation, at in step.calls:
            assert step.watermark is None or at >= step.watermark
            last[conversation] = at
        if step.watermark is not None:
            last = {one: at for one, at in last.items() if at + GAP * MINUTE > step.watermark}
        most = max(most, len(last))
    return most


def test_a_backlog_read_in_portions_keeps_few_conversations_open(day, folder, journal):
    """Read as a whole, all conversations are open at the end."""
    engine = Engine(folder, journal, now=LATER, portion_bytes=PORTION * day).run(10_000)
    whole = Engine(folder, journal.with_name("other"), now=LATER).run(10_000)
    assert engine.calls == whole.calls
    assert len(engine.calls) == FILES * 10
    assert len({step.watermark for step in engine.steps}) == FILES / PORTION
    assert engine.watermark == whole.watermark
    # One portion, another that waits for the watermark, and those within the gap.
    assert most_open(engine) <= 2 * PORTION + GAP // 15 + 2
    assert most_open(whole) == FILES + 1


def test_a_file_larger_than_a_portion_is_a_portion(day, folder, journal):
    engine = Engine(folder, journal, now=LATER, portion_bytes=1).run(10_000)
    # The first watermark needs 15 records, i.e. two files.
    assert len({step.watermark for step in engine.steps}) == FILES - 1


@pytest.mark.parametrize("steps", [1, 5, 9, 30, 80])
def test_a_restart_within_a_backlog_continues_with_the_same_portions(day, folder, journal, steps):
    settings = {"now": LATER, "portion_bytes": PORTION * day, "horizon_ms": 10**9}
    uninterrupted = Engine(folder, journal.with_name("other"), **settings).run(10_000)
    killed = Engine(folder, journal, **settings)
    for _ in range(steps):
        killed.step()
    again = Engine(folder, journal, **settings).run(10_000)
    assert again.steps == uninterrupted.steps
    assert again.watermark == uninterrupted.watermark


def test_files_copied_in_another_order_can_be_read_by_name(day, folder, journal):
    for number in range(FILES):  # the newest was copied first
        seconds = (NOON - MINUTE) // 1_000 - number
        os.utime(folder / f"{number:03d}.jsonl", (seconds, seconds))
    settings = {"now": LATER, "portion_bytes": PORTION * day}
    by_name = Engine(folder, journal, by_name=True, **settings).run(10_000)
    assert most_open(by_name) <= 2 * PORTION + GAP // 15 + 2
    by_time = Engine(folder, journal.with_name("other"), **settings).run(10_000)
    behind = [
        at
        for step in by_time.steps
        for _, at in step.calls
        if step.watermark is not None and at < step.watermark
    ]
    assert len(behind) == (FILES - PORTION) * 10


@pytest.mark.parametrize("steps", [20, 100, 101, 104, 10_000])
def test_a_restart_with_a_compacted_journal_repeats_the_same(day, folder, journal, steps):
    """The journal is compacted at any point of the backlog, or at its end."""
    settings = {
        "now": LATER,
        "portion_bytes": PORTION * day,
        "horizon_ms": 120 * MINUTE,
    }
    engine, uncompacted = (
        Engine(folder, path, **settings) for path in (journal, journal.parent / "x")
    )
    for one in (engine, uncompacted):
        for _ in range(steps):
            if one.step() != 0:
                break
    entries = len(read_journal(str(journal)).entries)
    compact_journal(str(journal), str(folder), settings["horizon_ms"])
    left = len(read_journal(str(journal)).entries)
    # Two hours of files and two portions, moves of the watermark for these, and the head.
    assert left <= min(entries, 8 + 2 * PORTION + 5)
    compact_journal(str(journal), str(folder), settings["horizon_ms"])
    assert len(read_journal(str(journal)).entries) == left
    again = Engine(folder, journal, **settings).run(10_000)
    assert again.steps == Engine(folder, journal.parent / "x", **settings).run(10_000).steps
    assert read_journal(str(journal)).totals() == read_journal(str(journal.parent / "x")).totals()
    assert read_journal(str(journal)).totals().files == FILES


def test_files_removed_from_the_journal_are_not_read_again_but_changes_are_reported(
    day, folder, journal
):
    settings = {"now": LATER, "horizon_ms": 0}
    Engine(folder, journal, portion_bytes=PORTION * day, **settings).run(10_000)
    compact_journal(str(journal), str(folder), 0)
    again = Engine(folder, journal, **settings).run()
    assert all(at >= again.watermark for _, at in again.calls)
    put(folder, "000.jsonl", record("new", LATER), now=LATER)
    (row,) = Engine(folder, journal, **settings).run().rejected
    assert row.reason.startswith(f"The file had {day} bytes when it was taken")


def test_a_crash_while_compacting_keeps_the_journal(day, folder, journal, monkeypatch):
    Engine(folder, journal, now=LATER, portion_bytes=PORTION * day).run(10_000)
    before = (journal / "journal.jsonl").read_bytes()

    def crash(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", crash)
    with pytest.raises(OSError, match="No space left"):
        compact_journal(str(journal), str(folder), 0)
    assert (journal / "journal.jsonl").read_bytes() == before
