"""A folder in which a day of files waits: taken in portions, and cut from the journal later."""

import os

import pytest

from goodgain.transforms.sources.journal_file import cut_journal, read_journal
from tests.transforms.watching import MINUTE, NOON, Engine, put, record

FILES = 96  # of a quarter of an hour each
DAY = FILES * 15
GAP = 30  # minutes
PORTION = 8
LATER = NOON + (DAY + 600) * MINUTE


@pytest.fixture
def day(folder):
    """A day in files, each with a conversation that goes on in the next one; tells their size."""
    for number in range(FILES):
        records = [
            record(f"{number - age:03d}", NOON + (number * 15 + minute) * MINUTE)
            for minute in range(0, 15, 3)
            for age in (0, 1)
        ]
        file = put(folder, f"{number:03d}.jsonl", *records, age_ms=(FILES - number) * 1_000)
    return file.stat().st_size


def most_open(engine):
    """The most conversations that are open at once when each closes `GAP` after its last record."""
    last, most = {}, 0
    for step in engine.steps:
        for conversation, at in step.calls:
            assert step.watermark is None or at >= step.watermark
            last[conversation] = at
        if step.watermark is not None:
            last = {one: at for one, at in last.items() if at + GAP * MINUTE > step.watermark}
        most = max(most, len(last))
    return most


def test_a_days_backlog_keeps_only_a_portion_open(day, folder, journal):
    """In portions it is read as if it came file by file; as a whole it is all open at the end."""
    engine = Engine(folder, journal, now=LATER, portion_bytes=PORTION * day).run(10_000)
    whole = Engine(folder, journal.with_name("other"), now=LATER).run(10_000)
    assert engine.calls == whole.calls
    assert len(engine.calls) == FILES * 10
    assert len({step.watermark for step in engine.steps}) == FILES / PORTION
    assert engine.watermark == whole.watermark
    # A portion, one more that waits for the watermark, and those within the gap.
    assert most_open(engine) <= 2 * PORTION + GAP // 15 + 2
    assert most_open(whole) == FILES + 1


def test_one_that_is_larger_than_a_portion_is_one_by_itself(day, folder, journal):
    engine = Engine(folder, journal, now=LATER, portion_bytes=1).run(10_000)
    # The first watermark needs 15 records, which are in two files.
    assert len({step.watermark for step in engine.steps}) == FILES - 1


@pytest.mark.parametrize("steps", [1, 5, 9, 30, 80])
def test_killed_in_the_midst_it_goes_on_with_the_same_portions(day, folder, journal, steps):
    settings = {"now": LATER, "portion_bytes": PORTION * day, "horizon_ms": 10**9}
    straight = Engine(folder, journal.with_name("other"), **settings).run(10_000)
    killed = Engine(folder, journal, **settings)
    for _ in range(steps):
        killed.step()
    again = Engine(folder, journal, **settings).run(10_000)
    assert again.steps == straight.steps
    assert again.watermark == straight.watermark


def test_names_order_what_was_copied_in_any_order(day, folder, journal):
    for number in range(FILES):  # the latest was copied first
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
def test_the_journal_is_cut_between_two_starts(day, folder, journal, steps):
    """In the middle of the backlog as at its end, and nothing that matters is given otherwise."""
    settings = {
        "now": LATER,
        "portion_bytes": PORTION * day,
        "horizon_ms": 120 * MINUTE,
    }
    engine, uncut = (Engine(folder, path, **settings) for path in (journal, journal.parent / "x"))
    for one in (engine, uncut):
        for _ in range(steps):
            if one.step() != 0:
                break
    entries = len(read_journal(str(journal)).entries)
    cut_journal(str(journal), str(folder), settings["horizon_ms"])
    left = len(read_journal(str(journal)).entries)
    # Two hours of files and two portions, with a move for each portion, and the head.
    assert left <= min(entries, 8 + 2 * PORTION + 5)
    cut_journal(str(journal), str(folder), settings["horizon_ms"])
    assert len(read_journal(str(journal)).entries) == left
    again = Engine(folder, journal, **settings).run(10_000)
    assert again.steps == Engine(folder, journal.parent / "x", **settings).run(10_000).steps
    assert read_journal(str(journal)).totals() == read_journal(str(journal.parent / "x")).totals()
    assert read_journal(str(journal)).totals().files == FILES


def test_a_file_that_was_cut_is_not_taken_again_but_one_that_changed_is_told(day, folder, journal):
    settings = {"now": LATER, "horizon_ms": 0}
    Engine(folder, journal, portion_bytes=PORTION * day, **settings).run(10_000)
    cut_journal(str(journal), str(folder), 0)
    again = Engine(folder, journal, **settings).run()
    assert all(at >= again.watermark for _, at in again.calls)
    put(folder, "000.jsonl", record("new", LATER), now=LATER)
    (row,) = Engine(folder, journal, **settings).run().rejected
    assert row.reason.startswith(f"The file had {day} bytes when it was taken")


def test_a_crash_while_cutting_leaves_the_journal_as_it_was(day, folder, journal, monkeypatch):
    Engine(folder, journal, now=LATER, portion_bytes=PORTION * day).run(10_000)
    before = (journal / "journal.jsonl").read_bytes()

    def crash(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", crash)
    with pytest.raises(OSError, match="No space left"):
        cut_journal(str(journal), str(folder), 0)
    assert (journal / "journal.jsonl").read_bytes() == before
