"""Reads judgments and joins them with conversations, without Beam (SPEC 8)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.run.plan.side_tables import JoinedTable, Payloads, find_given_files
from goodgain.pipeline.run.plan.storage import Storage
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard import FileShard, InputFile, Open
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.external_labels import GRADES, ExternalLabels
from goodgain.transforms.core.judgments.joining import (
    DocumentJudgments,
    JoinCounts,
    add_judgment,
)
from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    JudgmentPlace,
    LabelRequest,
    QrelsProblem,
    document_digest,
)
from goodgain.transforms.core.judgments.similar_names import count_similar
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.topic_request import topic_request

SHOWN_PROBLEMS = 5
_CHECKED_JUDGMENTS = 10_000  # of each file, enough to notice a wrong format
_CHUNK = 1024 * 1024
_COUNTED_AT_ONCE = 1_000  # names
_LONG_NAMES = 1_000  # characters of a topic and a document, which are counted at once

Judged = Mapping[tuple[str, str], DocumentJudgments]  # by topic and document


def find_judgments(pattern: str, storage: Storage) -> tuple[InputFile, ...]:
    """The files of judgments that a path or pattern matches.

    Raises:
      UsageError: it matches none, or files cannot be listed.
    """
    return find_given_files(pattern, "judgments", "--qrels", storage)


def check_beginnings(
    files: Sequence[InputFile], open_file: Open, label_map: LabelMap | None = None
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
    label_map: LabelMap | None = None,
) -> Judged:
    """The judgments by topic and document.

    Args:
      budget: counts the bytes kept.
      topics: keep only judgments of these topics; None = all.
      label_map: the gains of labels on another scale; None = labels are gains.

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
    label_map: LabelMap | None = None,
) -> tuple[Judged, list[QrelsProblem]]:
    """The judgments of `read_judgments`, and what is wrong with them.

    Raises:
      GoodGainError: they exceed the memory limit of `budget`.
    """
    judged: dict[tuple[str, str], DocumentJudgments] = {}
    problems = []
    uncounted: list[str] = []
    for judgment in _judgments(files, open_file, label_map):
        if isinstance(judgment, QrelsProblem):
            budget.count_label(judgment.text)
            problems.append(judgment)
        elif topics is None or judgment.topic in topics:
            uncounted += add_judgment(judged, judgment)
            is_long = len(judgment.topic) + len(judgment.document) > _LONG_NAMES
            if is_long or len(uncounted) >= _COUNTED_AT_ONCE:
                budget.count_labels(len(uncounted) // 2, uncounted)
                uncounted.clear()
    budget.count_labels(len(uncounted) // 2, uncounted)
    for key, document in judged.items():
        if document.others is not None:
            problems += filter(None, [document.problem(*key)])
    return judged, problems


class Join:
    """Gives conversations the labels of their documents and the judged pools of their topics."""

    def __init__(self, judged: Judged, exclusions: Exclusions | None = None) -> None:
        """Take the judgments, of which no document has two labels.

        Args:
          exclusions: judgments of these documents do not count; None = all count.
        """
        self._counts = JoinCounts()
        if exclusions is not None:
            judged = _without_excluded(judged, exclusions, self._counts)
        self._judged = judged
        self._pools: dict[str, list[int]] = {}
        self._gains: dict[str, dict[str, int]] = {}  # by topic and name
        for (topic, name), document in judged.items():
            pool = self._pools.get(topic)
            if pool is None:
                pool, self._gains[topic] = self._pools.setdefault(topic, [0] * GRADES), {}
            if document.gain is not None:
                pool[document.gain] += 1
                self._gains[topic][name] = document.gain
        self._retrieved: dict[str, set[str]] = {}  # the labelled names of results by topic
        self._unlabelled: dict[str, set[str]] = {}  # the names of results by topic

    def labels(self, requests: Sequence[LabelRequest]) -> ExternalLabels:
        """The labels that the records of one conversation request."""
        needed = topic_request(requests)
        self._counts.results_without_id += needed.without_name
        topic = needed.topic
        if not topic:
            return ExternalLabels({}, {}, {})
        of_topic = self._gains.get(topic, {})
        labelled = [name for name in needed.documents if name in of_topic]
        self._retrieved.setdefault(topic, set()).update(labelled)
        unlabelled = self._unlabelled.setdefault(topic, set())
        if len(labelled) < len(needed.documents):
            unlabelled.update(name for name in needed.documents if name not in of_topic)
        gains = {document_digest(name): of_topic[name] for name in labelled}
        pools = {topic: self._pools[topic]} if topic in self._pools else {}
        return ExternalLabels({}, {topic: gains}, pools)

    def counts(self) -> dict[str, int]:
        """What was joined, as counted by `JoinQrels`, when all conversations have their labels."""
        counts = replace(self._counts)
        for (topic, name), document in self._judged.items():
            retrieved = name in self._retrieved.get(topic, ())
            counts.add_document(topic, name, document, retrieved=retrieved)
        labelled = ((topic, name) for topic, names in self._gains.items() for name in names)
        # A labelled name is written as it is judged.
        counts.similar_names = count_similar(self._unlabelled, labelled)
        for topic in self._unlabelled.keys() | self._pools.keys():
            counts.add_topic(judged=topic in self._pools, asked=topic in self._unlabelled)
        return counts.by_name()


def join(
    requests: Iterable[LabelRequest], judged: Judged, exclusions: Exclusions | None = None
) -> tuple[dict[str, ExternalLabels], dict[str, int]]:
    """Give each conversation the labels of its documents and the judged pools of its topics.

    Args:
      exclusions: judgments of these documents do not count; None = all count.

    Returns:
      The labels by conversation, and the counts of the join, as in `JoinQrels`.
    """
    by_conversation: dict[str, list[LabelRequest]] = {}
    for request in requests:
        by_conversation.setdefault(request.conversation_id, []).append(request)
    joined = Join(judged, exclusions)
    labels = {name: joined.labels(several) for name, several in by_conversation.items()}
    return labels, joined.counts()


def _without_excluded(judged: Judged, exclusions: Exclusions, counts: JoinCounts) -> Judged:
    """The judgments that count; the others are counted."""
    kept = {}
    for key, document in judged.items():
        if exclusions.excludes(*key):
            counts.add_document(*key, document, retrieved=False, excluded=True)
        else:
            kept[key] = document
    return kept


class JudgedDocuments(Struct, frozen=True):
    """Judgments as a source of labels, without those of excluded documents."""

    judged: Judged
    exclusions: Exclusions | None = None

    def join(self, _: Payloads, requests: Iterable[LabelRequest]) -> JoinedTable:
        """See `JoinableTable`."""
        labels, counts = join(requests, self.judged, self.exclusions)
        return JoinedTable(
            [(name, payload((), external=external)) for name, external in labels.items()], counts
        )


def describe(problems: Sequence[QrelsProblem], files: Sequence[InputFile], open_file: Open) -> str:
    """Problems with judgments, each in one sentence after its place, like `qrels.txt:12: ...`."""
    sentences = []
    for problem in problems:
        text = f"{_place(problem.place, files, open_file)}: {problem.text}"
        other = "" if problem.other is None else f" {_place(problem.other, files, open_file)}."
        sentences.append(text + other)
    return "\n".join(sentences)


def _judgments(
    files: Sequence[InputFile], open_file: Open, label_map: LabelMap | None
) -> Iterator[Judgment | QrelsProblem]:
    for number, file in enumerate(files):
        for shard in shards_of_judgments(file, open_file, label_map):
            yield from read_qrels(shard, number, open_file)


def shards_of_judgments(
    file: InputFile, open_file: Open, label_map: LabelMap | None = None
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
