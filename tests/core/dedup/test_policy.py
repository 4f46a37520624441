"""The policy: which duplicate rules apply (all of them, only those for ids, or none)."""

from itertools import pairwise

import pytest

from goodgain.transforms.core.dedup.duplicates import Deduplicator
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.errors import RulesError
from tests.core.direct import call_fingerprint

LONG = "a text that is long enough to be compared, and then some more words"
PAIRS = {
    "ids": ({"ids": {"doc_id": "a"}}, {"ids": {"doc_id": "a"}}),
    "generic_id": ({"id": "x", "title": "t"}, {"id": "x"}),
    "named_id": ({"ids": {"chunk_id": "x"}, "title": "t"}, {"ids": {"chunk_id": "x"}}),
    "url": ({"url": "http://x/a"}, {"url": "http://x/a"}),
    "fields": (
        {"entity_type": "File", "snippet": LONG},
        {"entity_type": "File", "snippet": LONG, "title": "t"},
    ),
    "identical": ({"entity_type": "Event", "fields": {"start": "2025-01-01", "end": "2025-01-02"}},)
    * 2,
}

BY_IDS = ("ids", "generic_id", "named_id")


def steps(policy, results):
    rules = read_rules(read_shipped_rules())
    table = compile_rules(rules.model_copy(update={"policy": policy}))
    deduplicator = Deduplicator(table)
    found = [deduplicator.add(result) for result in call_fingerprint(list(results)).results]
    return [duplicate and duplicate.verdict.step.value for duplicate in found]


@pytest.mark.parametrize("step", PAIRS)
def test_each_policy_applies_its_steps(step):
    assert steps("full", PAIRS[step]) == [None, step]
    assert steps("ids", PAIRS[step]) == [None, step if step in BY_IDS else None]
    assert steps("none", PAIRS[step]) == [None, None]


def test_the_policy_ids_still_separates_types_and_differing_ids():
    one = {"entity_type": "File", "id": "x"}
    for other in ({"entity_type": "Event", "id": "x"}, {"entity_type": "File", "id": "y"}):
        assert steps("ids", (one, other)) == [None, None]


def test_weaker_policies_find_fewer_duplicates():
    results = [result for pair in PAIRS.values() for result in pair] * 2
    counts = [
        sum(step is not None for step in steps(policy, results))
        for policy in ("full", "ids", "none")
    ]
    assert all(more > fewer for more, fewer in pairwise(counts))
    assert counts[-1] == 0


def test_shipped_rules_have_the_policy_full():
    assert read_rules(read_shipped_rules()).policy == "full"


def test_an_unknown_policy_is_reported_with_its_line():
    with pytest.raises(RulesError, match=r"rules\.yaml:1: policy: "):
        read_rules("policy: some\ntypes: {default: {}}\n", "rules.yaml")
