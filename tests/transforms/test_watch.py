"""A watched folder: each file is read once; a restart repeats the same records and watermarks."""

import pytest

from goodgain.pipeline.run.stream.stopping import THIS_PROCESS
from goodgain.transforms.sources.folder_files import list_folder
from goodgain.transforms.sources.journal_file import read_journal
from tests.transforms.watching import MINUTE, NOON, Engine, lines, minutes, put, record


@pytest.fixture(autouse=True)
def _no_stop_afterwards():
    yield
    THIS_PROCESS.reset()


def conversation_ids(engine):
    return [conversation_id for conversation_id, _ in engine.calls]


def test_a_file_is_read_once_and_moves_the_watermark(folder, journal):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder, journal).run()
    assert engine.calls == [("a", NOON + minute * MINUTE) for minute in range(20)]
    assert engine.watermark == NOON + 14 * MINUTE
    engine.run()
    assert len(engine.calls) == 20


def test_files_found_together_are_read_before_the_watermark_moves(folder, journal):
    put(folder, "b.jsonl", *minutes(20, conversation_id="early"), age_ms=MINUTE)
    put(folder, "a.jsonl", *minutes(20, NOON + 300 * MINUTE, "late"), age_ms=2 * MINUTE)
    engine = Engine(folder, journal, now=NOON + 400 * MINUTE).run()
    # The file that was modified first is read first.
    assert conversation_ids(engine) == ["late"] * 20 + ["early"] * 20
    assert [step.watermark for step in engine.steps] == [None, None]


def test_all_formats_and_codecs_of_batch_are_read(folder, journal):
    from tests.core.files import samples

    rows = [{**row, "timestamp": NOON + n} for n, row in enumerate(samples.records(40))]
    (folder / "a.jsonl.gz").write_bytes(samples.COMPRESS[".gz"](samples.jsonl_bytes(rows[:10])))
    (folder / "b.avro").write_bytes(samples.avro_bytes(rows[10:20]))
    (folder / "c.parquet").write_bytes(samples.parquet_bytes(rows[20:30], group=7))
    (folder / "d.jsonl").write_bytes(samples.jsonl_bytes(rows[30:]))
    engine = Engine(folder, journal, shard_bytes=3_000, now=2**42).run()
    assert sorted(engine.calls) == sorted((r["conversation_id"], r["timestamp"]) for r in rows)
    assert len(engine.steps) > 4  # a large file takes several steps
    assert engine.rejected == []


@pytest.mark.parametrize(
    "name", [".a.jsonl", "_a.jsonl", "a.jsonl.tmp", "a.PART", "a.jsonl.inprogress", "a~"]
)
def test_a_temporary_file_is_read_once_it_is_renamed(folder, journal, name):
    growing = put(folder, name, record("a", NOON))
    engine = Engine(folder, journal).run()
    assert engine.calls == []
    growing.write_text(lines(record("a", NOON), record("b", NOON)))
    growing.rename(folder / "whole.jsonl")
    assert conversation_ids(engine.run()) == ["a", "b"]


def test_a_file_written_in_place_is_read_once_it_has_settled(folder, journal):
    put(folder, "a.jsonl", record("a", NOON), age_ms=200)
    engine = Engine(folder, journal, settle_ms=1_000).run()
    assert engine.calls == []
    engine.now += 900
    assert conversation_ids(engine.run()) == ["a"]


def test_subfolders_and_empty_files_are_ignored(folder, journal):
    (folder / "nested").mkdir()
    put(folder / "nested", "a.jsonl", record("a", NOON))
    (folder / "empty.jsonl").touch()
    engine = Engine(folder, journal).run()
    assert engine.calls == engine.rejected == []


def test_a_record_without_timestamp_is_rejected(folder, journal):
    without = {"conversation_id": "a", "iteration": 2}
    put(folder, "a.jsonl", record("a", NOON), without, record("b", NOON))
    engine = Engine(folder, journal).run()
    assert conversation_ids(engine) == ["a", "b"]
    (row,) = engine.rejected
    assert (row.field, row.conversation_id, row.position) == ("timestamp", "a", "record 2")
    assert '"iteration":2' in row.payload
    assert read_journal(str(journal)).totals().rejected == 1


def test_a_folder_that_is_slow_to_list_is_listed_less_often(folder, journal, monkeypatch):
    def list_slowly(*arguments):
        engine.now += 2_000
        return list_folder(*arguments)

    monkeypatch.setattr("goodgain.transforms.sources.folder_watch.list_folder", list_slowly)
    engine = Engine(folder, journal)
    engine.run()
    put(folder, "a.jsonl", record("a", NOON))
    engine.now += 19_999
    assert engine.run().calls == []
    engine.now += 1
    assert conversation_ids(engine.run()) == ["a"]


def test_rejected_records_have_the_time_of_a_neighbouring_call(folder, journal):
    engine = Engine(folder, journal, now=NOON + 60 * MINUTE)
    for number in range(2):
        (folder / f"{number}.jsonl").write_text("bad\n" + lines(*minutes(20)) + "bad\n")
        engine.run()
    (folder / "only.jsonl").write_text("bad\n" * 2)
    engine.run()
    first, second, third = engine.steps
    assert first.rejected_at == [NOON, NOON + 19 * MINUTE]
    # Nothing is emitted behind the watermark.
    assert second.rejected_at == [NOON + 14 * MINUTE, NOON + 19 * MINUTE]
    assert third.rejected_at == [NOON + 14 * MINUTE] * 2


def test_wrong_times_are_clipped_to_the_watermark_and_the_clock_of_this_machine(folder, journal):
    engine = Engine(folder, journal, now=NOON + 20 * MINUTE)
    wrong = [NOON - 999 * MINUTE, NOON + 999 * MINUTE]
    for _ in range(2):
        name = f"{len(engine.steps)}.jsonl"
        put(folder, name, *minutes(20), *(record("wrong", at) for at in wrong), now=engine.now)
        engine.run()
        engine.now += MINUTE
    first, second = engine.steps
    assert first.calls_at[-2:] == [NOON - 999 * MINUTE, NOON + 20 * MINUTE]
    assert second.calls_at[-2:] == [NOON + 14 * MINUTE, NOON + 21 * MINUTE]
    # A restart at another time emits the same.
    assert Engine(folder, journal, now=NOON + 600 * MINUTE).run().steps == engine.steps


def test_silence_moves_the_watermark(folder, journal):
    put(folder, "a.jsonl", *minutes(3))
    engine = Engine(folder, journal).run()
    assert engine.watermark is None  # three records are too few
    engine.now += 10 * MINUTE
    assert engine.run().watermark == NOON + 32 * MINUTE
    engine.now += 9 * MINUTE
    assert engine.run().watermark == NOON + 32 * MINUTE
    engine.now += 31 * MINUTE
    assert engine.run().watermark == NOON + 72 * MINUTE


def test_silence_is_counted_from_the_last_file(folder, journal):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder, journal).run()
    engine.now += 9 * MINUTE
    put(folder, "b.jsonl", *minutes(1, NOON + 20 * MINUTE))
    engine.run()
    engine.now += 9 * MINUTE
    assert engine.run().watermark == NOON + 15 * MINUTE


def test_a_source_that_ends_when_silent_drains_up_to_its_watermark(folder, journal):
    put(folder, "a.jsonl", *minutes(20))
    for start in (NOON, NOON + 60 * MINUTE):
        engine = Engine(folder, journal, now=start, ends_when_silent=True).run()
        assert not engine.has_ended
        engine.now += 10 * MINUTE
        engine.run()
        assert engine.has_ended
        assert len(engine.calls) == 20
        assert THIS_PROCESS.is_due(engine.watermark)
        assert not THIS_PROCESS.is_due(engine.watermark + 1)


def test_a_source_with_an_empty_folder_ends_when_silent(folder, journal):
    engine = Engine(folder, journal, ends_when_silent=True).run()
    engine.now += 10 * MINUTE
    engine.run()
    assert engine.has_ended
    assert engine.watermark is None
    assert not THIS_PROCESS.is_due(-(10**14))


def test_a_stop_takes_no_new_file_and_drains_up_to_the_watermark(folder, journal):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder, journal).run()
    put(folder, "b.jsonl", *minutes(20, NOON + 20 * MINUTE))
    THIS_PROCESS.request_stop()
    engine.run()
    assert engine.has_ended
    assert len(engine.calls) == 20
    assert THIS_PROCESS.is_due(NOON + 14 * MINUTE)
    assert not THIS_PROCESS.is_due(NOON + 14 * MINUTE + 1)
    THIS_PROCESS.reset()
    assert conversation_ids(Engine(folder, journal).run())[20:] == ["a"] * 20


def test_a_restart_repeats_records_and_watermarks(folder, journal):
    engine = Engine(folder, journal, shard_bytes=500)
    for hour in range(4):
        put(folder, f"{9 - hour}.jsonl", *minutes(20, NOON + hour * 60 * MINUTE, f"c{hour}"))
        (folder / f"{hour}.bad.jsonl").write_text("garbage\n")
        engine.now = NOON + hour * 60 * MINUTE
        engine.run()
    engine.now += 10 * MINUTE
    engine.run()
    again = Engine(folder, journal, now=engine.now, shard_bytes=500).run()
    assert again.steps == engine.steps
    assert again.watermark == engine.watermark
    assert len(engine.calls) == 80


def test_a_restart_repeats_only_records_within_the_horizon(folder, journal):
    engine = Engine(folder, journal)
    for hour in range(4):
        engine.now = NOON + (hour * 60 + 20) * MINUTE
        put(folder, f"{hour}.jsonl", *minutes(20, NOON + hour * 60 * MINUTE, f"c{hour}"))
        engine.run()
    again = Engine(folder, journal, now=engine.now, horizon_ms=60 * MINUTE).run()
    # The watermark is at 3:14, so records from 2:14 on are repeated, from any file.
    assert again.calls == engine.calls[40 + 14 :]
    assert read_journal(str(journal)).totals().records == 80


def test_a_restart_repeats_stragglers_that_arrived_within_the_horizon(folder, journal):
    """Their event times are too old, but their outcomes may not be in files yet."""
    engine = Engine(folder, journal, now=NOON + 60 * MINUTE)
    put(folder, "a.jsonl", *minutes(20))
    engine.run()
    put(folder, "b.jsonl", record("straggler", NOON - 99 * MINUTE))
    engine.run()
    put(folder, "c.jsonl", *minutes(20, NOON + 20 * MINUTE), record("straggler", NOON))
    engine.run()
    again = Engine(folder, journal, now=engine.now, horizon_ms=20 * MINUTE).run()
    # The watermark is at 34; all that was emitted before the first watermark is repeated.
    assert again.calls == engine.calls
    again = Engine(folder, journal, now=engine.now, horizon_ms=14 * MINUTE).run()
    assert again.calls == engine.calls[21:-1]


def test_a_restart_repeats_records_with_a_clock_behind_by_years(folder, journal):
    """Their conversation may still be open, or count in means that are computed again."""
    engine = Engine(folder, journal, now=NOON + 60 * MINUTE)
    for hour in range(2):
        records = minutes(20, NOON + hour * 60 * MINUTE)
        put(folder, f"{hour}.jsonl", record("a", NOON - 10**12), *records)
        engine.now += 60 * MINUTE
        engine.run()
    again = Engine(folder, journal, now=engine.now, horizon_ms=120 * MINUTE).run()
    assert again.steps == engine.steps


def test_a_file_with_a_clock_ahead_is_repeated_only_within_the_horizon(folder, journal):
    engine = Engine(folder, journal)
    for hour, wrong in enumerate([[record("wrong", NOON + 10**12)], [], []]):
        engine.now = NOON + (hour * 60 + 20) * MINUTE
        put(folder, f"{hour}.jsonl", *minutes(20, NOON + hour * 60 * MINUTE), *wrong)
        engine.run()
    again = Engine(folder, journal, now=engine.now, horizon_ms=90 * MINUTE).run()
    assert again.calls == engine.calls[21:]


def test_a_restart_accepts_a_relative_path_or_a_moved_folder(folder, journal, monkeypatch):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder, journal).run()
    monkeypatch.chdir(folder.parent)
    relative = Engine("in", journal).run()
    moved = Engine(folder.rename(folder.with_name("moved")), journal).run()
    assert relative.steps == moved.steps == engine.steps
    assert read_journal(str(journal)).totals().files == 1


def test_a_checkpoint_is_continued_in_another_process(folder, journal):
    put(folder, "a.jsonl", *minutes(40))
    engine = Engine(folder, journal, shard_bytes=500)
    engine.step()
    engine.restore_in_new_process()
    engine.run()
    assert engine.calls == [("a", NOON + minute * MINUTE) for minute in range(40)]
    reading = read_journal(str(journal)).readings[0]
    assert (reading.records, reading.least, reading.greatest) == (40, NOON, NOON + 39 * MINUTE)


@pytest.mark.parametrize("steps", range(12))
def test_a_crash_at_any_step_loses_and_repeats_nothing(folder, journal, steps):
    put(folder, "a.jsonl", *minutes(20))
    put(folder, "b.jsonl", *minutes(20, NOON + 20 * MINUTE, "b"))
    uninterrupted = Engine(folder, journal.with_name("other"), shard_bytes=500).run()
    crashed = Engine(folder, journal, shard_bytes=500)
    for _ in range(steps):
        crashed.step()
    again = Engine(folder, journal, shard_bytes=500).run()
    assert again.steps == uninterrupted.steps
    assert again.watermark == uninterrupted.watermark
