"""A watched folder: each file is read once, also after the restore of a checkpoint."""

import pytest

from goodgain.transforms.core.streaming.folder_progress import FolderProgress
from goodgain.transforms.sources.folder_files import list_folder
from goodgain.transforms.sources.watch import FolderTracker
from tests.transforms.watching import MINUTE, NOON, Engine, lines, minutes, put, record


def conversation_ids(engine):
    return [conversation_id for conversation_id, _ in engine.calls]


def test_a_file_is_read_once_and_moves_the_watermark(folder):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder).run()
    assert engine.calls == [("a", NOON + minute * MINUTE) for minute in range(20)]
    assert engine.watermark == NOON + 14 * MINUTE
    engine.run()
    assert len(engine.calls) == 20


def test_files_found_together_are_read_before_the_watermark_moves(folder):
    put(folder, "b.jsonl", *minutes(20, conversation_id="early"), age_ms=MINUTE)
    put(folder, "a.jsonl", *minutes(20, NOON + 300 * MINUTE, "late"), age_ms=2 * MINUTE)
    engine = Engine(folder, now=NOON + 400 * MINUTE).run()
    # The file that was modified first is read first.
    assert conversation_ids(engine) == ["late"] * 20 + ["early"] * 20
    assert {step.watermark for step in engine.steps} == {None}


def test_all_formats_and_codecs_of_batch_are_read(folder):
    from tests.core.files import samples

    rows = [{**row, "timestamp": NOON + n} for n, row in enumerate(samples.records(40))]
    (folder / "a.jsonl.gz").write_bytes(samples.COMPRESS[".gz"](samples.jsonl_bytes(rows[:10])))
    (folder / "b.avro").write_bytes(samples.avro_bytes(rows[10:20]))
    (folder / "c.parquet").write_bytes(samples.parquet_bytes(rows[20:30], group=7))
    (folder / "d.jsonl").write_bytes(samples.jsonl_bytes(rows[30:]))
    engine = Engine(folder, shard_bytes=3_000, now=2**42).run()
    assert sorted(engine.calls) == sorted((r["conversation_id"], r["timestamp"]) for r in rows)
    assert len(engine.steps) > 4  # a large file takes several steps
    assert engine.rejected == []


@pytest.mark.parametrize(
    "name", [".a.jsonl", "_a.jsonl", "a.jsonl.tmp", "a.PART", "a.jsonl.inprogress", "a~"]
)
def test_a_temporary_file_is_read_once_it_is_renamed(folder, name):
    growing = put(folder, name, record("a", NOON))
    engine = Engine(folder).run()
    assert engine.calls == []
    growing.write_text(lines(record("a", NOON), record("b", NOON)))
    growing.rename(folder / "whole.jsonl")
    assert conversation_ids(engine.run()) == ["a", "b"]


def test_a_file_written_in_place_is_read_once_it_has_settled(folder):
    put(folder, "a.jsonl", record("a", NOON), age_ms=200)
    engine = Engine(folder, settle_ms=1_000).run()
    assert engine.calls == []
    engine.now += 900
    assert conversation_ids(engine.run()) == ["a"]


def test_subfolders_and_empty_files_are_ignored(folder):
    (folder / "nested").mkdir()
    put(folder / "nested", "a.jsonl", record("a", NOON))
    (folder / "empty.jsonl").touch()
    engine = Engine(folder).run()
    assert engine.calls == engine.rejected == []


def test_a_record_without_timestamp_is_rejected(folder):
    without = {"conversation_id": "a", "iteration": 2}
    put(folder, "a.jsonl", record("a", NOON), without, record("b", NOON))
    engine = Engine(folder).run()
    assert conversation_ids(engine) == ["a", "b"]
    (row,) = engine.rejected
    assert (row.field, row.conversation_id, row.position) == ("timestamp", "a", "record 2")
    assert '"iteration":2' in row.payload
    assert engine.total("records") == 3


def test_a_folder_that_is_slow_to_list_is_listed_less_often(folder, monkeypatch):
    def list_slowly(*arguments):
        engine.now += 2_000
        return list_folder(*arguments)

    monkeypatch.setattr("goodgain.transforms.sources.folder_watch.list_folder", list_slowly)
    engine = Engine(folder)
    engine.run()
    put(folder, "a.jsonl", record("a", NOON))
    engine.now += 19_999
    assert engine.run().calls == []
    engine.now += 1
    assert conversation_ids(engine.run()) == ["a"]


def test_rejected_records_have_the_time_of_a_neighbouring_call(folder):
    engine = Engine(folder, now=NOON + 60 * MINUTE)
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


def test_wrong_times_are_clipped_to_the_watermark_and_the_clock_of_this_machine(folder):
    engine = Engine(folder, now=NOON + 20 * MINUTE)
    wrong = [NOON - 999 * MINUTE, NOON + 999 * MINUTE]
    for _ in range(2):
        name = f"{len(engine.steps)}.jsonl"
        put(folder, name, *minutes(20), *(record("wrong", at) for at in wrong), now=engine.now)
        engine.run()
        engine.now += MINUTE
    first, second = engine.steps
    assert first.calls_at[-2:] == [NOON - 999 * MINUTE, NOON + 20 * MINUTE]
    assert second.calls_at[-2:] == [NOON + 14 * MINUTE, NOON + 21 * MINUTE]


def test_silence_moves_the_watermark(folder):
    put(folder, "a.jsonl", *minutes(3))
    engine = Engine(folder).run()
    assert engine.watermark is None  # three records are too few
    engine.now += 10 * MINUTE
    assert engine.run().watermark == NOON + 32 * MINUTE
    engine.now += 9 * MINUTE
    assert engine.run().watermark == NOON + 32 * MINUTE
    engine.now += 31 * MINUTE
    assert engine.run().watermark == NOON + 72 * MINUTE


def test_silence_is_counted_from_the_last_file(folder):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder).run()
    engine.now += 9 * MINUTE
    put(folder, "b.jsonl", *minutes(1, NOON + 20 * MINUTE))
    engine.run()
    engine.now += 9 * MINUTE
    assert engine.run().watermark == NOON + 15 * MINUTE


def test_a_source_that_ends_when_silent_drains_up_to_its_watermark(folder):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder, ends_when_silent=True).run()
    assert not engine.has_ended
    engine.now += 10 * MINUTE
    engine.run()
    assert engine.has_ended
    assert len(engine.calls) == 20
    assert engine.end.is_due(engine.watermark)
    assert not engine.end.is_due(engine.watermark + 1)


def test_a_source_with_an_empty_folder_ends_when_silent(folder):
    engine = Engine(folder, ends_when_silent=True).run()
    engine.now += 10 * MINUTE
    engine.run()
    assert engine.has_ended
    assert engine.watermark is None
    assert not engine.end.is_due(-(10**14))


def test_a_stop_takes_no_new_file_and_drains_up_to_the_watermark(folder):
    put(folder, "a.jsonl", *minutes(20))
    engine = Engine(folder).run()
    put(folder, "b.jsonl", *minutes(20, NOON + 20 * MINUTE))
    engine.end.request_stop()
    engine.run()
    assert engine.has_ended
    assert len(engine.calls) == 20
    assert engine.end.is_due(NOON + 14 * MINUTE)
    assert not engine.end.is_due(NOON + 14 * MINUTE + 1)


def test_files_that_appear_together_are_read_in_one_step(folder):
    for number in range(30):
        put(folder, f"{number:02d}.jsonl", record(f"c{number}", NOON + number * MINUTE))
    engine = Engine(folder, now=NOON + 60 * MINUTE)
    engine.step()
    assert len(engine.calls) == 30
    assert engine.step() == 0  # the watermark moves
    assert engine.step() > 0


def test_files_changed_before_a_time_are_not_read(folder):
    put(folder, "old.jsonl", *minutes(20, NOON - 600 * MINUTE), age_ms=120 * MINUTE)
    put(folder, "new.jsonl", *minutes(20), age_ms=60 * MINUTE)
    engine = Engine(folder, since_ms=NOON - 60 * MINUTE).run()
    assert engine.calls == [("a", NOON + minute * MINUTE) for minute in range(20)]
    assert engine.watermark == NOON + 14 * MINUTE
    put(folder, "old.jsonl", record("b", NOON))  # it has changed since
    assert conversation_ids(engine.run())[20:] == ["b"]


def test_names_of_files_are_forgotten_when_the_files_are_gone(folder):
    put(folder, "a.jsonl", record("a", NOON))
    put(folder, "b.jsonl", record("b", NOON))
    engine = Engine(folder).run()
    (folder / "a.jsonl").unlink()
    engine.run()
    assert len(engine.progress.sizes) == 1
    put(folder, "a.jsonl", record("c", NOON))
    assert conversation_ids(engine.run()) == ["a", "b", "c"]


def test_names_of_files_are_kept_while_none_is_there(folder):
    """Another folder may be mounted in its place."""
    put(folder, "a.jsonl", record("a", NOON))
    engine = Engine(folder).run()
    away = folder.rename(folder.with_name("away"))
    folder.mkdir()
    engine.run()
    folder.rmdir()
    away.rename(folder)
    assert conversation_ids(engine.run()) == ["a"]


@pytest.mark.parametrize("steps", range(12))
def test_a_restored_checkpoint_loses_and_repeats_nothing(folder, steps):
    put(folder, "a.jsonl", *minutes(20))
    put(folder, "b.jsonl", *minutes(20, NOON + 20 * MINUTE, "b"))
    uninterrupted = Engine(folder, shard_bytes=500).run()
    engine = Engine(folder, shard_bytes=500)
    for _ in range(steps):
        engine.step()
    checkpoint = engine.checkpoint()
    for _ in range(3):
        engine.step()
    engine.restore(checkpoint)
    engine.run()
    assert engine.calls == uninterrupted.calls
    assert engine.watermark == uninterrupted.watermark
    assert engine.total("records") == 40


def test_a_step_cannot_be_split_and_the_rest_is_left_once():
    before, after = FolderProgress(portion=1), FolderProgress(portion=2)
    tracker = FolderTracker(before)
    with pytest.raises(ValueError, match="has not been ended"):
        tracker.check_done()
    assert tracker.try_claim(None)
    assert tracker.try_split(0) is None
    assert tracker.try_claim(after)
    assert tracker.try_split(0.5) is None
    assert tracker.try_split(0)[1] == after
    assert tracker.try_split(0) is None
    assert tracker.check_done()
    assert not tracker.is_bounded()


def test_a_step_is_not_begun_once_an_engine_has_taken_over_the_rest():
    tracker = FolderTracker(FolderProgress())
    assert tracker.try_split(0)[1] == FolderProgress()
    assert not tracker.try_claim(None)
    assert tracker.check_done()
