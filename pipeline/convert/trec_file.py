"""Reads a TREC run or qrels file, topic by topic."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import isfinite
from typing import BinaryIO, cast

from msgspec import Struct

from goodgain.pipeline.inputs.progress import open_counted
from goodgain.transforms.core.errors import UsageError, missing_file, problem_of
from goodgain.transforms.core.files.compression import (
    Compression,
    DamagedStreamError,
    compression_of,
    decompress,
)
from goodgain.transforms.core.files.judgment_rows import (
    JudgmentError,
    is_header,
    judgment_of_line,
)
from goodgain.transforms.core.judgments.judgment import Judgment, JudgmentPlace
from goodgain.transforms.core.records.label_map import LabelMap

_HEAD = 16
_HELD_IN_MEMORY = 64 * 1024 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_RUN_FIELDS = 6


class RunLine(Struct, frozen=True, gc=False):
    """A line of a run; its column `rank` is not read, as in trec_eval."""

    number: int
    q0: str
    document: str
    score: float
    tag: str


class _LineRange(Struct, frozen=True, gc=False):
    """Consecutive lines of one topic: their byte position, and the number of the first."""

    offset: int
    length: int
    first: int


class TrecFile:
    """A file whose lines begin with a topic, read one topic at a time.

    The lines of a topic may be anywhere in the file; only their positions are kept in memory.
    """

    def __init__(self, path: str, label_map: LabelMap | None = None) -> None:
        """Index the topics in one pass over the file.

        Args:
          label_map: the gains of labels on another scale, in qrels.

        Raises:
          UsageError: it cannot be read.
        """
        self.path = path
        self._label_map = label_map
        self._ranges_of_topic: dict[str, list[_LineRange]] = {}
        try:
            self._file = _open(path)
            self._index()
        except OSError as error:
            raise missing_file(path, f"{path} cannot be read: {problem_of(error)}.") from None
        except DamagedStreamError as error:
            raise UsageError(f"{path} cannot be read: {error}.") from None

    @property
    def topics(self) -> list[str]:
        """The topics, in the order in which they first occur."""
        return list(self._ranges_of_topic)

    def run_lines(self, topic: str) -> Iterator[RunLine]:
        """The lines of a run on a topic, in file order.

        Raises:
          UsageError: a line is malformed; the message names file and line.
        """
        for number, line in self._lines(topic):
            fields = self._text(line, number).split()
            if len(fields) != _RUN_FIELDS:
                raise self.error(
                    number,
                    "a line of a run is `topic Q0 docid rank score tag`, six fields between white "
                    f"space; this one has {len(fields)}.",
                )
            _, q0, document, _, score, tag = fields
            yield RunLine(number, q0, document, self._score(score, number), tag)

    def qrels_lines(self, topic: str) -> Iterator[Judgment]:
        """The judgments on a topic, in file order, each with its line as `place.at`.

        Raises:
          UsageError: a line is malformed; the message names file and line.
        """
        for number, line in self._lines(topic):
            if is_header(line):
                continue
            try:
                yield judgment_of_line(line, JudgmentPlace(0, number), self._label_map)
            except JudgmentError as error:
                raise self.error(number, str(error)) from None

    def error(self, number: int, text: str) -> UsageError:
        """An error about a line."""
        return UsageError(f"{self.path}:{number}: {text}")

    def _text(self, line: bytes, number: int) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise self.error(number, "the line is not UTF-8 text.") from None

    def _score(self, written: str, number: int) -> float:
        try:
            score = float(written)
        except ValueError:
            score = float("nan")
        if not isfinite(score) or "_" in written:
            raise self.error(number, f"the score is {written!r}, but must be a finite number.")
        return score

    def _lines(self, topic: str) -> Iterator[tuple[int, bytes]]:
        for line_range in self._ranges_of_topic.get(topic, ()):
            self._file.seek(line_range.offset)
            lines = self._file.read(line_range.length).split(b"\n")
            for number, line in enumerate(lines, line_range.first):
                if line.strip():
                    yield number, line

    def _index(self) -> None:
        offset = start = 0
        number = first = 1
        current = b""
        for line in self._file:
            if offset == 0 and line.startswith(_BYTE_ORDER_MARK):
                offset = start = len(_BYTE_ORDER_MARK)
                line = line[offset:]
            topic = (line.split(None, 1) or [current])[0]
            if topic[:1] == b"{":
                raise self.error(number, "the line is JSON, but convert reads TREC format here.")
            if topic != current:
                self._add_range(current, _LineRange(start, offset - start, first), number)
                current, start, first = topic, offset, number
            offset += len(line)
            number += 1
        self._add_range(current, _LineRange(start, offset - start, first), number)

    def _add_range(self, topic: bytes, line_range: _LineRange, number: int) -> None:
        if topic:
            text = self._text(topic, min(line_range.first, number))
            self._ranges_of_topic.setdefault(text, []).append(line_range)


def _open(path: str) -> BinaryIO:
    """The file or, if it is compressed, a temporary one with its decompressed content."""
    file = open_counted(path)  # read as long as the object lives
    compression = compression_of(file.read(_HEAD))
    file.seek(0)
    if compression is Compression.NONE:
        return file
    spool = tempfile.SpooledTemporaryFile(max_size=_HELD_IN_MEMORY)  # noqa: SIM115
    with file:
        for piece in decompress(file, compression):
            spool.write(piece)
    spool.seek(0)
    return cast(BinaryIO, spool)
