"""TREC runs and qrels, read topic by topic, as traces: one topic is one conversation (SPEC 8)."""

from __future__ import annotations

import re
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, BinaryIO, Literal, cast

from msgspec import Struct

from goodgain.pipeline.document.progress import open_counted
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.compression import (
    Compression,
    DamagedStreamError,
    compression_of,
    decompressed,
)
from goodgain.transforms.core.files.judgment_rows import (
    JudgmentError,
    is_header,
    judgment_of_line,
)
from goodgain.transforms.core.judgments.judgment import Judgment, JudgmentPlace
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.records.search_call import LARGEST_INT

LAST_NUMBER = r"(\d+)$"
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
            self._file = _opened(path)
            self._index()
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
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


def _opened(path: str) -> BinaryIO:
    """The file or, if it is compressed, a temporary one with its decompressed content."""
    file = open_counted(path)  # read as long as the object lives
    compression = compression_of(file.read(_HEAD))
    file.seek(0)
    if compression is Compression.NONE:
        return file
    spool = tempfile.SpooledTemporaryFile(max_size=_HELD_IN_MEMORY)  # noqa: SIM115
    with file:
        for piece in decompressed(file, compression):
            spool.write(piece)
    spool.seek(0)
    return cast(BinaryIO, spool)


class IterationSource(Struct, frozen=True):
    """Where a line of a run holds its iteration.

    Attributes:
      field: the column that holds it; None if every line is of iteration 1.
      pattern: matches it there, by its first group or, without groups, as a whole.
    """

    field: Literal["tag", "q0"] | None = None
    pattern: re.Pattern[str] = re.compile(LAST_NUMBER)

    def of(self, line: RunLine, run: TrecFile) -> int:
        """The iteration of a line.

        Raises:
          UsageError: the pattern finds none; the message names file and line.
        """
        if self.field is None:
            return 1
        written = line.tag if self.field == "tag" else line.q0
        match = self.pattern.search(written)
        number = match.group(1 if self.pattern.groups else 0) if match else None
        if number is None or not number.isdecimal() or not 1 <= int(number) <= LARGEST_INT:
            raise run.error(
                line.number,
                f"the {self.field} is {written!r}, in which {self.pattern.pattern} finds no "
                "iteration, a number from 1.",
            )
        return int(number)


class TraceCounts(Struct):
    """Counts of what was converted and what was not.

    Attributes:
      unjudged: results without a label.
      never_retrieved: judged documents of the run's topics that the run did not retrieve.
      topics_without_judgments: topics of the run that are not in the qrels.
      topics_without_results: topics of the qrels that are not in the run.
    """

    conversations: int = 0
    calls: int = 0
    results: int = 0
    unjudged: int = 0
    never_retrieved: int = 0
    topics_without_judgments: int = 0
    topics_without_results: int = 0


def trace_records(
    run: TrecFile, qrels: TrecFile | None, iterations: IterationSource, counts: TraceCounts
) -> Iterator[dict[str, Any]]:
    """Trace records (SPEC 2), topic by topic in the order of the run.

    Results are ranked as trec_eval ranks them: by falling score, compared in single precision,
    ties by document id in descending order. Each has its name as `ids.doc_id`, its label and its
    score. Results of one iteration are one search call.

    Args:
      counts: updated while the records are read.

    Raises:
      UsageError: a line cannot be used, or a document is repeated within a list.
    """
    judged_topics = set() if qrels is None else set(qrels.topics)
    counts.topics_without_results = len(judged_topics.difference(run.topics))
    for topic in run.topics:
        labels: dict[str, int | None] = {} if qrels is None else _labels(qrels, topic)
        counts.conversations += 1
        counts.topics_without_judgments += topic not in judged_topics
        by_iteration: dict[int, list[RunLine]] = {}
        for line in run.run_lines(topic):
            by_iteration.setdefault(iterations.of(line, run), []).append(line)
        retrieved: set[str] = set()
        for iteration, lines in sorted(by_iteration.items()):
            _refuse_repeated(lines, run)
            results = [_result(line, labels) for line in ranked(lines)]
            retrieved.update(line.document for line in lines)
            counts.calls += 1
            counts.results += len(results)
            counts.unjudged += sum("gain" not in result for result in results)
            yield {
                "conversation_id": topic,
                "turn": 1,
                "iteration": iteration,
                "call": 0,
                "attributes": {},
                "results": results,
            }
        judged = {document for document, gain in labels.items() if gain is not None}
        counts.never_retrieved += len(judged - retrieved)


def ranked(lines: Iterable[RunLine]) -> list[RunLine]:
    """Lines in trec_eval's order: scores in single precision, ties by the bytes of the ids."""
    by_id = sorted(lines, key=lambda line: line.document.encode(), reverse=True)
    return sorted(by_id, key=lambda line: array("f", (line.score,))[0], reverse=True)


def _result(line: RunLine, labels: dict[str, int | None]) -> dict[str, Any]:
    result: dict[str, Any] = {"ids": {"doc_id": line.document}, "score": line.score}
    gain = labels.get(line.document)
    return result if gain is None else {**result, "gain": gain}


def _labels(qrels: TrecFile, topic: str) -> dict[str, int | None]:
    first: dict[str, int] = {}
    labels: dict[str, int | None] = {}
    for judged in qrels.qrels_lines(topic):
        name = judged.document
        if labels.setdefault(name, judged.gain) != judged.gain:
            raise qrels.error(
                judged.place.at,
                f"document {name} of topic {topic} has another label on line {first[name]}; keep "
                "one of them.",
            )
        first.setdefault(name, judged.place.at)
    return labels


def _refuse_repeated(lines: Iterable[RunLine], run: TrecFile) -> None:
    seen: dict[str, int] = {}
    for line in lines:
        before = seen.setdefault(line.document, line.number)
        if before != line.number:
            raise run.error(
                line.number,
                f"document {line.document} is already on line {before}; one list holds a "
                "document once.",
            )


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern from a user.

    Raises:
      UsageError: it is not a regular expression.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{pattern!r} is not a regular expression: {error}.") from None
