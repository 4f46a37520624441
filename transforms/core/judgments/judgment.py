"""External judgments (qrels), and how they are matched to results (SPEC 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated

from msgspec import Struct
from xxhash import xxh3_64_digest, xxh32_intdigest

from goodgain.transforms.core.option import LABELS, Option, Options
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.remedy import Phrased

DIGEST_BYTES = 8
# Name of a counter that sums up all judgments, to detect whether two runs used the same ones.
JUDGMENTS_DIGEST = "qrels.digest"


class JudgmentPlace(Struct, frozen=True, array_like=True, order=True, gc=False):
    """The place of a judgment.

    Attributes:
      file: number of its file, from 0.
      at: offset of its line in an uncompressed text file; elsewhere a number that increases through
        the file.
      inside: the place within the file in words, like `line 12` or `row group 0, row 15`; "" for
        the line at offset `at`, whose number is computed only to show it.
    """

    file: int
    at: int
    inside: str = ""


class Judgment(Struct, frozen=True, array_like=True, gc=False):
    """The label of one document for one topic.

    Attributes:
      topic: name of the topic.
      document: name of the document as in the file, trimmed.
      gain: 0 to 4; None for a negative label, which means not judged.
      place: where it was read.

    Example: see `JoinQrels`.
    """

    topic: str
    document: str
    gain: int | None
    place: JudgmentPlace


class QrelsProblem(Phrased, frozen=True, array_like=True, order=True):
    """Something in a file of judgments that cannot be used.

    Attributes:
      text: what is wrong, in a sentence that follows the place.
      other: a second place, which ends the sentence; None if there is none.
    """

    place: JudgmentPlace
    text: str
    other: JudgmentPlace | None = None


def describe_conflict(
    topic: str, document: str, judged: Mapping[int | None, JudgmentPlace]
) -> QrelsProblem:
    """The problem that a document has different labels; it names the first two of them."""
    first, second = sorted(judged, key=lambda gain: judged[gain])[:2]
    text = (
        f"Document {document} of topic {topic} has the label {_label(second)} here, but "
        f"{_label(first)} at"
    )
    return QrelsProblem(judged[second], text, judged[first])


def _label(gain: int | None) -> str:
    return "below 0" if gain is None else str(gain)


class LabelKeys(Options, frozen=True):
    """How judgments are matched to results.

    A result without the named id has the name of its generic id.

    Example: see `JoinQrels`.
    """

    qrels_id: Annotated[
        str, Option(LABELS, "NAME", "named id of a result that holds its document name in qrels")
    ] = "doc_id"
    qrels_topic: Annotated[
        str | None,
        Option(
            LABELS,
            "NAME",
            "attribute that holds the topic in qrels; conversation_id by default",
        ),
    ] = None

    def topic(self, conversation_id: str, attributes: Mapping[str, str]) -> str:
        """The topic of a conversation with these attributes; "" if it has none."""
        if self.qrels_topic is None:
            return conversation_id.strip()
        return attributes.get(self.qrels_topic, "").strip()

    def documents(self, call: SearchCall) -> list[list[str]]:
        """The trimmed document names of each result, by rank; usually one, possibly none."""
        return [
            _trim(result.ids.get(self.qrels_id, ())) or _trim(result.id or "")
            for result in call.results
        ]


def _trim(values: str | Iterable[str]) -> list[str]:
    written = (values,) if isinstance(values, str) else values
    return [name for name in map(str.strip, written) if name]


class LabelRequest(Struct, frozen=True, array_like=True):
    """The judgments requested by some records of one conversation.

    Attributes:
      conversation_id: the conversation.
      documents: the distinct document names in the records, sorted.
      topic_attribute: `qrels_topic` of `LabelKeys`.
      records: the parts of the records that decide the attributes of the conversation, by the
        digests of the whole records in hexadecimal; empty if no attribute holds the topic.
      without_name: number of results without a document name.

    Example:
      >>> from goodgain import LabelRequest
      >>> list(LabelRequest("c", ["a", "b"]).names())
      ['c', 'a', 'b']
    """

    conversation_id: str
    documents: list[str]
    topic_attribute: str | None = None
    records: dict[str, SearchCall] = {}
    without_name: int = 0

    def names(self) -> Iterator[str]:
        """The names by which judgments are found, and the texts of each record, joined."""
        yield self.conversation_id
        yield from self.documents
        for record in self.records.values():
            yield "".join((record.record_id or "", *chain(*record.attributes.items())))


def label_request(
    conversation_id: str, calls: Sequence[SearchCall], digests: Sequence[bytes], keys: LabelKeys
) -> LabelRequest:
    """The judgments that these calls of a conversation need; `digests` are their record_digests."""
    of_results = [names for call in calls for names in keys.documents(call)]
    by_attribute = keys.qrels_topic is not None
    return LabelRequest(
        conversation_id,
        sorted({name for names in of_results for name in names}),
        keys.qrels_topic,
        {
            digest.hex(): _keep_deciding_parts(call)
            for digest, call in zip(digests, calls, strict=True)
            if by_attribute
        },
        of_results.count([]),
    )


def _keep_deciding_parts(call: SearchCall) -> SearchCall:
    """The parts of a call that decide the attributes of its conversation."""
    return SearchCall(
        call.conversation_id,
        call.iteration,
        call.turn,
        call.call,
        call.record_id,
        call.timestamp,
        action=call.action,
        attributes=call.attributes,
    )


def document_digest(document: str) -> bytes:
    """An eight-byte digest of the name of a document."""
    return xxh3_64_digest(document.encode())


def judgment_digest(topic: str, document: str, gain: int) -> int:
    """A digest below 2 ** 32 of one judgment, to be summed over all judgments of a run.

    The sum does not depend on order, and two billion judgments fit into a 64-bit counter.
    """
    return xxh32_intdigest(f"{topic}\n{document}\n{gain}".encode())
