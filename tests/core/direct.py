"""Score JSON records with the core alone, for its tests."""

from collections import Counter, defaultdict
from functools import cache

from msgspec.structs import asdict, replace

from goodgain.transforms.core.dedup.evidence import read_evidence
from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rules import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, shipped_rules_text
from goodgain.transforms.core.dedup.verification import verify
from goodgain.transforms.core.ranking import RankingEvaluator, parse_ranking_metrics
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.scoring.settings import Scoring


@cache
def shipped_rules(max_candidates=256, policy="full"):
    rules = compile_rules(read_rules(shipped_rules_text()))
    return replace(rules, max_candidates=max_candidates, policy=policy)


@cache
def shipped_fingerprinter():
    return Fingerprinter(shipped_rules())


def scoring(rules=None, metrics=("ndcg@10", "mrr"), **options):
    evaluator = RankingEvaluator(parse_ranking_metrics(metrics), 2)
    return Scoring(rules or shipped_rules(), evaluator, **options)


def fingerprints(records, rules=None, keep_encoding=True):
    """Fingerprints of calls by conversation_id, in the order of the records."""
    fingerprinter = shipped_fingerprinter() if rules is None else Fingerprinter(rules)
    by_conversation = defaultdict(list)
    for record in records:
        call = parse_mapping(record)
        by_conversation[call.conversation_id].append(
            fingerprinter.call_fingerprint(call, keep_encoding)
        )
    return by_conversation


def score(records, rules=None, keep_encoding=True, **options):
    """A ConversationScore by conversation_id."""
    options.setdefault("keep_duplicates", True)
    settings = scoring(rules, **options)
    return {
        conversation_id: score_conversation(conversation_id, calls, 0, settings)
        for conversation_id, calls in fingerprints(records, rules, keep_encoding).items()
    }


def score_one(records, rules=None, **options):
    """The score of the only conversation; records without an id belong to `c`."""
    records = [{"conversation_id": "c", "iteration": 1, **record} for record in records]
    (only,) = score(records, rules, **options).values()
    return only


def total_counts(scores):
    total = Counter()
    for one in scores.values():
        total.update(one.counts)
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
    return found.duplicate, found.step.value, found.clause
