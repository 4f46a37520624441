"""Score JSON records with the core alone, for its tests: in Python, and in native code if built.

Both must agree, so a test of one is a test of the other.
"""

from collections import Counter, defaultdict
from functools import cache

import msgspec
from msgspec.structs import asdict, replace

from goodgain.transforms.core.dedup.evidence import read_evidence
from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.dedup.verification import verify
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.metrics.plan import plan_of
from goodgain.transforms.core.native import native_module
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.packers import packer_for
from goodgain.transforms.core.scoring.packing import Packer, Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.settings import Scoring

_encode = msgspec.msgpack.Encoder(order="sorted").encode


@cache
def shipped_rules(max_candidates=256, policy="full", unit="document"):
    rules = compile_rules(read_rules(read_shipped_rules()), unit)
    return replace(rules, max_candidates=max_candidates, policy=policy)


@cache
def shipped_fingerprinter():
    return Fingerprinter(shipped_rules())


def scoring(rules=None, metrics=("ndcg@10", "mrr"), **options):
    return Scoring(rules or shipped_rules(), metrics=tuple(metrics), **options)


def plan(metrics=("ndcg@10", "mrr"), max_i=4, costs=(), groups=(), **more):
    """The plan of a run with these ranking metrics, costs and groups of metrics."""
    groups = (*groups, *map(COSTS.of, costs))
    return plan_of(parse_ranking_metrics(metrics), max_i, groups, **more)


def _payloads(records, rules, keep_records=False):
    """A payload for each record by conversation_id, in the order of the records."""
    packing = Packing(rules or shipped_rules(), keep_records)
    in_python, as_built = Packer(packing), packer_for(packing)
    by_conversation = defaultdict(list)
    for call in map(parse_mapping, records):
        (packed,) = [*in_python.add(call, 0), *in_python.rest()]
        assert [*as_built.add(call, 0), *as_built.rest()] == [packed]
        by_conversation[call.conversation_id].append(packed.payload)
    return by_conversation


def fingerprints(records, rules=None, keep_records=False):
    """Fingerprints of calls by conversation_id, in the order of the records."""
    return {
        conversation_id: unpack(payloads).calls
        for conversation_id, payloads in _payloads(records, rules, keep_records).items()
    }


def score_payloads(conversation_id, payloads, settings, rejected_records=0):
    """The score of a conversation from its payloads, which are not compressed.

    Native code gives the same.
    """
    frame = unpack(payloads)
    rejected = frame.rejected_records + rejected_records
    native = None if native_module() is None else PayloadScorer(settings)
    score = score_conversation(
        conversation_id,
        frame.calls,
        rejected,
        settings,
        frame.external,
        labels=frame.labels,
        outcomes=frame.outcomes,
    )
    if native is not None:
        # Native code leaves labels that match no result to Python.
        folded = native._folder.fold(payloads, *native._topical(conversation_id))
        assert score.rejected_labels or folded is not None
        folded = native.score(conversation_id, payloads, rejected_records)
        assert _encode(folded) == _encode(score)
    return score


def score(records, rules=None, **options):
    """A ConversationScore by conversation_id."""
    options.setdefault("write_duplicates", True)
    settings = scoring(rules, **options)
    return {
        conversation_id: score_payloads(conversation_id, payloads, settings)
        for conversation_id, payloads in _payloads(records, rules).items()
    }


def score_one(records, rules=None, **options):
    """The score of the only conversation; records without an id belong to `c`."""
    records = [{"conversation_id": "c", "iteration": 1, **record} for record in records]
    (only,) = score(records, rules, **options).values()
    return only


def by_conversation(records):
    """The records of each conversation, by its id."""
    grouped = {}
    for record in records:
        grouped.setdefault(record["conversation_id"], []).append(record)
    return grouped


def total_counts(scores):
    total = Counter()
    for score in scores.values():
        total.update(score.counts)
    return total


def near_misses(scores):
    prefix = "near_misses_by_step."
    return {
        name.removeprefix(prefix): pairs
        for name, pairs in total_counts(scores).items()
        if name.startswith(prefix)
    }


def duplicates(scores):
    """Duplicate rows as dicts, ordered by conversation and place."""
    return [asdict(row) for name in sorted(scores) for row in scores[name].duplicates]


def result_fingerprint(result, rules=None):
    """The fingerprint of one JSON result."""
    return call_fingerprint([result], rules).results[0]


def call_fingerprint(results, rules=None):
    record = {"conversation_id": "c", "iteration": 1, "results": list(results)}
    (calls,) = fingerprints([record], rules).values()
    return calls[0]


def evidence(result, rules=None):
    return read_evidence(result_fingerprint(result, rules))


def verdict(one, other, rules=None):
    """(duplicate, step, clause) of a pair of JSON results, the same in both orders."""
    first, second = evidence(one, rules), evidence(other, rules)
    found = verify(first, second, rules or shipped_rules())
    assert found == verify(second, first, rules or shipped_rules())
    for pair in ([one, other], [other, one]):
        assert score_one([{"results": pair}], rules).conversation.DupR <= found.duplicate
    return found.duplicate, found.step.value, found.clause
