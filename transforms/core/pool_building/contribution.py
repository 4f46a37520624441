"""What a conversation contributes to a pool: the documents of its last turn (SPEC 9)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.judgments.exclusions import keep_in_records
from goodgain.transforms.core.pool.document import PooledPlace, Topic, topic_of
from goodgain.transforms.core.pool.matching import documents_of, records_of
from goodgain.transforms.core.records.search_call import Result
from goodgain.transforms.core.scoring.fold import iteration_numbers
from goodgain.transforms.core.scoring.folded_conversation import FoldedConversation


class Occurrence(Struct, frozen=True, array_like=True):
    """One result and its place; `place.evidence` is not set yet."""

    result: Result
    place: PooledPlace


class Contribution(Struct, frozen=True, array_like=True):
    """The documents of one conversation in order, each as first occurrence and copies."""

    run: str
    conversation_id: str
    topic: Topic
    documents: list[list[Occurrence]]


def measure_contribution(
    run: str, folded: FoldedConversation, topic_attribute: str | None
) -> Contribution:
    """The contribution of a run's conversation, folded from calls with their records."""
    topic = topic_of(folded.conversation_id, folded.attributes, topic_attribute)
    occurrences = list(_occurrences(run, folded))
    documents = [
        [occurrences[place] for place in places] for places in documents_of(folded.turn.duplicates)
    ]
    return Contribution(run, folded.conversation_id, topic, documents)


def _occurrences(run: str, folded: FoldedConversation) -> Iterator[Occurrence]:
    turn = folded.turn
    # Judgments label documents, traces and labels of results each occurrence.
    labels = turn.labels
    if folded.judgments is None:
        labels = [result.gain for result in turn.results]
    at = count()
    numbers = iteration_numbers(turn.calls)
    records = records_of(keep_in_records(turn.calls, folded.kept.indexes))
    for i, call, record in zip(numbers, turn.calls, records, strict=True):
        for rank, result in enumerate(record.results, start=1):
            place = PooledPlace(
                run,
                folded.conversation_id,
                number := next(at),
                call.turn,
                i,
                call.iteration,
                call.call,
                call.record_id,
                rank,
                0,
                record.query,
            )
            yield Occurrence(replace(result, gain=labels[number]), place)
