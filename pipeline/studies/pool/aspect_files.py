"""Reads files that say which aspects the documents of a pool cover (SPEC 13)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from goodgain.pipeline.studies.pool.label_files import (
    FileReading,
    GivenLabel,
    LabelProblem,
    Line,
    read_file,
)
from goodgain.transforms.core.records.written_label import LabelError

_COLUMN = "aspects"
_TREC_FIELDS = 4
_BETWEEN = ";"
_NO_NAMES = "The aspects are no list of names, names between semicolons, or [] for none."


def read_aspects(path: str, annotator: str) -> Iterator[Line]:
    """The aspects in a file: a table if its suffix says so, else TREC's diversity qrels.

    Args:
      annotator: annotator of lines that name none.

    Raises:
      UsageError: the file cannot be read, or is a table without the columns for aspects.
    """
    of_lines = partial(_of_diversity_qrels, annotator=annotator)
    return read_file(path, annotator, FileReading("aspects", (_COLUMN,), _names_of_row, of_lines))


def names_of(written: Any) -> tuple[str, ...] | None:
    """The distinct names of aspects; () = judged, none; None = not judged.

    Args:
      written: a list of names, or as in a cell: names between semicolons, or a list in JSON.

    Raises:
      LabelError: it is neither.
    """
    if isinstance(written, str):
        text = written.strip()
        if not text.startswith("["):
            written = [part for part in text.split(_BETWEEN) if part.strip()] or None
        else:
            try:
                written = json.loads(text)
            except ValueError:
                raise LabelError(_NO_NAMES) from None
    if written is None:
        return None
    if not isinstance(written, list | tuple) or not all(map(_is_name, written)):
        raise LabelError(_NO_NAMES)
    return tuple(dict.fromkeys(name.strip() for name in written))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _names_of_row(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    return names_of(row.get(_COLUMN))


def _of_diversity_qrels(lines: Iterable[str], annotator: str) -> Iterator[Line]:
    """One list of aspects for each document that a line judges, at its first line."""
    found: dict[tuple[str, str], tuple[int, list[str]]] = {}
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != _TREC_FIELDS or not fields[3].lstrip("+-").isdecimal():
            text = "A line is `topic aspect document label`, four fields, the last a whole number."
            yield LabelProblem(number, text)
            continue
        topic, aspect, document, label = fields
        if int(label) >= 0:
            _, names = found.setdefault((topic, document), (number, []))
            names += [aspect] if int(label) > 0 and aspect not in names else []
    for (topic, document), (number, names) in found.items():
        yield GivenLabel(number, document, tuple(names), annotator, topic)
