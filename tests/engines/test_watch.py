"""A watched folder on Prism loses and repeats nothing, even if it is killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import msgspec
import pytest

from goodgain.transforms.sources.journal_file import read_journal
from tests.core.direct import score
from tests.engines.processes import wait_until
from tests.engines.programs.watched import OTHER

MINUTE = 60_000
START = 1_740_000_000_000
CONVERSATIONS = 40
SLICE = 20 * MINUTE
SECONDS = 120

pytestmark = pytest.mark.engines


def record(conversation: int, iteration: int) -> dict:
    """A search call; conversations start every 3 minutes and search every 4."""
    results = [
        {"title": f"document {(conversation + rank * iteration) % 7} of some length", "gain": rank}
        for rank in range(5)
    ]
    return {
        "conversation_id": f"c{conversation:02d}",
        "iteration": iteration,
        "timestamp": START + (3 * conversation + 4 * iteration) * MINUTE,
        "results": results,
    }


RECORDS = [
    record(number, iteration) for number in range(CONVERSATIONS) for iteration in range(1, 6)
]
# An hour later, so that all others close; they are many enough to move the watermark there.
END = [
    {"conversation_id": "end", "iteration": step + 1, "timestamp": RECORDS[-1]["timestamp"] + at}
    for step, at in enumerate(range(60 * MINUTE, 78 * MINUTE, MINUTE))
]


def slices() -> list[list[dict]]:
    """The records in slices by time, each in reverse order, and END."""
    by_slice: dict[int, list[dict]] = {}
    for one in RECORDS:
        by_slice.setdefault((one["timestamp"] - START) // SLICE, []).insert(0, one)
    return [*(by_slice[at] for at in sorted(by_slice)), END]


def deliver(folder: Path, name: str, records: list[dict]) -> None:
    """Write a file like a producer: under a temporary name, then renamed."""
    temporary = folder / f".{name}"
    temporary.write_text("".join(json.dumps(one) + "\n" for one in records))
    temporary.rename(folder / name)


class Stream:
    """The program `watched` with its folders; it can be started several times."""

    def __init__(self, prism: Path, folder: Path) -> None:
        self.input, self.journal, self.output = (
            folder / name for name in ("input", "journal", "output")
        )
        for path in (self.input, self.output):
            path.mkdir()
        self._log = folder / "log"
        options = ["--runner=PrismRunner", f"--prism_location={prism}", "--streaming"]
        safe = "--experiments=prism_disable_sdf_split"
        paths = [f"--{name}={folder / name}" for name in ("input", "journal", "output")]
        module = "tests.engines.programs.watched"
        self._command = [sys.executable, "-m", module, *paths, *options, safe]

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen]:
        with (
            self._log.open("ab") as log,
            subprocess.Popen(
                self._command, stdout=log, stderr=log, start_new_session=True
            ) as process,
        ):
            try:
                yield process
            finally:
                # Together with the engine, which the program has started.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def files_read(self) -> int:
        """The number of files that were read to their end."""
        return len(read_journal(str(self.journal)).readings)

    def files_taken(self) -> int:
        """The number of files that were taken."""
        return read_journal(str(self.journal)).totals().files

    def has_reached(self, files: int, end: str | None) -> bool:
        """Whether this number of files was taken, if `end` is `taken`, or else read to its end."""
        return (self.files_taken() if end == "taken" else self.files_read()) == files

    def rows(self) -> dict[str, dict]:
        return {
            path.name: json.loads(path.read_text())
            for path in self.output.glob("c*")
            if not path.suffix
        }


def expected() -> dict[str, dict]:
    """The rows of batch."""
    return {
        name: json.loads(msgspec.json.encode(one.conversation, enc_hook=int))
        for name, one in score(RECORDS).items()
    }


@pytest.fixture
def stream(prism: Path, tmp_path: Path) -> Stream:
    return Stream(prism, tmp_path)


def test_rows_equal_batch_despite_kills_and_a_stop(stream: Stream) -> None:
    files = slices()
    # Killed once file 2 is taken and once file 4 is read, and stopped after file 6.
    ends = {2: "taken", 4: "read", 6: "stop"}
    number = 0
    while number < len(files):
        with stream.running() as process:
            while number < len(files):
                end = ends.get(number)
                deliver(stream.input, f"{number}.jsonl", files[number])
                number += 1
                is_done = partial(stream.has_reached, number, end)
                wait_until(is_done, SECONDS, f"file {number}")
                if end == "stop":
                    process.terminate()
                    assert process.wait(SECONDS) == 0
                if end is not None:
                    break
            else:
                wait_until(lambda: len(stream.rows()) == CONVERSATIONS, SECONDS, "all rows")
    assert stream.rows() == expected()
    assert not list(stream.output.glob(f"*{OTHER}"))
    assert not (stream.output / "late").exists()
    assert not (stream.output / "end").exists()
    totals = read_journal(str(stream.journal)).totals()
    assert (totals.files, totals.records) == (len(files), len(RECORDS) + len(END))
