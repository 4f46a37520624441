"""CPU of a stream on Prism, fed at a constant rate, with that of Prism."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from goodgain.pipeline.cli.demo import Record, feed
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.bench.rows import Row
from tests.bench.runs import FEWEST
from tests.engines.processes import wait_until

RATE = 1_500  # results a second, one file each
_SAMPLE = SampleConfig(conversations=1_500, bad_share=0.0, conversations_per_hour=68_400)
_PATIENCE = 300


def stream_rows(folder: Path) -> Iterator[Row]:
    """CPU per result of a stream of a minute or more, without its start-up."""
    tiny = list(sample_records(SampleConfig(conversations=FEWEST, bad_share=0.0)))
    start = _cpu_of_stream(tiny, folder / "start")
    records = sorted(sample_records(_SAMPLE), key=lambda record: record["timestamp"])
    cpu = _cpu_of_stream(records, folder / "whole")
    results = _results(records)
    name = f"Prism, stream of {results:,} results, {RATE:,} a second"
    yield Row(f"{name}: CPU a result", (cpu - start) / results * 1e6, "us", "150 or less")


def _cpu_of_stream(records: list[Record], folder: Path) -> float:
    """Seconds of CPU from start to the last conversation's row, of all processes."""
    incoming, output = folder / "incoming", folder / "out"
    incoming.mkdir(parents=True)
    command = [sys.executable, "-m", "goodgain", "stream"]
    options = [f"--input={incoming}", f"--output={output}", "--gap=2m", "--idle=5s"]
    with (folder / "log").open("wb") as log:
        stream = subprocess.Popen([*command, *options], stdout=log, stderr=log)
        started = time.monotonic()
        number = count(1)
        feed(
            incoming,
            _files(records),
            lambda: time.sleep(max(0.0, started + next(number) - time.monotonic())),
        )
        expected = {record["conversation_id"] for record in records}
        wait_until(
            lambda: _closed_conversations(output) >= expected,
            _PATIENCE,
            f"all rows; read {log.name}",
        )
        stream.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(stream.pid, 0)  # Prism, which it waits for, is in it
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"the stream failed; read {log.name}")
    return usage.ru_utime + usage.ru_stime


def _files(records: list[Record]) -> Iterator[list[Record]]:
    """The records in files of at most `RATE` results."""
    file: list[Record] = []
    results = 0
    for record in records:
        results += len(record["results"])
        if file and results > RATE:
            yield file
            file, results = [], len(record["results"])
        file.append(record)
    yield file


def _results(records: list[Record]) -> int:
    return sum(len(record["results"]) for record in records)


def _closed_conversations(output: Path) -> set[str]:
    if not (output / "conversations").is_dir():
        return set()
    return {row["conversation_id"] for row in read_dataset(str(output), "conversations")}
