"""Compares the outputs of a stream with those of batch for the same files."""

from pathlib import Path
from typing import Any

import pytest

from goodgain.pipeline.cli.demo import feed, files_in_time
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.run.stream.latest_panes import read_latest_means
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.pipeline.runs import rows, run

HOUR = 3_600_000
# Three hours of conversations, in windows of 20 minutes.
SAMPLE = SampleConfig(
    seed=11, conversations=80, results=6, bad_share=0.01, conversations_per_hour=25
)
WINDOW = HOUR // 3
# Idle for longer than a checkpoint takes on a busy machine, or records would be late.
OPTIONS = (
    *("--gap=6m", "--allowed-lateness=4m", "--out-of-orderness=1m", "--max-open=2h"),
    *("--window=20m", "--idle=30s", "--flush=1s", "--poll=200ms", "--slice=arm", "--live"),
    "--cost=milliseconds,tokens,usd",  # found by batch only
)
_KEYS = {
    "conversations": ("conversation_id",),
    "iterations": ("conversation_id", "i"),
    "rejected": ("conversation_id", "position"),
}
# Columns that batch lacks or fills differently.
_OTHER = ("scored", "earlier_turn", "source")

Row = dict[str, Any]


def feed_files(folder: Path) -> None:
    """Write the sample as files of ten minutes each."""
    feed(folder, files_in_time(list(sample_records(SAMPLE)), HOUR // 6), lambda: None)


def batch_of(folder: Path, output: Path) -> Path:
    """Run batch over the files in a folder, and return its output folder."""
    code = run(output, [folder / "*.jsonl"], "--slice", "arm", "--max-rejected", "100%")
    assert code == ExitCode.DONE
    return output


def conversations_in(output: Path) -> set[str]:
    """The conversations that have a row."""
    return {row["conversation_id"] for row in read_dataset(str(output), "conversations")}


def assert_equals_batch(output: Path, batch: Path) -> None:
    """Compare with the rows of batch: each occurs once, and no other."""
    for dataset, columns in _KEYS.items():
        expected, found = (_by_key(rows(folder, dataset), columns) for folder in (batch, output))
        assert found == expected, dataset
        assert len(rows(output, dataset)) == len(rows(batch, dataset)), dataset
    assert rows(output, "late") == []


def _by_key(found: list[Row], columns: tuple[str, ...]) -> dict[tuple[Any, ...], list[Row]]:
    """The distinct rows of each key."""
    distinct: dict[tuple[Any, ...], list[Row]] = {}
    for row in found:
        own = {name: value for name, value in row.items() if name not in _OTHER}
        of_key = distinct.setdefault(tuple(row[column] for column in columns), [])
        if own not in of_key:
            of_key.append(own)
    return distinct


def assert_last_live_rows_equal_batch(output: Path, batch: Path) -> None:
    """The last revision of each iteration, unless it was withdrawn, is the row of batch."""
    last: dict[tuple[Any, ...], Row] = {}
    for row in sorted(rows(output, "live"), key=lambda row: row["revision"]):
        last[row["conversation_id"], row["turn"], row["i"]] = row
    extra = ("revision", "is_final", "withdrawn")
    found = [
        {name: value for name, value in row.items() if name not in extra}
        for row in last.values()
        if not row["withdrawn"]
    ]
    columns = _KEYS["iterations"]
    assert _by_key(found, columns) == _by_key(rows(batch, "iterations"), columns)


def assert_means_equal_batch(output: Path, batch: Path) -> None:
    """Every emitted window has the means over all of its conversations, each counted once."""
    windows: dict[int, list[float]] = {}
    for row in rows(batch, "conversations"):
        if row["N"] and not row["rejected_records"]:
            windows.setdefault(row["last_timestamp"] // WINDOW * WINDOW, []).append(row["CG"])
    found = {
        row["window_start"]: (row["n"], row["mean"])
        for row in read_latest_means(str(output))
        if not row["slice"] and (row["metric"], row["i"], row["population"]) == ("CG", None, "all")
    }
    assert len(found) > len(windows) // 2
    expected = {window: windows[window] for window in found}
    assert found == {
        window: (len(values), pytest.approx(sum(values) / len(values), rel=1e-12))
        for window, values in expected.items()
    }
