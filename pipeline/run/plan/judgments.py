"""Reads judgments and joins them with conversations, without Beam (SPEC 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from goodgain.pipeline.run.plan.labels import find_label_files
from goodgain.pipeline.run.plan.storage import Storage
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard import FileShard, InputFile, plan_shards
from goodgain.transforms.core.files.shard_reader import Open
from goodgain.transforms.core.judgments.external_labels import GRADES, ExternalLabels
from goodgain.transforms.core.judgments.judgment import (
    JUDGMENTS_DIGEST,
    Judgment,
    JudgmentPlace,
    LabelRequest,
    QrelsProblem,
    conflict,
    document_digest,
    judgment_digest,
)
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.scoring.topic_request import topic_request

SHOWN_PROBLEMS = 5
_CHECKED_JUDGMENTS = 10_000  # of each file, enough to notice a wrong format
_CHUNK = 1024 * 1024

Judged = Mapping[tuple[str, str], "JudgedDocument"]


class JudgedDocument(Struct, frozen=True):
    """The judgment of one document of a topic.

    Attributes:
      gain: None if it is unjudged.
      lines: number of judgments of this document, which all have this gain.
    """

    gain: int | None
    lines: int


def find_judgments(pattern: str, storage: Storage) -> tuple[InputFile, ...]:
    """The files of judgments that a path or pattern matches.

    Raises:
      UsageError: it matches none, or files cannot be listed.
    """
    return find_label_files(pattern, "judgments", "--qrels", storage)


def check_beginnings(files: Sequence[InputFile], open_file: Open) -> None:
    """Read the first judgments of each file, so that a wrong format is noticed before the run.

    Raises:
      UsageError: one of them cannot be used.
    """
    for number, file in enumerate(files):
        for shard in shards_of_judgments(file, open_file)[:1]:
            for judgment in islice(read_qrels(shard, number, open_file), _CHECKED_JUDGMENTS):
                if isinstance(judgment, QrelsProblem):
                    raise UsageError(describe([judgment], files, open_file))


def read_judgments(
    files: Sequence[InputFile],
    open_file: Open,
    budget: MemoryBudget,
    topics: Collection[str] | None = None,
) -> Judged:
    """The judgments by topic and document.

    Args:
      budget: counts the bytes kept.
      topics: keep only judgments of these topics; None = all.

    Raises:
      UsageError: a judgment cannot be used, or two judgments of a document differ; the
        message names the first ones.
      GoodGainError: they exceed the memory limit of `budget`.
    """
    places: dict[tuple[str, str], dict[int | None, JudgmentPlace]] = {}
    lines: Counter[tuple[str, str]] = Counter()
    problems = []
    for judgment in _judgments(files, open_file):
        if isinstance(judgment, QrelsProblem):
            budget.count_label(judgment.text)
            problems.append(judgment)
        elif topics is None or judgment.topic in topics:
            key = judgment.topic, judgment.document
            budget.count_label(*key)
            by_gain = places.setdefault(key, {})
            first = by_gain.get(judgment.gain, judgment.place)
            by_gain[judgment.gain] = min(judgment.place, first)
            lines[key] += 1
    problems += [conflict(*key, by_gain) for key, by_gain in places.items() if len(by_gain) > 1]
    if problems:
        raise UsageError(describe(sorted(problems)[:SHOWN_PROBLEMS], files, open_file))
    return {key: JudgedDocument(next(iter(gain)), lines[key]) for key, gain in places.items()}


def join(
    requests: Iterable[LabelRequest], judged: Judged
) -> tuple[dict[str, ExternalLabels], Counter[str]]:
    """Give each conversation the labels of its documents and the judged pools of its topics.

    Returns:
      The labels by conversation, and the counts of the join, as in `JoinQrels`.
    """
    pools: dict[str, list[int]] = {}
    for (topic, _), judged_document in judged.items():
        pool = pools.setdefault(topic, [0] * GRADES)
        if judged_document.gain is not None:
            pool[judged_document.gain] += 1
    counts: Counter[str] = Counter()
    by_conversation: dict[str, list[LabelRequest]] = {}
    for request in requests:
        by_conversation.setdefault(request.conversation_id, []).append(request)
    labels: dict[str, ExternalLabels] = {}
    retrieved: set[tuple[str, str]] = set()
    topics: set[str] = set()
    for conversation_id, several in by_conversation.items():
        needed = topic_request(several)
        counts["qrels.results_without_id"] += needed.without_name
        external = labels[conversation_id] = ExternalLabels({}, {}, {})
        for topic in needed.topics:
            topics.add(topic)
            if topic in pools:
                external.pools[topic] = pools[topic]
            gains = external.labels.setdefault(topic, {})
            for document in needed.documents:
                known = judged.get((topic, document))
                if known is not None and known.gain is not None:
                    gains[document_digest(document)] = known.gain
                    retrieved.add((topic, document))
    with_label = sum(map(sum, pools.values()))
    counts.update(
        {
            "qrels.judgments": with_label,
            JUDGMENTS_DIGEST: sum(
                judgment_digest(*key, one.gain)
                for key, one in judged.items()
                if one.gain is not None
            ),
            "qrels.unjudged": len(judged) - with_label,
            "qrels.repeated": sum(one.lines - 1 for one in judged.values()),
            "qrels.never_retrieved": with_label - len(retrieved),
            "qrels.topics": len(pools),
            "qrels.topics_without_conversation": len(pools.keys() - topics),
            "qrels.topics_without_judgments": len(topics - pools.keys()),
        }
    )
    return labels, counts


def describe(problems: Sequence[QrelsProblem], files: Sequence[InputFile], open_file: Open) -> str:
    """Problems with judgments, each in one sentence after its place, like `qrels.txt:12: ...`."""
    sentences = []
    for problem in problems:
        text = f"{_place(problem.place, files, open_file)}: {problem.text}"
        other = "" if problem.other is None else f" {_place(problem.other, files, open_file)}."
        sentences.append(text + other)
    return "\n".join(sentences)


def _judgments(files: Sequence[InputFile], open_file: Open) -> Iterator[Judgment | QrelsProblem]:
    for number, file in enumerate(files):
        for shard in shards_of_judgments(file, open_file):
            yield from read_qrels(shard, number, open_file)


def shards_of_judgments(file: InputFile, open_file: Open) -> list[FileShard]:
    """The shards of a file of judgments.

    Raises:
      UsageError: the file cannot be opened.
    """
    try:
        with open_file(file.path) as opened:
            return plan_shards(opened, file.path, file.size, of_traces=False)
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
