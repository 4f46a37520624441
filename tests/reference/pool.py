"""Brute-force reference of SPEC 9, from its text alone: building pools and scoring with them.

Every pair of occurrences that shares a key is verified again. Pool documents are plain lists, and a
pool is a dict of topic to documents in the order of their creation.

Where the SPEC is silent, this reference decides:

  * A topic is trimmed. Documents without one have the topic (None, conversation_id).
  * The canonical JSON of evidence has `fields` and `ids` (name to the sorted list of its values),
    `id` and `url` ([host, path, [[name, value], ...]]); what is absent is left out, an instant is
    `instant` and its microseconds. An absent type is the empty text.
  * Candidates per key are capped as in a turn, and a document registers each evidence once: in the
    order of joining while a pool is built, document by document when a pool is read.
  * Repeated places in a conversation (same call and rank, no record_id, same evidence) are assigned
    to its results in the order of the turn; if several runs have the place, in the order of their
    names.
  * A document whose occurrences are in several pool documents takes that of the first occurrence
    whose pool document no earlier document of the turn has taken.
"""

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import log2

from tests.reference import delivery, metrics
from tests.reference.evidence import keys_of
from tests.reference.occurrences import Tallies, mark_duplicates, occurrences_of
from tests.reference.passages import finds_of
from tests.reference.rules import RULES, rule_name_of
from tests.reference.verification import verify


@dataclass
class Turn:
    """The last turn of a conversation: its topic, occurrences in order, and documents."""

    run: str
    conversation_id: str
    topic: tuple
    occurrences: list
    documents: list
    iterations: int


@dataclass
class PoolDocument:
    """A document of a pool.

    `evidence` in the order of registration, each with the keys under which it was registered;
    `places` as (run, number in the turn, conversation_id, place, evidence); `votes` by
    (run, conversation_id).
    """

    evidence: list = field(default_factory=list)
    places: list = field(default_factory=list)
    votes: dict = field(default_factory=dict)
    given: dict = field(default_factory=dict)

    @property
    def conversations(self):
        return {(run, conversation) for run, _, conversation, _, _ in self.places}

    @property
    def label(self):
        return most_frequent(self.given.values() or self.votes.values())


def most_frequent(labels):
    """The most frequent label, in a tie the lowest; None without labels."""
    counted = Counter(labels)
    return min(counted, key=lambda label: (-counted[label], label)) if counted else None


def last_turn(run, raw_records, topic, max_candidates=256):
    """The last turn of one conversation of a run."""
    parsed = [delivery.parse_record(raw) for raw in raw_records]
    ordered = delivery.in_order(delivery.drop_redeliveries(parsed)[0])
    turn = delivery.last_turn_of(ordered)
    calls_by_iteration = [
        (iteration, list(calls))
        for iteration, calls in groupby(
            delivery.searches_of(ordered, turn),
            key=lambda record: record["iteration"],
        )
    ]
    occurrences = occurrences_of(calls_by_iteration)
    mark_duplicates(occurrences, max_candidates, Tallies())
    for number, occurrence in enumerate(occurrences):
        occurrence.number = number
        call = calls_by_iteration[occurrence.i - 1][1][occurrence.call_position]
        occurrence.place = (
            turn,
            occurrence.iteration,
            call["call"],
            call["record_id"],
            occurrence.rank,
        )
    documents = [
        [occurrence for occurrence in occurrences if occurrence.first is first]
        for first in occurrences
        if first.is_first()
    ]
    conversation_id = ordered[0]["conversation_id"]
    value = (delivery.attributes_of(ordered).get(topic) or "").strip() if topic else ""
    key = (value, None) if value else (None, conversation_id)
    return Turn(run, conversation_id, key, occurrences, documents, len(calls_by_iteration))


def turns_of(run, records, topic, max_candidates=256):
    by_conversation = {}
    for raw in records:
        by_conversation.setdefault(raw["conversation_id"], []).append(raw)
    return [last_turn(run, own, topic, max_candidates) for own in by_conversation.values()]


def build(runs, topic=None, pool=None, max_candidates=256):
    """Pool runs, {name: records}, as {topic: [PoolDocument]}; updates `pool` if given."""
    pool = {} if pool is None else pool
    by_topic = {}
    for run, records in runs.items():
        for turn in turns_of(run, records, topic, max_candidates):
            by_topic.setdefault(turn.topic, []).append(turn)
    for key, turns in by_topic.items():
        held = pool[key] = as_read(pool.get(key, []), max_candidates)
        for turn, document in in_passes(turns):
            found = first_match(held, turn, document)
            if found is None:
                found = PoolDocument()
                held.append(found)
            join(held, found, turn, document, max_candidates)
    return pool


def in_passes(turns):
    """Every document with its turn, in the order in which documents are matched."""
    documents = [(turn, document) for turn in turns for document in turn.documents]
    return sorted(
        documents,
        key=lambda one: (
            pass_of(one[1]),
            sorted(weight(occurrence.evidence) for occurrence in one[1]),
            one[0].run,
            one[0].conversation_id,
            one[0].documents.index(one[1]),
        ),
    )


def pass_of(document):
    if any(has_definitive(occurrence.evidence) for occurrence in document):
        return 1
    return 2 if any(occurrence.evidence.url is not None for occurrence in document) else 3


def has_definitive(evidence):
    definitive = RULES[rule_name_of(evidence.type)]["definitive"]
    return any(name in evidence.ids for name in definitive)


def weight(evidence):
    return (-evidence.attribute_count(), evidence.type or "", canonical_json(evidence))


def canonical_json(evidence):
    value = {}
    if evidence.fields:
        value["fields"] = {name: sorted(values) for name, values in evidence.fields.items()}
    if evidence.generic_id is not None:
        value["id"] = evidence.generic_id
    if evidence.ids:
        value["ids"] = {name: sorted(values) for name, values in evidence.ids.items()}
    if evidence.url is not None:
        value["url"] = evidence.url
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def first_match(held, turn, document, taken=()):
    """The first pool document that verifies and has no place of this conversation yet."""
    own = (turn.run, turn.conversation_id)
    for pooled in held:
        if own not in pooled.conversations and not any(pooled is other for other in taken):
            for occurrence in document:
                if any(verifies(*known, occurrence.evidence) for known in pooled.evidence):
                    return pooled
    return None


def verifies(evidence, kept_keys, other):
    shared = any(key in kept_keys for key in keys_of(other))
    return shared and verify(evidence, other).duplicate


def register(held, found, evidence, max_candidates):
    if not any(known == evidence for known, _ in found.evidence):
        kept = [
            key
            for key in keys_of(evidence)
            if sum(key in keys for other in held for _, keys in other.evidence) < max_candidates
        ]
        found.evidence.append((evidence, kept))


def as_read(held, max_candidates):
    """The documents with their keys registered as when a finished pool is read."""
    read = [replace(pooled, evidence=[]) for pooled in held]
    for empty, finished in zip(read, held, strict=True):
        for evidence, _ in finished.evidence:
            register(read, empty, evidence, max_candidates)
    return read


def join(held, found, turn, document, max_candidates):
    for occurrence in document:
        register(held, found, occurrence.evidence, max_candidates)
        found.places.append(
            (
                turn.run,
                occurrence.number,
                turn.conversation_id,
                occurrence.place,
                occurrence.evidence,
            )
        )
    labelled = [occurrence.gain for occurrence in document if occurrence.gain is not None]
    if labelled:
        found.votes[turn.run, turn.conversation_id] = labelled[0]


def matches(held, turn, run_name):
    """For each document of the turn, its pool document or None."""
    placed = sorted(
        (
            (run, number, place, evidence, pooled)
            for pooled in held
            for run, number, conversation, place, evidence in pooled.places
            if conversation == turn.conversation_id and run_name in (None, run)
        ),
        key=lambda placed: placed[:2],
    )
    for occurrence in turn.occurrences:
        occurrence.pooled = None
        for here in placed:
            if here[2:4] == (occurrence.place, occurrence.evidence):
                occurrence.pooled = here[4]
                placed.remove(here)
                break
    taken, found = [], {}
    for number, document in enumerate(turn.documents):
        for occurrence in document:
            pooled = occurrence.pooled
            if pooled is not None and not any(pooled is other for other in taken):
                taken.append(pooled)
                found[number] = pooled
                break
    for _, document in in_passes([turn]):
        number = turn.documents.index(document)
        if number not in found:
            scored = Turn(None, None, turn.topic, [], [], 0)  # of no run: no place excludes a match
            pooled = first_match(held, scored, document, taken)
            if pooled is not None:
                taken.append(pooled)
                found[number] = pooled
    return [found.get(number) for number in range(len(turn.documents))]


def score(turn, pool, run_name=None, threshold=2, max_candidates=256):
    """Rows by i, the row at N, counts, and the input of ranking metrics for one turn."""
    held = as_read(pool.get(turn.topic, []), max_candidates)
    found = matches(held, turn, run_name)
    good = [pooled for pooled in held if pooled.label is not None and pooled.label >= threshold]
    gains = sum(pooled.label for pooled in good)
    effective = {}
    for document, pooled in zip(turn.documents, found, strict=True):
        label = None if pooled is None else pooled.label
        effective[id(document[0])] = (document[0].gain if label is None else label, label)
    for occurrence in turn.occurrences:
        occurrence.gain, occurrence.pool_label = effective[id(occurrence.first)]
    rows = []
    for i in range(1, turn.iterations + 1):
        own = [occurrence for occurrence in turn.occurrences if occurrence.i == i]
        rows.append(
            {"i": i, **metrics.sets_of_iteration(own, finds_of(own, threshold, "first")(i))}
        )
        rows[-1].update(metrics.cumulative(rows))
        firsts = [
            occurrence
            for occurrence in turn.occurrences
            if occurrence.is_first()
            and occurrence.i <= i
            and occurrence.pool_label is not None
            and occurrence.pool_label >= threshold
        ]
        discounted = sum(first.pool_label / log2(first.i + 1) for first in firsts)
        rows[-1]["pool_recall_at_i"] = len(firsts) / len(good) if good else None
        rows[-1]["pool_nCG_at_i"] = (
            sum(first.pool_label for first in firsts) / gains if good else None
        )
        rows[-1]["pool_nDCG_at_i"] = discounted / gains if good else None
    halves = [i for i, row in enumerate(rows, 1) if good and row["pool_recall_at_i"] >= 0.5]
    row = {
        **metrics.at_the_end(rows),
        "unlabelled": sum(occurrence.gain is None for occurrence in turn.occurrences),
        "pool_recall": rows[-1]["pool_recall_at_i"] if rows else None,
        "pool_nCG": rows[-1]["pool_nCG_at_i"] if rows else None,
        "pool_nDCG": rows[-1]["pool_nDCG_at_i"] if rows else None,
        "half_of_pool_reached": int(bool(halves)) if good and rows else None,
        "iterations_for_half_of_pool": halves[0] if halves else None,
        "pool_good": len(good),
        "pool_best": max(
            (pooled.label for pooled in held if pooled.label is not None), default=None
        ),
        "pool_found": " ".join(
            str(next(n for n, other in enumerate(held, 1) if other is pooled))
            for pooled in found
            if pooled is not None and any(pooled is other for other in good)
        ),
    }
    firsts = [occurrence for occurrence in turn.occurrences if occurrence.is_first()]
    return {
        "iterations": rows,
        "conversation": row,
        "labels": [-1 if first.pool_label is None else first.pool_label for first in firsts],
        "pool": sorted(pooled.label for pooled in held if pooled.label is not None),
        "outside": sum(pooled is None for pooled in found),
        "outside_pool": sum(
            first.pool_label is None and (first.gain or 0) >= threshold for first in firsts
        ),
        "weak": sum(is_weak(document) for document in turn.documents),
    }


def is_weak(document):
    """Whether no occurrence verifies an exact copy of itself."""
    return not any(
        verifies(occurrence.evidence, keys_of(occurrence.evidence), occurrence.evidence)
        for occurrence in document
    )
