"""Every row of a stream is written once, at any watermark, and files never change."""

from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.runners.direct.direct_runner import BundleBasedDirectRunner
from apache_beam.testing import test_stream
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.rows import LATE
from goodgain.pipeline.run.stream import sinks
from goodgain.pipeline.run.stream.pane_files import StreamTarget
from goodgain.pipeline.run.stream.panes import pane_of
from goodgain.pipeline.run.stream.sinks import WritePanes
from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.scoring.score_rows import LateRow
from tests.pipeline.run.stream.rows import MINUTE, NOON

DAY = 1440 * MINUTE
_BEGINNING = Timestamp(0)  # the clock of this runner, which moves only when a test advances it


def row(conversation_id, minute=0):
    return LateRow(conversation_id, 1, 1, 0, None, NOON + minute * MINUTE, 1)


def add_rows(stream, *rows):
    return stream.add_elements(
        [TimestampedValue(row, Timestamp(micros=row.timestamp * 1_000)) for row in rows]
    )


def stream():
    # Prism is more realistic, but only this runner lets a test set both clocks.
    return test_stream.TestStream(coder=StructCoder(LateRow))


def write(folder, script, time_of=None, **target):
    defaults = {"format": "avro", "shards": 1, "window": DAY, "flush": 10_000}
    sink = StreamTarget(folder=str(folder), **(defaults | target))
    options = PipelineOptions([])
    options.view_as(StandardOptions).streaming = True
    with beam.Pipeline(runner=BundleBasedDirectRunner(), options=options) as pipeline:
        _ = pipeline | script | WritePanes(sink, LATE, time_of, now=lambda: _BEGINNING)


def ids_by_pane(folder):
    found = {}
    for path in sorted(Path(folder, "late").iterdir()):
        pane = pane_of(path.name)
        with path.open("rb") as file:
            rows = FORMATS[path.suffix.removeprefix(".")].read(file)
            found[pane.window, pane.number] = [row["conversation_id"] for row in rows]
    return found


def test_rows_are_written_in_numbered_panes_when_the_clock_reaches_the_flush(tmp_path):
    script = add_rows(stream(), row("b"), row("a")).advance_processing_time(11)
    script = add_rows(script, row("c")).advance_processing_time(11)
    write(tmp_path, script.advance_watermark_to_infinity())
    today = NOON // DAY * DAY
    assert ids_by_pane(tmp_path) == {(today, 0): ["a", "b"], (today, 1): ["c"]}


def test_rows_behind_the_watermark_are_written_too(tmp_path):
    script = stream().advance_watermark_to(Timestamp(micros=(NOON + 30 * DAY) * 1_000))
    script = add_rows(script, row("a"), row("b", -40 * 1440)).advance_processing_time(11)
    script = add_rows(script, row("c", -2 * 1440)).advance_processing_time(11)
    write(tmp_path, script.advance_watermark_to_infinity())
    today = NOON // DAY * DAY
    assert ids_by_pane(tmp_path) == {
        (today, 0): ["a"],
        (today - 40 * DAY, 0): ["b"],
        (today - 2 * DAY, 1): ["c"],
    }


def test_rows_may_belong_to_an_earlier_window_than_that_of_their_timestamp(tmp_path):
    script = add_rows(stream(), row("a"), row("b", 1440)).advance_watermark_to_infinity()
    write(tmp_path, script, lambda row: row.timestamp - DAY)
    today = NOON // DAY * DAY
    assert ids_by_pane(tmp_path) == {(today - DAY, 0): ["a"], (today, 0): ["b"]}


def test_rows_are_written_at_the_end_of_the_stream_without_waiting(tmp_path):
    write(tmp_path, add_rows(stream(), row("a")).advance_watermark_to_infinity())
    assert list(ids_by_pane(tmp_path).values()) == [["a"]]


def test_many_rows_are_written_before_the_flush(tmp_path, monkeypatch):
    monkeypatch.setattr(sinks, "_MOST_BYTES", 60)
    script = stream()
    for number in range(9):
        script = add_rows(script, row(f"{number}"))
    write(tmp_path, script.advance_watermark_to_infinity())
    panes = ids_by_pane(tmp_path)
    assert len(panes) > 1
    assert sorted(id_ for ids in panes.values() for id_ in ids) == [f"{n}" for n in range(9)]


@pytest.mark.parametrize("format", FORMATS)
def test_sharded_files_of_each_format_have_all_rows(tmp_path, format):
    rows = [row(f"c{number}", number) for number in range(40)]
    write(
        tmp_path,
        add_rows(stream(), *rows).advance_watermark_to_infinity(),
        format=format,
        shards=3,
    )
    names = [path.name for path in Path(tmp_path, "late").iterdir()]
    assert {pane_of(name).shard for name in names} == {0, 1, 2}
    found = {
        row["conversation_id"]: row["timestamp"] for row in read_dataset(str(tmp_path), "late")
    }
    assert found == {row.conversation_id: row.timestamp for row in rows}


def test_an_unwritable_output_folder_ends_the_stream_with_a_message(tmp_path):
    (tmp_path / "late").write_text("in the way")
    with pytest.raises(GoodGainError, match=r"The output folder .* cannot be written to \("):
        write(tmp_path, add_rows(stream(), row("a")).advance_watermark_to_infinity())
