"""The contribution of one conversation to a pool: the documents of its last turn (SPEC 9)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.pool.document import PooledPlace, Topic, topic_of
from goodgain.transforms.core.pool.turn_documents import documents_of, records_of
from goodgain.transforms.core.records.search_call import Gain, Result
from goodgain.transforms.core.scoring.delivery import deliver
from goodgain.transforms.core.scoring.fold import FoldedTurn, fold_turn, iteration_numbers


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


def contribution(
    run: str,
    conversation_id: str,
    fingerprints: Iterable[CallFingerprint],
    rules: RuleTable,
    topic_attribute: str | None,
) -> Contribution:
    """The contribution of a run's conversation.

    Args:
      fingerprints: every delivery of every call, with canonical encodings.
    """
    delivered = deliver(fingerprints)
    topic = topic_of(conversation_id, delivered.attributes(), topic_attribute)
    turn = fold_turn(delivered.of_last_turn(), rules, good_gain_threshold=1)
    occurrences = list(_occurrences(run, conversation_id, turn))
    documents = [
        [occurrences[place] for place in places] for places in documents_of(turn.duplicates)
    ]
    return Contribution(run, conversation_id, topic, documents)


def _occurrences(run: str, conversation_id: str, turn: FoldedTurn) -> Iterable[Occurrence]:
    number = count()
    numbers = iteration_numbers(turn.calls)
    for i, call, record in zip(numbers, turn.calls, records_of(turn.calls), strict=True):
        for rank, result in enumerate(record.results, start=1):
            place = PooledPlace(
                run,
                conversation_id,
                next(number),
                call.turn,
                i,
                call.iteration,
                call.call,
                call.record_id,
                rank,
                0,
                record.query,
            )
            yield Occurrence(result, place)


def without_label(result: Result) -> Result:
    """The part of a result that a pool keeps: its evidence, without label and score."""
    return replace(result, gain=None, score=None, reference_id=None)


def vote_of(occurrences: Iterable[Occurrence]) -> Gain | None:
    """A conversation's vote on a document: the label of its first labelled occurrence."""
    return next((one.result.gain for one in occurrences if one.result.gain is not None), None)
