"""Traces to a TREC run and qrels of the de-duplicated lists (SPEC 4, 8)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from math import ceil
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from msgspec import Struct

from goodgain.pipeline.inputs.local_files import read_files
from goodgain.pipeline.results.atomic_files import replace_named
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, Fingerprinter
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.spool import Spool
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.delivery import deliver
from goodgain.transforms.core.scoring.duplicate_rows import ResultPlace, TurnDetails
from goodgain.transforms.core.scoring.fold import fold_turn
from goodgain.transforms.core.unicode_14 import is_printable

_INPUT_BYTES_PER_PART = 256 * 2**20
_LIKE_A_POSITION = re.compile(r"i\d+\.call\d+\.rank\d+")
_ANY_THRESHOLD = 1  # has no effect on the list


class TrecCounts(Struct):
    """What was written and what was not.

    Attributes:
      without_results: conversations whose last turn found nothing; TREC files cannot hold them.
      without_judgments: conversations without a labelled document; they are not in the qrels.
      named_by_position: documents without an id of their own.
      with_rejected_records: conversations that are written, but that `goodgain run` leaves out of
        its means.
    """

    conversations: int = 0
    documents: int = 0
    judged: int = 0
    without_results: int = 0
    without_judgments: int = 0
    named_by_position: int = 0
    rejected_records: int = 0
    with_rejected_records: int = 0


class Delivery(Struct, frozen=True, array_like=True):
    """One delivered call: its fingerprint, and the document ids in rank order ("" = none)."""

    call: CallFingerprint
    ids: list[str]


class NamedDocument(Struct, frozen=True, gc=False):
    """A document of a de-duplicated list: its name and its label."""

    name: str
    gain: int | None
    has_id: bool


def write_trec(
    files: Sequence[InputFile],
    rules: RuleTable,
    id_name: str,
    tag: str,
    run_path: str | None,
    qrels_path: str | None,
    label_map: tuple[str, ...] = (),
) -> TrecCounts:
    """Write the ranked list of every conversation's last turn as a run, its labels as qrels.

    The list and its order are those of SPEC 8, `compact`. Scores fall by 1 from rank to rank, so
    that tools which sort by score keep the order. The topic is the conversation_id.

    Args:
      id_name: the named id that names a document.
      tag: the last column of the run.
      run_path, qrels_path: written completely or not at all; None = do not write.
      label_map: the gains of labels on another scale, like `2=1`; none = labels are gains.

    Raises:
      UsageError: a file cannot be written.
    """
    counts = TrecCounts()
    rejected: set[str] = set()
    parts = max(1, ceil(sum(file.size for file in files) / _INPUT_BYTES_PER_PART))
    with Spool(parts, Delivery) as spool, ExitStack() as outputs:
        run_file, qrels_file = _open_outputs((run_path, qrels_path), outputs)
        records = read_files(files, Adaptation(label_map=label_map))
        _read(records, Fingerprinter(rules), id_name, spool, counts, rejected)
        for conversation_id, deliveries in spool.groups():
            documents = rank_documents(deliveries, rules)
            counts.conversations += 1
            counts.with_rejected_records += conversation_id in rejected
            counts.documents += len(documents)
            counts.judged += sum(document.gain is not None for document in documents)
            counts.named_by_position += sum(not document.has_id for document in documents)
            counts.without_results += not documents
            counts.without_judgments += all(document.gain is None for document in documents)
            topic = word(conversation_id)
            if run_file is not None:
                run_file.writelines(_run_lines(topic, documents, tag))
            if qrels_file is not None:
                qrels_file.writelines(_qrels_lines(topic, documents))
    return counts


def rank_documents(deliveries: Sequence[Delivery], rules: RuleTable) -> list[NamedDocument]:
    """The de-duplicated list of a conversation's last turn, best first (SPEC 3, 4, 8)."""
    delivered = deliver([delivery.call for delivery in deliveries])
    ids_of = {delivery.call.record_digest: delivery.ids for delivery in deliveries}
    calls = delivered.searches()
    turn = fold_turn(calls, rules, _ANY_THRESHOLD)
    details = TurnDetails(turn, rules)
    first_positions = [at for at, duplicate in enumerate(turn.duplicates) if duplicate is None]
    all_ids = [id_ for call in calls for id_ in ids_of[call.record_digest]]
    ids = [all_ids[at] for at in first_positions]
    names = document_names(ids, [details.place(at) for at in first_positions])
    return [
        NamedDocument(name, turn.results[at].gain, name == word(id_))
        for at, id_, name in zip(first_positions, ids, names, strict=True)
    ]


def _read(
    records: Iterable[SearchCall | RejectedRecord],
    fingerprinter: Fingerprinter,
    id_name: str,
    spool: Spool[Delivery],
    counts: TrecCounts,
    rejected: set[str],
) -> None:
    keys = LabelKeys(id_name)
    for record in records:
        if isinstance(record, SearchCall):
            call = fingerprinter.call_fingerprint(record)
            ids = [names[0] if names else "" for names in keys.documents(record)]
            spool.add(record.conversation_id, Delivery(call, ids))
        else:
            counts.rejected_records += record.records
            if record.conversation_id:
                rejected.add(record.conversation_id)


def _open_outputs(paths: Sequence[str | None], outputs: ExitStack) -> list[BinaryIO | None]:
    """The files, under temporary names until everything is written; None for no path."""
    for path in paths:
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise UsageError(f"{path} cannot be written: the folder does not exist.")
    files: list[BinaryIO | None] = []
    for path in paths:
        files.append(None if path is None else outputs.enter_context(replace_named(path)))
    return files


def _run_lines(topic: str, documents: Sequence[NamedDocument], tag: str) -> Iterator[bytes]:
    for rank, document in enumerate(documents, 1):
        score = len(documents) + 1 - rank
        yield f"{topic} Q0 {document.name} {rank} {score} {tag}\n".encode()


def _qrels_lines(topic: str, documents: Sequence[NamedDocument]) -> Iterator[bytes]:
    for document in documents:
        if document.gain is not None:
            yield f"{topic} 0 {document.name} {document.gain}\n".encode()


def word(text: str) -> str:
    """A text as one word: white space, `%` and unprintable characters are percent-encoded.

    Different texts become different words.
    """
    if is_printable(text) and " " not in text and "%" not in text:
        return text
    return "".join(
        quote(character, safe="")
        if character == "%" or character.isspace() or not is_printable(character)
        else character
        for character in text
    )


def document_names(ids: Sequence[str], places: Sequence[ResultPlace]) -> list[str]:
    """Unique names of the documents of one list.

    The name is the document's id if no other has the same; else its position, like
    `i2.call0.rank5`: dense iteration, its call from 0, rank in the call from 1.

    Args:
      ids: the id of each document; "" if it has none.
    """
    words = [word(id_) for id_ in ids]
    counts = Counter(words)
    return [
        name
        if name and counts[name] == 1 and not _LIKE_A_POSITION.fullmatch(name)
        else f"i{place.i}.call{place.call_position}.rank{place.rank}"
        for name, place in zip(words, places, strict=True)
    ]
