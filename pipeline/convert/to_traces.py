"""TREC runs and qrels, read topic by topic, as traces: one topic is one conversation (SPEC 8)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from goodgain.pipeline.convert.trec_file import RunLine, TrecFile
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.search_call import LARGEST_INT

LAST_NUMBER = r"(\d+)$"


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
            results = [_result(line, labels) for line in rank_lines(lines)]
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


def rank_lines(lines: Iterable[RunLine]) -> list[RunLine]:
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


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern from a user.

    Raises:
      UsageError: it is not a regular expression.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{pattern!r} is not a regular expression: {error}.") from None
