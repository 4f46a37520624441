"""`goodgain pool label`: adds labels by people or programs, each under its own name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.run.plan.local_files import open_local
from goodgain.pipeline.studies.pool.store import changing, read_pool, rewrite
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.files.tables import BrokenTableError, recognise_table, table_rows
from goodgain.transforms.core.pool.agreement import VOTES, annotators
from goodgain.transforms.core.pool.document import PoolDocument
from goodgain.transforms.core.pool.document_rows import ids_of
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.records.written_label import LabelError, gain_of_label

_DOCUMENT = ("document", "document_id", "doc_id", "docno")
_GAIN = ("gain", "label", "relevance")
_ANNOTATOR, _TOPIC = "annotator", "topic"
_COLUMNS = frozenset((*_DOCUMENT, *_GAIN, _ANNOTATOR, _TOPIC))
_TREC_FIELDS = 4
_WITH_HEADER = (".csv", ".tsv", ".parquet")
_TABLES = (*_WITH_HEADER, ".jsonl", ".json")


class GivenLabel(Struct, frozen=True):
    """A label from a file.

    Attributes:
      document: the name of a pool document, or an id that a result had.
      gain: None for a line without a label, like a row of `pool todo` that is not filled in.
      topic: the topic, if the line names one; it tells apart documents with the same id.
    """

    line: int
    document: str
    gain: int | None
    annotator: str
    topic: str | None = None


class LabelProblem(Struct, frozen=True):
    """A line that cannot be used."""

    line: int
    text: str


class Labelled(Struct, frozen=True):
    """The outcome of the labels of a file.

    Attributes:
      given, changed: number of labels that were added, and of those that replace another by the
        same annotator.
      empty: number of lines without a label.
    """

    given: int
    changed: int
    empty: int
    rejected: list[LabelProblem]


def label_pool(
    folder: str,
    path: str | None,
    annotator: str,
    preferred: str | None = None,
    label_map: LabelMap | None = None,
) -> Labelled:
    """Add the labels of a file to a pool; of an annotator's labels for a document, the last wins.

    Args:
      path: the file; None = only change whose labels are preferred.
      annotator: annotator of lines that name none.
      preferred: annotator whose labels override those of others from now on.
      label_map: the gains of labels on another scale; None = labels are gains.

    Raises:
      UsageError: the folder is not a pool, the file cannot be read, or the preferred annotator has
        no labels.
    """
    rejected: list[LabelProblem] = []
    labels: dict[str, dict[str, int]] = {}
    accepted: list[GivenLabel] = []
    empty = 0
    for label in read_labels(path, annotator, label_map) if path else ():
        if isinstance(label, LabelProblem):
            rejected.append(label)
        elif label.gain is None:
            empty += 1
        else:
            accepted.append(label)
    documents = _documents_of(folder, accepted)
    for label in accepted:
        names = documents.of(label)
        if len(names) == 1 and label.gain is not None:
            labels.setdefault(names[0], {})[label.annotator] = label.gain
        else:
            rejected.append(LabelProblem(label.line, _no_document(label, len(names))))
    named = {name for by_annotator in labels.values() for name in by_annotator}
    if preferred is not None and preferred not in named:
        _check_has_labels(folder, preferred)
    given, changed, _ = add_labels(folder, labels, preferred)
    return Labelled(given, changed, empty, sorted(rejected, key=lambda one: one.line))


class _Documents(Struct, frozen=True):
    """The documents that labels name.

    Attributes:
      named: the names of pool documents.
      by_id: by an id of results, the topics and names of the documents that have it.
    """

    named: set[str]
    by_id: dict[str, list[tuple[str | None, str]]]

    def of(self, label: GivenLabel) -> list[str]:
        """The names of the documents that a label may mean."""
        if label.document in self.named:
            return [label.document]
        found = self.by_id.get(label.document, [])
        of_topic = [name for topic, name in found if topic == label.topic]
        return of_topic or [name for _, name in found]


def _documents_of(folder: str, labels: Iterable[GivenLabel]) -> _Documents:
    wanted = {label.document for label in labels}
    found = _Documents(set(), {})
    for document in read_pool(folder).documents() if wanted else ():
        if document.document in wanted:
            found.named.add(document.document)
        topic = document.topic.value or document.topic.conversation_id
        for value in dict.fromkeys(chain.from_iterable(ids_of(document).values())):
            if value in wanted:
                found.by_id.setdefault(value, []).append((topic, document.document))
    return found


def _no_document(label: GivenLabel, candidates: int) -> str:
    if candidates:
        return (
            f"{candidates} documents of the pool have the id {label.document}; name the topic too, "
            "or the document."
        )
    return f"The pool has no document {label.document}."


def add_labels(
    folder: str, labels: Mapping[str, Mapping[str, int]], preferred: str | None = None
) -> tuple[int, int, set[str]]:
    """Write labels, by document and annotator, into a pool.

    Returns:
      How many were added, how many of these replaced another, and the unknown documents.
    """
    remaining = dict(labels)
    given = changed = 0

    def labelled(document: PoolDocument) -> PoolDocument:
        nonlocal given, changed
        new = remaining.pop(document.document, None)
        if not new:
            return document
        given += len(new)
        changed += sum(document.given.get(name, gain) != gain for name, gain in new.items())
        return replace(document, given=dict(sorted({**document.given, **new}.items())))

    read_pool(folder)
    with changing(folder, datetime.now(UTC)):
        pool = read_pool(folder)
        rewrite(pool, labelled, preferred or pool.preferred)
    return given, changed, set(remaining)


def withdraw_labels(folder: str, annotator: str) -> int:
    """Withdraw all labels of an annotator, and return how many there were.

    Raises:
      UsageError: the folder is not a pool, or the annotator has no labels in it.
    """
    _check_has_labels(folder, annotator)
    withdrawn = 0

    def without(document: PoolDocument) -> PoolDocument:
        nonlocal withdrawn
        if annotator not in document.given:
            return document
        withdrawn += 1
        remaining = {name: gain for name, gain in document.given.items() if name != annotator}
        return replace(document, given=remaining)

    with changing(folder, datetime.now(UTC)):
        pool = read_pool(folder)
        preferred = None if pool.preferred == annotator else pool.preferred
        rewrite(pool, without, preferred)
    return withdrawn


def _check_has_labels(folder: str, annotator: str) -> None:
    known = annotators(read_pool(folder).documents())
    known.pop(VOTES, None)
    check_annotators(folder, known, annotator)


def check_annotators(folder: str, known: Mapping[str, int], *names: str) -> None:
    """Make sure that these annotators have labels in a pool.

    Args:
      known: number of labels by annotator.

    Raises:
      UsageError: one of them has none.
    """
    for name in names:
        if name not in known:
            listed = ", ".join(f"{one} ({count:,})" for one, count in sorted(known.items()))
            raise UsageError(
                f"{name} has no labels in {folder}; annotators are {listed or 'none'}."
            )


def read_labels(
    path: str, annotator: str, label_map: LabelMap | None = None
) -> Iterator[GivenLabel | LabelProblem]:
    """The labels of a file: a table if its suffix says so, else TREC qrels.

    Raises:
      UsageError: the file cannot be read, or is a table without the columns for labels.
    """
    try:
        if path.endswith(_TABLES):
            row = None
            for row in table_rows(recognise_table(path, open_local), open_local, _COLUMNS):
                if row.problem is not None:
                    yield LabelProblem(row.number, f"The row has {row.problem}.")
                    continue
                _check_columns(path, row.values)
                yield _of_row(row.number, row.values, annotator, label_map)
            if row is None:
                raise UsageError(
                    f"{path} has no rows; the first line of a table names its columns."
                )
        else:
            with open(path, encoding="utf-8-sig") as file:
                yield from _of_qrels(file, annotator, label_map)
    except (OSError, UnicodeDecodeError, BrokenTableError) as error:
        raise UsageError(f"The labels in {path} cannot be read: {problem_of(error)}.") from None


def _check_columns(path: str, row: Any) -> None:
    for names in (_DOCUMENT, _GAIN):
        if path.endswith(_WITH_HEADER) and not any(name in row for name in names):
            raise UsageError(
                f"The labels in {path} have no column {names[0]} (also read: "
                f"{', '.join(names[1:])})."
            )


def _of_qrels(
    lines: Iterable[str], annotator: str, label_map: LabelMap | None
) -> Iterator[GivenLabel | LabelProblem]:
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != _TREC_FIELDS:
            text = "A line of qrels is `topic iteration document label`, four fields."
            yield LabelProblem(number, text)
            continue
        yield _label(number, fields[2], fields[3], annotator, fields[0], label_map)


def _of_row(
    number: int, row: Any, annotator: str, label_map: LabelMap | None
) -> GivenLabel | LabelProblem:
    if not isinstance(row, Mapping):
        return LabelProblem(number, "The line is not a JSON object.")
    document = next((row[name] for name in _DOCUMENT if row.get(name)), None)
    if document is None:
        return LabelProblem(number, "The line names no document (column `document`).")
    gain = next((row[name] for name in _GAIN if row.get(name) is not None), None)
    named = row.get(_ANNOTATOR)
    topic = None if row.get(_TOPIC) is None else str(row[_TOPIC]).strip()
    name = str(named).strip() if named else annotator
    return _label(number, str(document), gain, name, topic, label_map)


def _label(
    number: int,
    document: str,
    written: Any,
    annotator: str,
    topic: str | None,
    label_map: LabelMap | None,
) -> GivenLabel | LabelProblem:
    try:
        gain = gain_of_label(written, label_map)
    except LabelError as error:
        return LabelProblem(number, str(error))
    return GivenLabel(number, document.strip(), gain, annotator, topic)
