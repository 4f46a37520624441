"""`goodgain pool label`: adds labels by people or programs, each under its own name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.results.pool_store import lock_pool, read_pool, rewrite
from goodgain.pipeline.studies.pool.aspect_files import read_aspects
from goodgain.pipeline.studies.pool.label_files import GivenLabel, LabelProblem, Line, read_labels
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.pool.document import PoolDocument
from goodgain.transforms.core.pool.document_rows import ids_of
from goodgain.transforms.core.records.label_map import LabelMap

Gains = Mapping[str, Mapping[str, int]]  # by document and annotator
Aspects = Mapping[str, Mapping[str, tuple[str, ...]]]


class Labelled(Struct, frozen=True):
    """The outcome of the labels, or the lists of aspects, of a file.

    Attributes:
      given, changed: number of those that were added, and of those that replace another by the same
        annotator.
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
    return _add_file(folder, read_labels(path, annotator, label_map) if path else (), preferred)


def add_aspects(folder: str, path: str, annotator: str, preferred: str | None = None) -> Labelled:
    """Add the aspects of documents in a file to a pool; see `label_pool`.

    Raises:
      UsageError: the folder is not a pool, or the file cannot be read.
    """
    return _add_file(folder, read_aspects(path, annotator), preferred)


def _add_file(folder: str, lines: Iterable[Line], preferred: str | None) -> Labelled:
    rejected: list[LabelProblem] = []
    gains: dict[str, dict[str, int]] = {}
    aspects: dict[str, dict[str, tuple[str, ...]]] = {}
    accepted: list[GivenLabel] = []
    empty = 0
    for line in lines:
        if isinstance(line, LabelProblem):
            rejected.append(line)
        elif line.label is None:
            empty += 1
        else:
            accepted.append(line)
    documents = _documents_of(folder, accepted)
    for label in accepted:
        names = documents.of(label)
        if len(names) != 1:
            rejected.append(LabelProblem(label.line, _no_document(label, len(names))))
        elif isinstance(label.label, int):
            gains.setdefault(names[0], {})[label.annotator] = label.label
        elif label.label is not None:
            aspects.setdefault(names[0], {})[label.annotator] = label.label
    named = {label.annotator for label in accepted}
    if preferred is not None and preferred not in named:
        _check_has_labels(folder, preferred)
    given, changed = add_labels(folder, gains, aspects, preferred)
    return Labelled(given, changed, empty, sorted(rejected, key=lambda row: row.line))


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
    folder: str, gains: Gains, aspects: Aspects, preferred: str | None = None
) -> tuple[int, int]:
    """Write labels and lists of aspects into a pool.

    Returns:
      How many were added, and how many of these replaced another.
    """
    given = changed = 0

    def label_document(document: PoolDocument) -> PoolDocument:
        nonlocal given, changed
        new_gains = gains.get(document.document, {})
        new_aspects = aspects.get(document.document, {})
        given += len(new_gains) + len(new_aspects)
        changed += sum(document.given.get(name, gain) != gain for name, gain in new_gains.items())
        changed += sum(
            document.aspects.get(name, aspect) != aspect for name, aspect in new_aspects.items()
        )
        return replace(
            document,
            given=dict(sorted({**document.given, **new_gains}.items())),
            aspects=dict(sorted({**document.aspects, **new_aspects}.items())),
        )

    read_pool(folder)
    with lock_pool(folder, datetime.now(UTC)):
        pool = read_pool(folder)
        rewrite(pool, label_document, preferred or pool.preferred)
    return given, changed


def withdraw_labels(folder: str, annotator: str) -> int:
    """Withdraw all labels and aspects of an annotator, and return of how many documents.

    Raises:
      UsageError: the folder is not a pool, or the annotator has no labels in it.
    """
    _check_has_labels(folder, annotator)
    withdrawn = 0

    def withdraw(document: PoolDocument) -> PoolDocument:
        nonlocal withdrawn
        withdrawn += annotator in document.given or annotator in document.aspects
        return replace(
            document,
            given={name: label for name, label in document.given.items() if name != annotator},
            aspects={
                name: aspect for name, aspect in document.aspects.items() if name != annotator
            },
        )

    with lock_pool(folder, datetime.now(UTC)):
        pool = read_pool(folder)
        preferred = None if pool.preferred == annotator else pool.preferred
        rewrite(pool, withdraw, preferred)
    return withdrawn


def _check_has_labels(folder: str, annotator: str) -> None:
    documents = read_pool(folder).documents()
    known = Counter(name for document in documents for name in {*document.given, *document.aspects})
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
            listed = ", ".join(
                f"{annotator} ({count:,})" for annotator, count in sorted(known.items())
            )
            raise UsageError(
                f"{name} has no labels in {folder}; annotators are {listed or 'none'}."
            )
