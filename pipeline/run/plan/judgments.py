"""Reads judgments in this process, and words what is wrong with them (SPEC 8)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice

from goodgain.pipeline.inputs.storage import Storage
from goodgain.pipeline.run.plan.given_tables import find_given_files
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard import FileShard, InputFile, Open
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.judgments.joining import (
    DocumentJudgments,
    add_judgment,
)
from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    JudgmentPlace,
    QrelsProblem,
)
from goodgain.transforms.core.memory_budget import MemoryBudget, rows_of
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.remedy import Remedy, join

SHOWN_PROBLEMS = 5
_CHECKED_JUDGMENTS = 10_000  # of each file, enough to notice a wrong format
_CHUNK = 1024 * 1024
_COUNTED_AT_ONCE = 1_000  # names
_LONG_NAMES = 1_000  # characters of a topic and a document, which are counted at once
_ROWS = rows_of("qrels")

Judged = Mapping[str, Mapping[str, DocumentJudgments]]  # by topic and document


def find_judgments(pattern: str, storage: Storage) -> tuple[InputFile, ...]:
    """The files of judgments that a path or pattern matches.

    Raises:
      UsageError: it matches none, or files cannot be listed.
    """
    return find_given_files(pattern, "judgments", Remedy("qrels"), storage)


def check_beginnings(
    files: Sequence[InputFile], open_file: Open, label_map: tuple[str, ...] = ()
) -> None:
    """Read the first judgments of each file, so that a wrong format is noticed before the run.

    Raises:
      UsageError: one of them cannot be used.
    """
    for number, file in enumerate(files):
        for shard in shards_of_judgments(file, open_file, label_map)[:1]:
            for judgment in islice(read_qrels(shard, number, open_file), _CHECKED_JUDGMENTS):
                if isinstance(judgment, QrelsProblem):
                    raise UsageError(describe([judgment], files, open_file))


def read_judgments(
    files: Sequence[InputFile],
    open_file: Open,
    budget: MemoryBudget,
    topics: Collection[str] | None = None,
    label_map: tuple[str, ...] = (),
) -> Judged:
    """The judgments by topic and document.

    Args:
      budget: counts the bytes kept.
      topics: keep only judgments of these topics; None = all.
      label_map: the gains of labels on another scale, like `2=1`; none = labels are gains.

    Raises:
      UsageError: a judgment cannot be used, or two judgments of a document differ; the
        message names the first ones.
      GoodGainError: they exceed the memory limit of `budget`.
    """
    judged, problems = judgments_in(files, open_file, budget, topics, label_map)
    if problems:
        raise UsageError(describe(sorted(problems)[:SHOWN_PROBLEMS], files, open_file))
    return judged


def judgments_in(
    files: Sequence[InputFile],
    open_file: Open,
    budget: MemoryBudget,
    topics: Collection[str] | None = None,
    label_map: tuple[str, ...] = (),
) -> tuple[Judged, list[QrelsProblem]]:
    """The judgments of `read_judgments`, and what is wrong with them.

    Raises:
      GoodGainError: they exceed the memory limit of `budget`.
    """
    judged: dict[str, dict[str, DocumentJudgments]] = {}
    problems = []
    uncounted: list[str] = []
    for judgment in _judgments(files, open_file, label_map):
        if isinstance(judgment, QrelsProblem):
            budget.count_label(judgment.text, what=_ROWS)
            problems.append(judgment)
        elif topics is None or judgment.topic in topics:
            add_judgment(judged, judgment)
            topic, document = judgment.topic, judgment.document
            uncounted += topic, document
            if len(uncounted) >= _COUNTED_AT_ONCE or len(topic) + len(document) > _LONG_NAMES:
                budget.count_labels(len(uncounted) // 2, uncounted, _ROWS)
                uncounted.clear()
    budget.count_labels(len(uncounted) // 2, uncounted, _ROWS)
    return judged, problems + list(find_conflicts_in(judged))


def find_conflicts_in(judged: Judged) -> Iterator[QrelsProblem]:
    """The problems that documents have different labels."""
    for topic, documents in judged.items():
        for name, document in documents.items():
            if (problem := document.problem(topic, name)) is not None:
                yield problem


def describe(problems: Sequence[QrelsProblem], files: Sequence[InputFile], open_file: Open) -> str:
    """Problems with judgments, each in one sentence after its place, like `qrels.txt:12: ...`."""
    sentences = []
    for problem in problems:
        text = f"{_place(problem.place, files, open_file)}: " + problem.phrase("text")
        other = "" if problem.other is None else f" {_place(problem.other, files, open_file)}."
        sentences.append(text + other)
    return join("\n", sentences)


def _judgments(
    files: Sequence[InputFile], open_file: Open, label_map: tuple[str, ...]
) -> Iterator[Judgment | QrelsProblem]:
    return chain.from_iterable(
        read_qrels(shard, number, open_file)
        for number, file in enumerate(files)
        for shard in shards_of_judgments(file, open_file, label_map)
    )


def shards_of_judgments(
    file: InputFile, open_file: Open, label_map: tuple[str, ...] = ()
) -> list[FileShard]:
    """The shards of a file of judgments.

    Raises:
      UsageError: the file cannot be opened.
    """
    try:
        with open_file(file.path) as opened:
            adaptation = Adaptation(label_map=label_map)
            return plan_shards(opened, file.path, file.size, adaptation=adaptation, of_traces=False)
    except OSError as error:
        raise UsageError(f"{file.path} cannot be read: {problem_of(error)}.") from None


def _place(place: JudgmentPlace, files: Sequence[InputFile], open_file: Open) -> str:
    path = files[place.file].path
    if not place.inside:
        return f"{path}:{_line_number(path, place.at, open_file)}"
    if place.inside == "file":
        return path
    if place.inside.startswith("line "):
        return f"{path}:{place.inside.removeprefix('line ')}"
    return f"{path}, {place.inside}"


def _line_number(path: str, offset: int, open_file: Open) -> int:
    line_feeds = 0
    with open_file(path) as file:
        while offset > 0 and (chunk := file.read(min(_CHUNK, offset))):
            line_feeds += chunk.count(b"\n")
            offset -= len(chunk)
    return line_feeds + 1
