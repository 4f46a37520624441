"""A backlog of a day of files is read in portions."""

import os

import pytest

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
            last = {file: at for file, at in last.items() if at + GAP * MINUTE > step.watermark}
        most = max(most, len(last))
    return most


def test_a_backlog_read_in_portions_keeps_few_conversations_open(day, folder):
    """Read as a whole, all conversations are open at the end."""
    engine = Engine(folder, now=LATER, portion_bytes=PORTION * day).run(10_000)
    whole = Engine(folder, now=LATER).run(10_000)
    assert engine.calls == whole.calls
    assert len(engine.calls) == FILES * 10
    assert len({step.watermark for step in engine.steps}) == FILES / PORTION
    assert engine.watermark == whole.watermark
    # One portion, another that waits for the watermark, and those within the gap.
    assert most_open(engine) <= 2 * PORTION + GAP // 15 + 2
    assert most_open(whole) == FILES + 1


def test_a_file_larger_than_a_portion_is_a_portion(day, folder):
    engine = Engine(folder, now=LATER, portion_bytes=1).run(10_000)
    # The first watermark needs 15 records, i.e. two files.
    assert len({step.watermark for step in engine.steps}) == FILES - 1


@pytest.mark.parametrize("steps", [1, 5, 9, 30, 80])
def test_a_checkpoint_within_a_backlog_continues_with_the_same_portions(day, folder, steps):
    settings = {"now": LATER, "portion_bytes": PORTION * day, "shard_bytes": day}
    uninterrupted = Engine(folder, **settings).run(10_000)
    engine = Engine(folder, **settings)
    for _ in range(steps):
        engine.step()
    engine.restore_in_new_process()
    engine.run(10_000)
    assert engine.steps == uninterrupted.steps
    assert engine.watermark == uninterrupted.watermark


def test_files_copied_in_another_order_can_be_read_by_name(day, folder):
    for number in range(FILES):  # the newest was copied first
        seconds = (NOON - MINUTE) // 1_000 - number
        os.utime(folder / f"{number:03d}.jsonl", (seconds, seconds))
    settings = {"now": LATER, "portion_bytes": PORTION * day}
    by_name = Engine(folder, by_name=True, **settings).run(10_000)
    assert most_open(by_name) <= 2 * PORTION + GAP // 15 + 2
    by_time = Engine(folder, **settings).run(10_000)
    behind = [
        at
        for step in by_time.steps
        for _, at in step.calls
        if step.watermark is not None and at < step.watermark
    ]
    assert len(behind) == (FILES - PORTION) * 10
