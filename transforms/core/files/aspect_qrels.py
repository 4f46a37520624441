"""Reads judgments of aspects, in the format of TREC's diversity qrels (SPEC 13).

A line is `topic aspect document label`; a document covers an aspect if its label is positive, and
is not judged for it if the label is negative.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.shard import FileShard, Open
from goodgain.transforms.core.files.text_lines import Line, text_lines
from goodgain.transforms.core.remedy import Remedy

_FIELDS = 4


class AspectJudgment(Struct, frozen=True, gc=False):
    """The label of one document for one aspect of a topic; `place` is its file and line."""

    topic: str
    aspect: str
    document: str
    label: int
    place: str


def read_aspect_qrels(shard: FileShard, open_file: Open) -> Iterator[AspectJudgment]:
    """The judgments of a shard, in file order.

    Raises:
      UsageError: a line cannot be used; the message names it.
      OSError: the file cannot be read.
    """
    with open_file(shard.path) as file:
        text = text_lines(file, shard)
        for position, line in text.lines:
            if isinstance(line, bytes) and (not line or line.isspace()):
                continue
            yield _judgment(line, f"{shard.path}, {text.location(position)}")


def _judgment(line: Line, place: str) -> AspectJudgment:
    fields: list[str] = []
    if isinstance(line, bytes):
        fields = line.decode(errors="replace").split()
    if len(fields) == _FIELDS and "\ufffd" not in "".join(fields):
        topic, aspect, document, label = fields
        if label.lstrip("+-").isascii() and label.lstrip("+-").isdecimal():
            return AspectJudgment(topic, aspect, document, int(label), place)
    raise UsageError(
        f"{place}: judgments of aspects have four fields between white space, `topic aspect "
        "document label`, and a whole number as label (" + Remedy("aspect_qrels") + ")."
    )
