"""Where a stream writes, and the files of its panes."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from msgspec import Struct

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.datasets import Dataset
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.run.stream.counter import StreamCounter
from goodgain.pipeline.run.stream.panes import Pane
from goodgain.pipeline.run.stream.publication import hidden_path
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.filesystems import create, join, make_folder, move

_ATTEMPT_BYTES = 4


class StreamTarget(Struct, frozen=True):
    """Where and how to write.

    Attributes:
      window: length in ms of the windows of event time that share files.
      flush: longest time in ms that a row waits before it is written.
      counter: counts the rows in files; None if the workers are other processes.
      at_once: whether files are published when they are written, since the engine never repeats a
        step; otherwise see `publication`.
    """

    folder: str
    format: Format
    shards: int
    window: int
    flush: int
    counter: StreamCounter | None = None
    at_once: bool = True


def draw_attempt() -> str:
    """A name for an attempt to write panes, which no other attempt has."""
    return secrets.token_hex(_ATTEMPT_BYTES)


def write_pane(target: StreamTarget, pane: Pane, dataset: Dataset, rows: Sequence[Row]) -> str:
    """Write rows as one file; if they are published at once, it appears when it is complete.

    Returns:
      Its final path, relative to the output folder.

    Raises:
      OSError: it cannot be written.
    """
    file_format = FORMATS[target.format]
    path = f"{dataset.name}/{pane.file_name(file_format.suffix)}"
    hidden = hidden_path(target.folder, path)
    make_folder(hidden.rpartition("/")[0])
    with create(hidden) as file:
        file_format.write(dataset, rows, file)
    if target.at_once:
        make_folder(join(target.folder, dataset.name))
        move(hidden, join(target.folder, *path.split("/")))
    return path
