"""Faults of a watched folder, and how each is handled and reported."""

import logging

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.score import score_conversation
from tests.core.direct import scoring
from tests.transforms.watching import MINUTE, NOON, Engine, lines, minutes, put, record

YEAR = 365 * 24 * 60 * MINUTE


def test_garbage_is_rejected_and_other_records_are_read(folder):
    good = lines(*minutes(20)).encode()
    (folder / "a.jsonl").write_bytes(b'\x00\xff garbage\n{"conversation_id": 7}\n' + good)
    (folder / "b.avro").write_bytes(b"no avro")
    engine = Engine(folder, now=2**42).run()
    assert len(engine.calls) == 20
    assert len(engine.rejected) == 3
    assert engine.watermark == NOON + 14 * MINUTE
    assert engine.total("records") == 23


def test_a_clock_ahead_of_this_machine_does_not_move_the_watermark(folder):
    put(folder, "a.jsonl", *minutes(20))
    for number in range(30):
        put(folder, f"wrong{number}.jsonl", record("wrong", NOON + YEAR + number * MINUTE))
    engine = Engine(folder, now=NOON + 20 * MINUTE).run()
    assert engine.watermark == NOON + 14 * MINUTE
    assert len(engine.calls) == 50  # they are scored, too
    assert engine.total("ahead") == 30


def test_a_clock_ahead_in_old_traces_does_not_move_the_watermark(folder):
    # All times are before the clock of this machine, so only other records reveal it.
    engine = Engine(folder, now=NOON + 10 * YEAR)
    for hour in range(3):
        put(
            folder,
            f"{hour}.jsonl",
            *minutes(20, NOON + hour * 20 * MINUTE),
            *minutes(5, NOON + YEAR, "wrong"),
        )
        engine.run()
    assert engine.watermark == NOON + 54 * MINUTE
    assert engine.total("ahead") == 15


def test_a_clock_behind_by_years_does_not_hold_back_the_watermark(folder):
    put(folder, "a.jsonl", *minutes(20), *minutes(10, NOON - 50 * YEAR, "wrong"))
    assert Engine(folder).run().watermark == NOON + 14 * MINUTE


def test_the_watermark_crosses_a_gap_once_most_records_have(folder):
    engine = Engine(folder, now=NOON + 10 * YEAR)
    put(folder, "friday.jsonl", *minutes(20))
    engine.run()
    monday = NOON + 3 * 24 * 60 * MINUTE
    for number in range(7):
        put(folder, f"monday{number}.jsonl", record("b", monday + number * MINUTE))
        assert engine.run().watermark == NOON + 14 * MINUTE
    put(folder, "monday7.jsonl", record("b", monday + 7 * MINUTE))
    assert engine.run().watermark == monday + 2 * MINUTE


def test_records_of_a_file_delivered_twice_count_as_redelivered(folder):
    put(folder, "a.jsonl", *minutes(3))
    put(folder, "copy of a.jsonl", *minutes(3))
    engine = Engine(folder).run()
    assert len(engine.calls) == 6
    fingerprinter = Fingerprinter(scoring().rules)
    fingerprints = [
        fingerprinter.call_fingerprint(parse_mapping(record(name, at))) for name, at in engine.calls
    ]
    row = score_conversation("a", fingerprints, 0, scoring()).conversation
    assert row.redelivered == 3


def test_a_file_that_grows_after_it_was_taken_is_reported_once(folder):
    file = put(folder, "a.jsonl", *minutes(20))
    taken = file.stat().st_size
    engine = Engine(folder).run()
    with file.open("a") as more:
        more.write(lines(record("b", NOON)))
    engine.run()
    engine.run()
    (row,) = engine.rejected
    assert (row.source, row.position) == (str(file), "file")
    assert f"had {taken} bytes" in row.reason
    assert "another name" in row.reason
    assert len(engine.calls) == 20
    file.write_text("")
    assert len(engine.run().rejected) == 2
    assert engine.total("changed") == 2


def test_the_source_waits_for_a_folder_that_disappears(folder, caplog):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder).run()
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


def test_the_source_waits_for_a_folder_that_does_not_exist_yet(folder):
    folder.rmdir()
    engine = Engine(folder).run()
    folder.mkdir()
    put(folder, "a.jsonl", *minutes(2))
    assert len(engine.run().calls) == 2


def test_an_unreadable_file_is_one_rejected_row(folder, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    put(folder, "a.jsonl", *minutes(2))
    monkeypatch.setattr("goodgain.transforms.read.open_plain", refuse)
    engine = Engine(folder).run()
    (row,) = engine.rejected
    assert row.position == "file"
    assert "Permission denied" in row.reason
    assert engine.calls == []


def test_the_rest_of_a_file_that_is_gone_is_one_rejected_row(folder):
    file = put(folder, "a.jsonl", *minutes(20))
    put(folder, "b.jsonl", *minutes(2))
    engine = Engine(folder, shard_bytes=500)
    engine.step()
    read = len(engine.calls)
    file.unlink()
    engine.restore_in_new_process()
    engine.run()
    assert 0 < read < 20
    assert len(engine.calls) == read + 2
    (row,) = engine.rejected
    assert row.source == str(file)
    assert "cannot be read" in row.reason


def test_a_broken_link_is_ignored(folder):
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    put(folder, "a.jsonl", *minutes(2))
    assert len(Engine(folder).run().calls) == 2
