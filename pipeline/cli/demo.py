"""Streams hours of made-up conversations in a minute; `make stream-demo` calls it."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import sleep
from typing import Any

import msgspec

from goodgain.pipeline.document.console import message_console
from goodgain.pipeline.results.atomic_files import write_whole
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.sample_config import SampleConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import GoodGainError

SPEED = 300  # seconds of event time per second
_SECONDS_A_FILE = 1.0
_SAMPLE = SampleConfig(seed=7, conversations=600, results=10, conversations_per_hour=150)
_OPTIONS = {
    "window": "1h",
    "idle": "4s",
    "flush": "2s",
    "poll": "500ms",
    "slice": "arm",
    "live": True,
}
Record = dict[str, Any]


def files_in_time(records: Sequence[Record], span: int) -> Iterator[list[Record]]:
    """The records sorted by timestamp, as one list for each `span` ms.

    A record without a usable timestamp stays with the record before it.
    """
    stamped: list[tuple[int, Record]] = []
    latest = 0
    for record in records:
        timestamp = record.get("timestamp")
        latest = timestamp if isinstance(timestamp, int) else latest
        stamped.append((latest, record))
    stamped.sort(key=itemgetter(0))
    for _, group in groupby(stamped, lambda timed: timed[0] // span):
        yield [record for _, record in group]


def feed(folder: Path, files: Iterator[list[Record]], wait: Callable[[], None]) -> None:
    """Write each list as a JSON Lines file, under a name that is ignored until it is complete."""
    encode = msgspec.json.Encoder().encode
    for number, records in enumerate(files):
        content = b"".join(encode(record) + b"\n" for record in records)
        write_whole(folder / f"{number:05d}.jsonl", content)
        wait()


def main(folder: Path) -> int:
    """Write the files and stream them; returns the stream's exit code."""
    incoming = folder / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    config = load_config(
        StreamConfig, {"input": str(incoming), "output": str(folder / "out"), **_OPTIONS}
    )
    files = files_in_time(list(sample_records(_SAMPLE)), int(SPEED * _SECONDS_A_FILE * 1_000))
    feeder = threading.Thread(
        target=feed, args=(incoming, files, lambda: sleep(_SECONDS_A_FILE)), daemon=True
    )
    feeder.start()
    # On import Beam warns about optional libraries, which is noise in a demo.
    logging.getLogger().setLevel(logging.ERROR)
    from goodgain.pipeline.run.stream.run import stream
    from goodgain.pipeline.views.stream import print_summary
    from goodgain.pipeline.views.stream_progress import show_progress

    return stream(
        config, sys.argv[2:], ends_when_silent=True, show=print_summary, watch=show_progress
    )


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except GoodGainError as error:
        message_console().print(f"goodgain: {error}", soft_wrap=True)
        sys.exit(1)
