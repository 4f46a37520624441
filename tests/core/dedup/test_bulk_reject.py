"""Rejecting many candidates at once gives the same as rejecting them one by one (SPEC 4.3)."""

from collections import Counter
from random import Random

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.dedup import bulk_reject
from goodgain.transforms.core.dedup import duplicates as deduplication
from goodgain.transforms.core.dedup.bulk_reject import BulkReject
from goodgain.transforms.core.dedup.duplicates import Deduplicator
from goodgain.transforms.core.dedup.evidence import read_evidence
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.dedup.verification import Step, verify
from tests.adversarial import ResultSource, trace
from tests.core.direct import call_fingerprint, shipped_rules
from tests.core.scoring.test_against_reference import assert_equals_reference

DECIDED = {Step.TYPE, Step.IDS, Step.URL, Step.URL_IDENTITY, Step.FIELDS}
SEEDS = st.integers(min_value=0, max_value=2**32)


def fold(results, rules=None):
    deduplicator = Deduplicator(rules or shipped_rules())
    return [
        deduplicator.add(result) for result in call_fingerprint(results, rules).results
    ], deduplicator


@pytest.fixture
def always_bulk_reject(monkeypatch):
    """Reject in bulk even if there are few candidates."""
    monkeypatch.setattr(deduplication, "MANY_CANDIDATES", 1)
    monkeypatch.setattr(bulk_reject, "_FEW", 0)


def evidence_of(results):
    return [read_evidence(result) for result in call_fingerprint(results).results]


def with_many_values(results, random):
    """Results with further values for some ids, from a small range so that they collide."""
    for result in results:
        for name, value in (result.get("ids") or {}).items():
            if random.random() < 0.2:
                more = random.sample(range(10), random.choice((1, 2, 6)))
                result["ids"][name] = [
                    *(value if isinstance(value, list) else [value]),
                    *map(str, more),
                ]
        yield result


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["full", "ids"])
def test_every_step_equals_that_of_verification(policy, always_bulk_reject):
    rules = shipped_rules(policy=policy)
    seen, missed, several = Counter(), Counter(), Counter()
    for seed in range(80):
        random = Random(seed)
        source = ResultSource(random)
        results = with_many_values([source.result() for _ in range(60)], random)
        *earlier, last = evidence_of(results)
        remaining, rejected_by_step = BulkReject(rules, earlier).reject(
            last, np.arange(len(earlier))
        )
        left = remaining.tolist()
        rejected = {place: step for step, gone in rejected_by_step for place in gone.tolist()}
        assert left == sorted({*range(len(earlier))} - rejected.keys())
        for place, occurrence in enumerate(earlier):
            verdict = verify(occurrence, last, rules)
            if place in rejected:
                assert (verdict.duplicate, verdict.step) == (False, rejected[place])
                seen[verdict.step] += 1
                several[last.layout.multi_valued, occurrence.layout.multi_valued] += 1
            elif not verdict.duplicate and not is_crowded(occurrence):
                missed[verdict.step] += 1
    decided = {Step.TYPE, Step.IDS} if policy == "ids" else DECIDED
    assert seen.keys() == decided
    assert len(several) == 4
    # Fields that the rules don't name have no column, though `default` rejects on them.
    assert not missed.keys() & (decided - {Step.FIELDS})
    assert missed[Step.FIELDS] < 0.2 * (seen[Step.FIELDS] + 1)


def is_crowded(evidence):
    """Whether an id has more values than a column keeps."""
    return any(
        isinstance(value, frozenset) and len(value) > 4 for value in evidence.values.values()
    )


@pytest.mark.slow
@given(seed=SEEDS)
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_scores_equal_those_of_the_reference(seed, always_bulk_reject):
    assert_equals_reference(trace(Random(seed), conversations=3))


def hub(random, results):
    """Files of one site with few names, URLs and authors: each has hundreds of candidates."""
    for _ in range(results):
        document = random.randrange(results)
        result = {
            "entity_type": random.choice(["File", "File", "File", "Event", None]),
            "ids": {"site_id": "s", "file_id": [f"{document}"]},
            "url": f"http://x/{document % 7}?id={document % 50}",
            "title": f"title {document % 3}",
            "fields": {"author": f"a{document % 5}", "file_type": random.choice("xy")},
        }
        if random.random() < 0.3:
            del result["ids"]["file_id"]
        if random.random() < 0.3:
            del result["url"]
        if random.random() < 0.1:
            result["ids"]["site_id"] = ["s", "t"]
        yield result


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_large_conversations_are_decided_as_by_comparing_each_pair(seed, monkeypatch):
    results = list(hub(Random(seed), 1_000))
    decisions, bulk = fold(results)
    monkeypatch.setattr(deduplication, "MANY_CANDIDATES", len(results))
    expected, pair_by_pair = fold(results)
    assert decisions == expected
    assert bulk.near_misses == pair_by_pair.near_misses
    assert bulk.cut == pair_by_pair.cut > 0
    assert bulk.near_misses.keys() > DECIDED


def passages_of(random, results):
    """Passages of a few pages: ids, contents and snippets that may be missing or collide."""
    for result in hub(random, results):
        result["ids"]["chunk_id"] = random.sample("abcdefg", random.choice((1, 1, 2, 6)))
        for name in ("content", "snippet"):
            if random.random() < 0.6:
                result[name] = f"{name} {random.randrange(3)}"
        if random.random() < 0.6:
            del result["ids"]["chunk_id"]
        yield result


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_large_conversations_of_passages_are_decided_as_by_comparing_each_pair(seed, monkeypatch):
    results = list(passages_of(Random(seed), 600))
    rules = shipped_rules(unit="passage")
    decisions, bulk = fold(results, rules)
    monkeypatch.setattr(deduplication, "MANY_CANDIDATES", len(results))
    expected, pair_by_pair = fold(results, rules)
    assert decisions == expected
    assert bulk.near_misses == pair_by_pair.near_misses
    assert bulk.near_misses[Step.PASSAGE] > 1_000


def crowded_rules():
    """Rules with more ids and fields than short numbers; those named `last...` have none."""
    content = yaml.safe_load(read_shipped_rules())
    file = content["types"]["File"]
    file["definitive"] += [*(f"id_{number}" for number in range(40)), "last"]
    file["container"] += ["last_container"]
    file["reject_on"] += [*(f"field_{number}" for number in range(80)), "last"]
    return compile_rules(read_rules(yaml.safe_dump(content)))


def test_ids_without_a_short_number_decide_before_the_url(monkeypatch):
    rules = crowded_rules()
    ids = [{"last": f"{number % 50}"} for number in range(200)]
    ids += [{"last_container": f"{number}"} for number in range(200)]
    results = [
        {
            "entity_type": "File",
            "ids": {**id_, "site_id": "s"},
            "url": f"http://x/{number}",
            "fields": {"last": f"{number}"},
        }
        for number, id_ in enumerate(ids)
    ]
    decisions, bulk = fold(results, rules)
    monkeypatch.setattr(deduplication, "MANY_CANDIDATES", len(results))
    expected, pair_by_pair = fold(results, rules)
    assert decisions == expected
    assert sum(duplicate is not None for duplicate in decisions) == 150
    assert bulk.near_misses == pair_by_pair.near_misses


@pytest.mark.parametrize("kind", ["plain", "several", "untyped"])
def test_most_candidates_are_rejected_without_verifying_them(kind, monkeypatch):
    """So the cost per result hardly grows with the size of the conversation."""
    verified = []
    verify_pair = deduplication.verify
    monkeypatch.setattr(
        deduplication, "verify", lambda *pair: verified.append(pair) or verify_pair(*pair)
    )
    files = [
        {
            "entity_type": "File",
            "ids": {"site_id": "s", "file_id": [f"{number}"]},
            "url": f"/{number}",
        }
        for number in range(2_000)
    ]
    for number, file in enumerate(files):
        if kind == "several":
            file["ids"]["file_id"].append(f"another {number}")
        elif kind == "untyped" and number % 2:
            del file["entity_type"]
    _, deduplicator = fold(files)
    assert deduplicator.near_misses.total() > 256 * 1_700
    assert len(verified) < 50 * deduplication.MANY_CANDIDATES
