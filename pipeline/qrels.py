"""Finds files of judgments and labels, and checks judgments before a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from goodgain.pipeline.judgments import describe, shards_of_judgments
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.judgment import QrelsProblem
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.read import find_inputs

_CHECKED = 10_000  # judgments of each file, enough to notice a wrong format


def find_label_files(pattern: str, what: str, option: str) -> tuple[InputFile, ...]:
    """The files of judgments or labels that a path or pattern matches.

    Args:
      what: "judgments" or "labels", for messages.
      option: the option that named the pattern.

    Raises:
      UsageError: it matches none, or files cannot be listed.
    """
    try:
        return find_inputs([pattern])
    except UsageError as error:
        text = str(error).replace("Input", f"The file of {what}", 1)
        raise UsageError(f"{text.rstrip('.')} ({option}).") from None


def check_beginnings(files: Sequence[InputFile]) -> None:
    """Read the first judgments of each file, so that a wrong format is noticed before the run.

    Raises:
      UsageError: one of them cannot be used.
    """
    for number, file in enumerate(files):
        for shard in shards_of_judgments(file, open_plain)[:1]:
            for judgment in islice(read_qrels(shard, number, open_plain), _CHECKED):
                if isinstance(judgment, QrelsProblem):
                    raise UsageError(describe([judgment], files, open_plain))
