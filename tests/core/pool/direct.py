"""Build pools and score with them using the core alone, for their tests."""

import json
from pathlib import Path

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.pool.document import topic_of
from goodgain.transforms.core.pool.document_rows import document_row
from goodgain.transforms.core.pool.files import PoolFiles, PoolUse, shard_of
from goodgain.transforms.core.pool.matching import TopicPool
from goodgain.transforms.core.pool_building.building import build_topic
from goodgain.transforms.core.pool_building.contribution import measure_contribution
from goodgain.transforms.core.scoring.delivery import deliver
from goodgain.transforms.core.scoring.fold import fold_turn
from goodgain.transforms.core.scoring.folded_conversation import fold_conversation
from goodgain.transforms.core.scoring.score import score_conversation
from tests.core.direct import fingerprints, scoring, shipped_rules


def contributions(runs, topic=None, rules=None):
    rules = rules or shipped_rules()
    return [
        measure_contribution(run, fold_conversation(conversation_id, calls, scoring(rules)), topic)
        for run, records in runs.items()
        for conversation_id, calls in fingerprints(records, rules, keep_records=True).items()
    ]


def build(runs, topic=None, held=None, replaced=(), rules=None):
    """Built pools by topic; `held` has the documents of a pool to update, by topic."""
    rules = rules or shipped_rules()
    held = held or {}
    by_topic = {key: [] for key in held}
    for pooled in contributions(runs, topic, rules):
        by_topic.setdefault(pooled.topic, []).append(pooled)
    return {
        key: build_topic(key, held.get(key, ()), own, rules, Fingerprinter(rules), replaced)
        for key, own in by_topic.items()
    }


def topic_pool(documents, rules=None, preferred=None):
    rules = rules or shipped_rules()
    return TopicPool(documents, rules, Fingerprinter(rules), preferred)


def fold_turns(records, topic=None, rules=None):
    """The topic and the folded last turn of each conversation."""
    rules = rules or shipped_rules()
    found = {}
    for conversation_id, calls in fingerprints(records, rules, keep_records=True).items():
        delivered = deliver(calls)
        key = topic_of(conversation_id, delivered.attributes(), topic)
        found[conversation_id] = key, fold_turn(delivered.searches(), rules, 2)
    return found


class Pools:
    """Pools of topics held in memory, for `score_conversation`."""

    def __init__(self, built, rules=None):
        self._built = built
        self._rules = rules

    def of_topic(self, topic):
        built = self._built.get(topic)
        return topic_pool(built.documents if built else (), self._rules)


def use(run=None, topic="topic"):
    """A `PoolUse` for pools in memory, without files."""
    return PoolUse(PoolFiles("", "", 1), topic, run)


def score(records, built, run=None, topic="topic", rules=None, **options):
    """A ConversationScore by conversation_id."""
    settings = scoring(rules, pool=use(run, topic), **options)
    return {
        conversation_id: score_conversation(
            conversation_id, calls, 0, settings, pools=Pools(built, rules)
        )
        for conversation_id, calls in fingerprints(records, rules, keep_records=True).items()
    }


def write_pools(folder, built, shards=3):
    """Write the pools of all topics as JSON Lines, and return their files."""
    files = PoolFiles(str(folder), ".jsonl", shards)
    lines = {path: [] for path in files.paths()}
    for topic, documents in built.items():
        path = files.path(shard_of(topic, shards))
        lines[path] += [
            json.dumps(document_row(document)) + "\n" for document in documents.documents
        ]
    for path, own in lines.items():
        Path(path).write_text("".join(own))
    return files
