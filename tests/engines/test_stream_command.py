"""`goodgain stream` on Prism writes the rows of batch, also when it starts over."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter

import pytest

from goodgain.pipeline.cli.demo import feed, files_in_time
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.folder import ENGINE_LOG
from goodgain.pipeline.run.stream.latest_panes import read_latest_means
from goodgain.pipeline.run.stream.panes import pane_of
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.settings.option_types import parse_instant
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.engines.processes import port_answers, wait_until
from tests.engines.stream_rows import assert_last_live_rows_equal_batch
from tests.pipeline.runs import main, rows, run

pytestmark = [pytest.mark.engines, pytest.mark.usefixtures("prism")]

HOUR = 3_600_000
# Between three and four hours of conversations, in windows of 20 minutes.
SAMPLE = SampleConfig(
    seed=11, conversations=90, results=6, bad_share=0.01, conversations_per_hour=25
)
# Long enough to cut no conversation in two.
OPTIONS = (
    *("--gap=6m", "--allowed-lateness=4m", "--out-of-orderness=1m", "--max-open=30m"),
    *("--window=20m", "--idle=1s", "--flush=300ms", "--poll=50ms", "--slice=arm", "--live"),
    "--cost=milliseconds,tokens,usd",  # batch finds the names of costs itself
)
WINDOW = HOUR // 3


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A folder of files, each with ten minutes of records and last changed at their end."""
    folder = tmp_path_factory.mktemp("sample")
    records = list(sample_records(SAMPLE))
    feed(folder, files_in_time(records, HOUR // 6), lambda: None)
    for path, content in zip(
        sorted(folder.iterdir()), files_in_time(records, HOUR // 6), strict=True
    ):
        times = [
            record["timestamp"] for record in content if isinstance(record.get("timestamp"), int)
        ]
        os.utime(path, (max(times) / 1_000, max(times) / 1_000))
    return folder


@pytest.fixture(scope="module")
def batch(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("batch") / "out"
    assert run(folder, [sample / "*.jsonl"], "--slice", "arm", "--max-rejected", "100%") == 0
    return folder


class Stream:
    """A stream whose files arrive in its folder one after the other.

    Attributes:
      output: the folder to which it writes.
    """

    def __init__(self, sample, folder):
        self.output = folder / "out"
        self._waiting = folder / "waiting"
        self._incoming = folder / "incoming"
        shutil.copytree(sample, self._waiting)
        self._incoming.mkdir()

    def start(self, *words):
        """Start it, and return its exit code and its output at its end, as one line."""
        module = "tests.engines.programs.stream_command"
        paths = [f"--input={self._incoming}", f"--output={self.output}"]
        done = subprocess.run(
            [sys.executable, "-m", module, self._waiting, *words, *paths, *OPTIONS],
            capture_output=True,
            text=True,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.fixture
def stream(sample, tmp_path):
    return Stream(sample, tmp_path)


def by_key(found, *columns):
    return sorted(found, key=lambda row: [str(row[column]) for column in columns])


def assert_equals_batch(output, batch):
    """Check that each row of batch occurs once, and no other row."""
    assert_rows_equal_batch(output, batch)
    assert_last_live_rows_equal_batch(output, batch)


def assert_rows_equal_batch(output, batch):
    for dataset in ("conversations", "iterations", "rejected"):
        columns = {
            "conversations": ["conversation_id"],
            "iterations": ["conversation_id", "i"],
            "rejected": ["conversation_id", "position"],
        }[dataset]
        expected = by_key(rows(batch, dataset), *columns)
        found = by_key(rows(output, dataset), *columns)
        for row in [*expected, *found]:
            row.pop("scored", None)
            row.pop("earlier_turn", None)
            row.pop("source", None)  # another folder
        assert found == expected, dataset
    assert rows(output, "late") == []


def means_at_end(output):
    """The latest mean of each window over all conversations, by window and metric."""
    return {
        (row["window_start"], row["metric"]): (row["n"], row["mean"])
        for row in read_latest_means(str(output))
        if not row["slice"] and row["i"] is None and row["population"] == "all"
    }


def expected_means(batch):
    """The count and mean of CG over the conversations of each window, from their rows."""
    windows = {}
    for row in rows(batch, "conversations"):
        if row["N"] and not row["rejected_records"]:
            windows.setdefault(row["last_timestamp"] // WINDOW * WINDOW, []).append(row["CG"])
    return {
        (window, "CG"): (len(values), pytest.approx(sum(values) / len(values), rel=1e-12))
        for window, values in windows.items()
    }


def assert_means_are_complete(output, batch):
    """Check that each window with a pane has the mean over all of its conversations."""
    found = {key: mean for key, mean in means_at_end(output).items() if key[1] == "CG"}
    expected = expected_means(batch)
    assert len(found) > 5
    assert all(earlier in found for earlier in expected if earlier < max(found))
    assert found == {key: expected[key] for key in found}


def test_a_stream_writes_the_rows_of_batch(stream, batch):
    code, printed = stream.start()
    assert code == 0, printed
    assert_equals_batch(stream.output, batch)
    assert_means_are_complete(stream.output, batch)
    assert "0 late + 0 still open." in printed


def test_a_stream_with_a_pool_writes_the_rows_of_batch(sample, stream, tmp_path):
    """Live rows are provisional with a pool, so only the rows of closed conversations agree."""
    pool = str(tmp_path / "pool")
    runs = [f"{name}={sample / pattern}" for name, pattern in (("A", "*.jsonl"), ("B", "*1.jsonl"))]
    built = ["pool", "build", "--run", runs[0], "--run", runs[1], "--output", pool]
    assert main(built) in (ExitCode.DONE, ExitCode.DATA_QUALITY)
    options = ("--pool", pool, "--run-name", "A")
    batch = tmp_path / "batch"
    assert run(batch, [sample / "*.jsonl"], "--max-rejected=100%", *options) == ExitCode.DONE
    code, printed = stream.start(*options)
    assert code == 0, printed
    assert_rows_equal_batch(stream.output, batch)
    found = rows(stream.output, "conversations")
    assert any(row["pool_recall"] for row in found)
    assert any(row["pool_found"] for row in found)


@pytest.mark.parametrize("moment", [("read", 8), ("aside", 9), ("written", 12)])
def test_a_killed_stream_starts_over(stream, batch, moment):
    code, printed = stream.start("--signal", "KILL", *map(str, moment))
    assert code == -signal.SIGKILL, printed
    code, printed = stream.start()
    assert code == 1
    assert "is not empty" in printed
    code, printed = stream.start("--overwrite")
    assert code == 0, printed
    assert_equals_batch(stream.output, batch)
    assert_means_are_complete(stream.output, batch)


def test_a_short_job_server_timeout_ends_the_stream(stream):
    """Beam's client applies this timeout to the whole job, so the table of runners raises it."""
    code, printed = stream.start("--job_server_timeout=3")
    assert code == 1, printed
    assert "start it over with --overwrite" in printed
    assert "DEADLINE_EXCEEDED" in (stream.output / ENGINE_LOG).read_text()


def test_a_stopped_stream_goes_on_from_a_window(stream, batch):
    """Files from which no row of a later window can come are not read again."""
    code, printed = stream.start("--signal", "INT", "read", "16")
    assert code == 0, printed
    closed = Counter(
        row["conversation_id"] for row in read_dataset(str(stream.output), "conversations")
    )
    assert len(closed) < len(rows(batch, "conversations"))
    words = re.search(r"add (--since \S+ --overwrite)\.", printed)[1].split()
    window = parse_instant(words[1])
    earlier = {
        path: path.read_bytes()
        for path in stream.output.glob("*/part-*")
        if pane_of(path.name).window < window
    }
    assert len({pane_of(path.name).window for path in earlier}) > 2
    kept = {key: mean for key, mean in means_at_end(stream.output).items() if key[0] < window}
    assert len({start for start, _ in kept}) > 2
    first_read = int(re.search(r"Records: ([\d,]+) read", printed)[1].replace(",", ""))
    code, printed = stream.start(*words)
    assert code == 0, printed
    assert_equals_batch(stream.output, batch)
    assert_means_are_complete(stream.output, batch)
    assert {path: path.read_bytes() for path in earlier} == earlier
    assert kept.items() <= means_at_end(stream.output).items()
    read, skipped = re.search(
        r"([\d,]+) read .* ([\d,]+) of windows before --since", printed
    ).groups()
    total = sum(row["calls"] for row in rows(batch, "conversations"))
    assert int(read.replace(",", "")) < total
    assert 0 < int(skipped.replace(",", "")) < first_read


def call(conversation_id, iteration, seconds, **more):
    timestamp = 1_740_916_800_000 + 1_000 * seconds
    record = {"conversation_id": conversation_id, "iteration": iteration, "timestamp": timestamp}
    return {**record, "results": [{"id": f"{conversation_id} {iteration}", "gain": 3}], **more}


def run_stream(files, folder):
    """Run a stream over files with these lists of records."""
    source = folder / "files"
    source.mkdir()
    feed(source, iter(files), lambda: None)
    stream = Stream(source, folder)
    code, printed = stream.start()
    assert code == 0, printed
    return stream


def test_a_record_in_time_counts_after_a_final_one(tmp_path):
    # By itself, Prism would hold it back until the timer of the final record has fired.
    files = (
        [call("c", 1, 0, is_final=True), *(call(f"a{n}", 1, n) for n in range(16))],
        [call("c", 2, 2), *(call(f"b{n}", 1, 3 + n) for n in range(16))],
        [call(f"d{n}", 1, 60 * n) for n in range(16)],
    )
    stream = run_stream(files, tmp_path)
    found = {row["conversation_id"]: row["N"] for row in rows(stream.output, "conversations")}
    assert found["c"] == 2
    assert rows(stream.output, "late") == []


def test_a_rejected_record_does_not_close_its_conversation_before_later_records(tmp_path):
    # When it is read, the watermark is three hours before the other records of its file.
    broken = {"conversation_id": "c", "iteration": 0}
    hour = 3_600
    files = (
        [call(f"a{n}", 1, n) for n in range(16)],
        [broken, *(call(f"b{n}", 1, 3 * hour + n) for n in range(16))],
        [call("c", 1, 3 * hour + 20), *(call(f"d{n}", 1, 3 * hour + 300) for n in range(16))],
    )
    stream = run_stream(files, tmp_path)
    (row,) = (row for row in rows(stream.output, "conversations") if row["conversation_id"] == "c")
    assert (row["N"], row["rejected_records"]) == (1, 1)
    assert rows(stream.output, "late") == []


def test_prism_ends_with_the_process_that_started_it(stream):
    code, printed = stream.start("--signal", "KILL", "read", "3")
    assert code == -signal.SIGKILL, printed
    log = (stream.output / ENGINE_LOG).read_text()
    port = int(re.search(r"'--job_port', '(\d+)'", log)[1])
    wait_until(lambda: not port_answers(port), 30, "the end of Prism")
