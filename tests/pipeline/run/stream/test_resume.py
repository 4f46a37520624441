"""What is read again after a restart, and which rows are already in files."""

import pytest
from msgspec.structs import asdict

from goodgain.pipeline.results import datasets as batch_datasets
from goodgain.pipeline.results.rows import iteration_rows, struct_row
from goodgain.pipeline.run.stream import datasets, sinks
from goodgain.pipeline.run.stream.checkpoint import read_progress, record_progress
from goodgain.pipeline.run.stream.datasets import StreamRows
from goodgain.pipeline.run.stream.panes import Pane
from goodgain.pipeline.run.stream.resume import (
    last_start,
    needed_span,
    oldest_needed,
    read_written,
    restart_plan,
)
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.streaming.journal import Journal, Move
from goodgain.transforms.core.streaming.watermark import WatermarkState
from tests.pipeline.run.stream.rows import MINUTE, NOON, score
from tests.pipeline.runs import names_in, plain_scoring

PLAN = plain_scoring().plan
ROWS = StreamRows(1)
LATE = LateRow("z", 1, 1, 0, None, NOON, 2)


def config(**options):
    spans = {"gap": "10m", "allowed_lateness": "20m", "window": "1h", "max_open": "2h"}
    return load_config(
        StreamConfig, {"input": "in", "output": "out", "out_of_orderness": "5m", **spans, **options}
    )


def journal(watermark):
    found = Journal()
    found.add(Move(WatermarkState(watermark)))
    return found


class TestRestartPlan:
    def test_without_progress_everything_is_read_again(self):
        horizon, complete_from = restart_plan(config(), journal(NOON), None)
        assert NOON - horizon < -(2**60)
        assert complete_from is None

    def test_records_of_open_windows_are_read_again(self):
        horizon, complete_from = restart_plan(config(), journal(NOON), NOON - 3 * MINUTE)
        # The last pane of a window is emitted 30 minutes after its end.
        over = NOON - 3 * MINUTE - 30 * MINUTE - 60 * MINUTE
        assert complete_from == over
        # Its conversations began up to two hours before it, plus the lateness of stragglers.
        assert NOON - horizon == over - 120 * MINUTE - 35 * MINUTE

    def test_progress_counts_only_up_to_the_watermark_of_the_journal(self):
        ahead = restart_plan(config(), journal(NOON), NOON + 99 * MINUTE)
        level = restart_plan(config(), journal(NOON), NOON)
        assert ahead == level

    @pytest.mark.parametrize("behind", [0, 3, 500])
    def test_the_journal_keeps_what_a_restart_would_read(self, tmp_path, behind):
        record_progress(tmp_path, NOON - behind * MINUTE)
        oldest = oldest_needed(tmp_path, needed_span(config()), NOON)
        horizon, _ = restart_plan(config(), journal(NOON), read_progress(tmp_path))
        assert oldest == NOON - horizon

    def test_it_keeps_all_while_nothing_is_known_to_be_safe(self, tmp_path):
        assert oldest_needed(tmp_path, needed_span(config()), NOON) is None


def put(folder, pane, dataset, rows):
    target = sinks.StreamTarget(str(folder), "avro", 1, pane.start, 60 * MINUTE, 10)
    sinks.write_pane(target, pane, dataset, rows)


@pytest.fixture
def written(tmp_path):
    """Two conversations; the process was killed before it wrote the row of the second."""
    for number, one in enumerate([score("a", NOON, NOON + MINUTE), score("b", NOON)]):
        pane = Pane(NOON, 0, 1, 1, number)
        put(tmp_path, pane, batch_datasets.iterations(PLAN), list(iteration_rows(one)))
        if number == 0:
            rows = list(ROWS.conversation(one))
            put(tmp_path, pane, datasets.conversations(PLAN), rows)
    put(tmp_path, Pane(NOON, 0, 1, 2, 0), batch_datasets.LATE, struct_row(LATE))
    (tmp_path / ".unfinished" / "late" / "part-torn").write_text("half of it")
    return tmp_path


class TestWrittenRows:
    def test_iterations_without_the_row_of_their_conversation_are_deleted(self, written):
        read_written(str(written), None)
        assert (
            len(names_in(written / "iterations")) == len(names_in(written / "conversations")) == 1
        )
        assert not (written / ".unfinished").exists()

    def test_other_rows_are_known_and_counted(self, written):
        written_rows, totals = read_written(str(written), None)
        assert (totals.conversations, totals.scored, totals.late, totals.records) == (1, 2, 1, 3)
        assert not written_rows.lacks(score("a", NOON, NOON + MINUTE))
        assert written_rows.lacks(score("b", NOON))
        assert not written_rows.lacks(LATE)

    def test_the_last_start_is_read_from_file_names(self, written):
        assert last_start(str(written)) == 2

    def test_an_empty_folder_has_no_rows_and_no_start(self, tmp_path):
        written_rows, totals = read_written(str(tmp_path), None)
        assert set(asdict(totals).values()) == {0}
        assert written_rows.lacks(LATE)
        assert last_start(str(tmp_path)) == 0
