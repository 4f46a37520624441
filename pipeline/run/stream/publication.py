"""Publishes files of a stream once the engine cannot forget any more that it has written them.

After a failure an engine that keeps checkpoints forgets what its steps did since the last one, and
repeats it, in other portions. Files of forgotten steps must not be seen: their rows are written
again. So a file is written to a hidden folder, and its path is kept in the state of the step that
wrote it. It is published when a checkpoint with that state is complete; if the step is forgotten,
so is the path, and the file stays hidden for ever.

Beam calls back when a bundle is final. On Flink this is at the end of a checkpoint, but also for
bundles that ended while the checkpoint was being made, and which it does not contain. So a file
takes two steps: the first call only moves it to another hidden folder, and a call for a later
bundle, which has found it there, belongs to the next checkpoint or a later one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import apache_beam as beam

from goodgain.pipeline.results.folder import UNFINISHED
from goodgain.transforms.filesystems import exists, join, make_folder, move

_CONFIRMED = "confirmed"


def hidden_path(folder: str, path: str, confirmed: bool = False) -> str:
    """Where a file is before it is published.

    Args:
      path: its final path, relative to the output folder.
      confirmed: whether a checkpoint has ended since it was written.
    """
    stage = (_CONFIRMED,) if confirmed else ()
    place: str = join(folder, UNFINISHED, *stage, *path.split("/"))
    return place


def next_move(folder: str, path: str) -> Callable[[], None] | None:
    """What moves a file when a checkpoint has ended; None once it is published.

    A file that its readers have removed counts as published.
    """
    confirmed = hidden_path(folder, path, confirmed=True)
    if exists(confirmed):
        return partial(_move, confirmed, join(folder, *path.split("/")))
    written = hidden_path(folder, path)
    return partial(_move, written, confirmed) if exists(written) else None


def _move(source: str, target: str) -> None:
    if exists(source):  # it may have been moved for another bundle
        make_folder(target.rpartition("/")[0])
        move(source, target)


@dataclass(eq=False, repr=False)
class Publish(beam.DoFn):
    """Takes each path once per bundle until it is published.

    Attributes:
      folder: the output folder.
    """

    folder: str

    def process(self, path: str, finalizer: Any = beam.DoFn.BundleFinalizerParam) -> None:
        """Move the file when this bundle is final."""
        moving = next_move(self.folder, path)
        if moving is not None:
            finalizer.register(moving)
