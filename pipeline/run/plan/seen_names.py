"""Looks at the beginning of the input before it is read, for the names in its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from msgspec.structs import replace

from goodgain.transforms.core.files.first_records import first_records
from goodgain.transforms.core.files.shard import InputFile, plan_shards
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.warnings.field_names import SeenNames, names_in

_MOST_FILES = 1_000  # if there are more, evenly spaced ones


def find_names(
    files: Sequence[InputFile],
    open_file: Callable[[str], BinaryIO],
    adaptation: Adaptation | None = None,
) -> SeenNames:
    """The names in the first records of files.

    Args:
      files: the input; if there are more than 1,000 files, a sample that includes the first and the
        last.
      adaptation: applied to the records first, so that renamed fields are seen under their new
        names.
    """
    if len(files) > _MOST_FILES:
        step = (len(files) - 1) / (_MOST_FILES - 1)
        files = [files[round(step * number)] for number in range(_MOST_FILES)]
    records: list[Any] = []
    for file in files:
        # Empty files are left out, and pipes, which cannot be read twice.
        with suppress(OSError):  # reading the file will reject it
            if file.size:
                with open_file(file.path) as opened:
                    for shard in plan_shards(opened, file.path, file.size)[:1]:
                        records += first_records(opened, shard)
    return seen_names(records, adaptation)


def seen_names(records: Sequence[Any], adaptation: Adaptation | None = None) -> SeenNames:
    """The names in raw records, after `adaptation`."""
    if adaptation is None:
        return names_in(records)
    seen = names_in(map(adaptation.applied, records))
    missing = adaptation.without_source(records) if records else ()
    return replace(seen, without_source=tuple(missing))
