"""Faults of a watched folder, and how each is handled and reported."""

import logging

import pytest

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.streaming.journal import JournalError
from goodgain.transforms.sources.journal_file import read_journal
from tests.core.direct import scoring
from tests.transforms.watching import MINUTE, NOON, Engine, full_disk, lines, minutes, put, record

YEAR = 365 * 24 * 60 * MINUTE


def totals(journal):
    return read_journal(str(journal)).totals()


def test_garbage_is_rejected_and_other_records_are_read(folder, journal):
    good = lines(*minutes(20)).encode()
    (folder / "a.jsonl").write_bytes(b'\x00\xff garbage\n{"conversation_id": 7}\n' + good)
    (folder / "b.avro").write_bytes(b"no avro")
    engine = Engine(folder, journal, now=2**42).run()
    assert len(engine.calls) == 20
    assert len(engine.rejected) == 3
    assert engine.watermark == NOON + 14 * MINUTE
    assert (totals(journal).records, totals(journal).rejected) == (23, 3)


def test_a_clock_ahead_of_this_machine_does_not_move_the_watermark(folder, journal):
    put(folder, "a.jsonl", *minutes(20))
    for number in range(30):
        put(folder, f"wrong{number}.jsonl", record("wrong", NOON + YEAR + number * MINUTE))
    engine = Engine(folder, journal, now=NOON + 20 * MINUTE).run()
    assert engine.watermark == NOON + 14 * MINUTE
    assert len(engine.calls) == 50  # they are scored, too
    assert totals(journal).ahead == 30


def test_a_clock_ahead_in_old_traces_does_not_move_the_watermark(folder, journal):
    # All times are before the clock of this machine, so only other records reveal it.
    engine = Engine(folder, journal, now=NOON + 10 * YEAR)
    for hour in range(3):
        put(
            folder,
            f"{hour}.jsonl",
            *minutes(20, NOON + hour * 20 * MINUTE),
            *minutes(5, NOON + YEAR, "wrong"),
        )
        engine.run()
    assert engine.watermark == NOON + 54 * MINUTE
    assert totals(journal).ahead == 15


def test_a_clock_behind_by_years_does_not_hold_back_the_watermark(folder, journal):
    put(folder, "a.jsonl", *minutes(20), *minutes(10, NOON - 50 * YEAR, "wrong"))
    assert Engine(folder, journal).run().watermark == NOON + 14 * MINUTE


def test_the_watermark_crosses_a_gap_once_most_records_have(folder, journal):
    engine = Engine(folder, journal, now=NOON + 10 * YEAR)
    put(folder, "friday.jsonl", *minutes(20))
    engine.run()
    monday = NOON + 3 * 24 * 60 * MINUTE
    for number in range(7):
        put(folder, f"monday{number}.jsonl", record("b", monday + number * MINUTE))
        assert engine.run().watermark == NOON + 14 * MINUTE
    put(folder, "monday7.jsonl", record("b", monday + 7 * MINUTE))
    assert engine.run().watermark == monday + 2 * MINUTE


def test_records_of_a_file_delivered_twice_count_as_redelivered(folder, journal):
    put(folder, "a.jsonl", *minutes(3))
    put(folder, "copy of a.jsonl", *minutes(3))
    engine = Engine(folder, journal).run()
    assert len(engine.calls) == 6
    fingerprinter = Fingerprinter(scoring().rules)
    fingerprints = [
        fingerprinter.call_fingerprint(parse_mapping(record(name, at)), keep_encoding=True)
        for name, at in engine.calls
    ]
    row = score_conversation("a", fingerprints, 0, scoring()).conversation
    assert row.redelivered == 3


def test_a_file_that_grows_after_it_was_taken_is_reported_once(folder, journal):
    file = put(folder, "a.jsonl", *minutes(20))
    taken = file.stat().st_size
    engine = Engine(folder, journal).run()
    with file.open("a") as more:
        more.write(lines(record("b", NOON)))
    engine.run()
    engine.run()
    (row,) = engine.rejected
    assert (row.source, row.position) == (str(file), "file")
    assert f"had {taken} bytes" in row.reason
    assert "another name" in row.reason
    again = Engine(folder, journal).run()
    # A restart reads only what the file held when it was taken.
    assert (again.calls, again.rejected) == (engine.calls, engine.rejected)
    file.write_text("")
    assert len(again.run().rejected) == 2
    assert totals(journal).changed == 2


def test_the_source_waits_for_a_folder_that_disappears(folder, journal, caplog):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder, journal).run()
    away = folder.rename(folder.with_name("away"))
    with caplog.at_level(logging.WARNING):
        for _ in range(9):
            engine.now += 5 * MINUTE
            engine.run()
    (message,) = caplog.messages
    assert str(folder) in message
    assert "cannot be listed" in message
    assert engine.watermark == NOON + 14 * MINUTE  # an outage does not count as silence
    away.rename(folder)
    put(folder, "b.jsonl", *minutes(20, NOON + 20 * MINUTE))
    engine.run()
    assert len(engine.calls) == 40
    assert engine.watermark == NOON + 34 * MINUTE


def test_the_source_waits_for_a_folder_that_does_not_exist_yet(folder, journal):
    folder.rmdir()
    engine = Engine(folder, journal).run()
    folder.mkdir()
    put(folder, "a.jsonl", *minutes(2))
    assert len(engine.run().calls) == 2


def test_an_unreadable_file_is_one_rejected_row(folder, journal, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    put(folder, "a.jsonl", *minutes(2))
    monkeypatch.setattr("goodgain.transforms.read.open_plain", refuse)
    engine = Engine(folder, journal).run()
    (row,) = engine.rejected
    assert row.position == "file"
    assert "Permission denied" in row.reason
    assert engine.calls == []


def test_a_file_missing_at_a_restart_is_one_rejected_row(folder, journal):
    file = put(folder, "a.jsonl", *minutes(20))
    put(folder, "b.jsonl", *minutes(2))
    assert Engine(folder, journal).run().rejected == []
    file.unlink()
    again = Engine(folder, journal).run()
    assert len(again.calls) == 2
    (row,) = again.rejected
    assert row.source == str(file)
    assert "cannot be read" in row.reason


def test_the_source_waits_for_a_folder_missing_at_a_restart(folder, journal):
    put(folder, "a.jsonl", *minutes(20))
    Engine(folder, journal).run()
    away = folder.rename(folder.with_name("away"))
    again = Engine(folder, journal).run()
    assert again.calls == again.rejected == []
    away.rename(folder)
    again.run()
    assert (len(again.calls), again.rejected) == (20, [])


def test_a_broken_link_is_ignored(folder, journal):
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    put(folder, "a.jsonl", *minutes(2))
    assert len(Engine(folder, journal).run().calls) == 2


@pytest.mark.parametrize("room", [0, 10, 300])
def test_the_source_waits_for_space_on_a_full_disk(folder, journal, room, caplog):
    caplog.set_level(logging.WARNING)
    put(folder, "a.jsonl", *minutes(20))
    put(folder, "b.jsonl", *minutes(20, NOON + 20 * MINUTE))
    engine = Engine(folder, journal, now=NOON + 40 * MINUTE)
    with full_disk(room):
        engine.run()
        engine.run()
    assert len(engine.calls) == (40 if room == 300 else 0)
    assert engine.watermark is None
    (message,) = caplog.messages
    assert "The journal" in message
    assert "cannot be written" in message
    engine.run()
    assert len(engine.calls) == 40
    assert engine.watermark == NOON + 34 * MINUTE
    assert Engine(folder, journal).run().calls == engine.calls


def test_a_torn_last_line_of_the_journal_is_ignored(folder, journal):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder, journal).run()
    file = journal / "journal.jsonl"
    whole = file.read_bytes()
    for end in range(1, len(whole), 11):
        file.write_bytes(whole[:end])
        again = Engine(folder, journal).run()
        assert again.calls == engine.calls
        assert again.watermark == engine.watermark
        assert file.read_bytes() == whole


def test_a_damaged_journal_is_reported_with_its_line(folder, journal):
    put(folder, "a.jsonl", *minutes(20))
    Engine(folder, journal).run()
    file = journal / "journal.jsonl"
    file.write_bytes(b'{"type":"tak\n' + file.read_bytes())
    with pytest.raises(JournalError, match=r"Line 1 of the journal .*journal\.jsonl is damaged"):
        Engine(folder, journal)
