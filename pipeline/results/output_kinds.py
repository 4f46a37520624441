"""What a folder of outputs holds, by the names of its files: a run, a comparison or a stream."""

from __future__ import annotations

import re

from msgspec import Struct

from goodgain.pipeline.results.atomic_files import UNFINISHED_SUFFIX
from goodgain.pipeline.results.datasets import (
    COMPARISON_DATASETS,
    RUN_DATASETS,
    STREAM_DATASETS,
)
from goodgain.pipeline.results.folder import ENGINE_LOG, MANIFEST, MEANS_CSV, REPORT, UNFINISHED
from goodgain.pipeline.results.formats import FORMATS

_SUFFIXES = "|".join(re.escape(file_format.suffix) for file_format in FORMATS.values())


class OutputKind(Struct, frozen=True):
    """What wrote a folder of outputs; `--overwrite` replaces only outputs of the same kind.

    Attributes:
      name: in messages, like "a run".
      datasets: the folders of its datasets.
      part: pattern of the names of their files, without the suffix.
      single: its other files.
    """

    name: str
    datasets: tuple[str, ...]
    part: str
    single: tuple[str, ...]

    def wrote(self, path: str) -> bool:
        """Whether it writes a file of this path within the folder, finished or not."""
        single = f"(?:{'|'.join(map(re.escape, self.single))})"
        pattern = (
            rf"(?:{'|'.join(self.datasets)})/{self.part}(?:{_SUFFIXES})"
            rf"|{single}|\.{single}{re.escape(UNFINISHED_SUFFIX)}"
            rf"|{re.escape(UNFINISHED)}/.+"
        )
        return re.fullmatch(pattern, path) is not None


RUN_OUTPUTS = OutputKind(
    "a run",
    RUN_DATASETS,
    "part-[0-9]+-of-[0-9]+",
    (MANIFEST, REPORT, MEANS_CSV),
)
COMPARISON_OUTPUTS = OutputKind(
    "a comparison",
    COMPARISON_DATASETS,
    "part-[0-9]+-of-[0-9]+",
    (MANIFEST, REPORT),
)
STREAM_OUTPUTS = OutputKind(
    "a stream",
    STREAM_DATASETS,
    r"part-[^/]+-pane-[^/.]+",
    (ENGINE_LOG,),
)
_KINDS = (RUN_OUTPUTS, COMPARISON_OUTPUTS, STREAM_OUTPUTS)


def kind_of(path: str) -> OutputKind | None:
    """The kind that writes a file of this path; None if none does."""
    return next((kind for kind in _KINDS if kind.wrote(path)), None)
