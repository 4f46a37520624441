"""Fingerprints: equal evidence gives equal bytes, and only equal evidence does (SPEC 4)."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.records.parsing import parse_mapping
from tests.adversarial import ResultSource
from tests.core.direct import (
    call_fingerprint,
    result_fingerprint,
    shipped_fingerprinter,
    shipped_rules,
)
from tests.reference.evidence import evidence_of


def identity(result):
    found = result_fingerprint(result)
    return found.codes, found.digests


def reverse_maps(result):
    """The result with its entries, those of its maps, and the values of its lists reversed."""
    reversed_result = dict(reversed(result.items()))
    for name in ("ids", "fields"):
        if result.get(name):
            reversed_result[name] = {
                key: value if isinstance(value, str) else value[::-1]
                for key, value in reversed(result[name].items())
            }
    return reversed_result


@pytest.mark.slow
@given(seed=st.integers(min_value=0, max_value=2**32))
@settings(max_examples=100)
def test_bytes_are_equal_only_for_equal_evidence(seed):
    source = ResultSource(Random(seed))
    results = [source.result() for _ in range(12)]
    evidence = [evidence_of(result) for result in results]
    codes = [identity(result) for result in results]
    for index in range(len(results)):
        for other in range(index):
            assert (codes[index] == codes[other]) == (evidence[index] == evidence[other])


@pytest.mark.slow
@given(seed=st.integers(min_value=0, max_value=2**32))
@settings(max_examples=100)
def test_order_of_maps_and_lists_does_not_matter(seed):
    source = ResultSource(Random(seed))
    for _ in range(6):
        result = source.result()
        assert identity(reverse_maps(result)) == identity(result)


EQUAL = [
    ({"entity_type": "Email"}, {"entity_type": " emailmessage "}),
    ({"entity_type": " WIKI"}, {"entity_type": "wiki"}),
    ({"entity_type": "  "}, {}),
    ({"ids": {"b": ["2", "1", "2"], "a": "1"}}, {"ids": {"a": ["1 "], "b": ["1", "2"]}}),
    ({"ids": {"a": ["", " "]}, "fields": {"b": [" "]}}, {}),
    ({"id": " "}, {}),
    ({"id": "A@B"}, {"id": "a@b"}),
    ({"url": "http://x/a?utm_source=1#z"}, {"url": "//www.X/a/"}),
    ({"url": "http://x/a?id=1&id=2"}, {"url": "http://x/a?id=2&id=1"}),
    ({"title": "Straße "}, {"title": "STRASSE"}),
    ({"fields": {"start": "2024-01-01"}}, {"fields": {"start": "2024-01-01T02:00+02:00"}}),
    ({"fields": {"to": ["b", "A"]}}, {"fields": {"to": ["a", "B", "b "]}}),
    ({"fields": {"x": ["a", ""], "y": []}}, {"fields": {"x": "a"}}),
    ({"fields": {"title": "a", "snippet": "b", "content": "c"}}, {}),
    ({"ids": {"doc_id": "1"}, "id": "g"}, {"ids": {"doc_id": "1"}}),
    (
        {"title": "a", "reference_id": "turn1search1"},
        {"title": "a", "reference_id": "turn1search2"},
    ),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_pairs_with_equal_evidence(one, other):
    assert identity(one) == identity(other)


DIFFERENT = [
    ({"id": "a"}, {"id": "A"}),
    ({"ids": {"a": "1"}}, {"ids": {"b": "1"}}),
    ({"ids": {"a": "1"}}, {"fields": {"a": "1"}}),
    ({"ids": {"a": ["1", "2"]}}, {"ids": {"a": ["1"], "b": ["2"]}}),
    ({"fields": {"x": ["a", "b"]}}, {"fields": {"x": "a b"}}),
    ({"fields": {"start": "2024-01-01"}}, {"fields": {"start": "1704067200000000"}}),
    ({"fields": {"author": "2024-01-01"}}, {"fields": {"author": "2024-01-01T00:00Z"}}),
    ({"title": "a"}, {"snippet": "a"}),
    ({"fields": {"x": "a", "y": "b"}}, {"fields": {"x": "b", "y": "a"}}),
    ({"url": "http://x/a?b=1"}, {"url": "http://x/a"}),
    ({"url": "http://x/a?v=1"}, {"url": "http://x/a?v=2"}),
    ({"url": "http://x/a?b=1&c=2"}, {"url": "http://x/a?b=1c&=2"}),
    ({"url": "http://x/a?b=1&c=2"}, {"url": "http://x/a?b=1%00c&=2"}),
    ({"url": "http://x/a?id=1&id=2"}, {"url": "http://x/a?id=12&id="}),
    # SPEC 2 ignores these names in `fields` alone.
    ({"ids": {"title": "1"}}, {}),
    ({"ids": {"snippet": "1"}}, {"ids": {"content": "1"}}),
    ({"ids": {"title": "1"}}, {"fields": {"title": "1"}}),
    ({"entity_type": "File", "ids": {"doc_id": "1"}, "id": "g"}, {"ids": {"doc_id": "1"}}),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_pairs_with_different_evidence(one, other):
    assert identity(one) != identity(other)


def test_generic_id_is_dropped_if_the_type_has_a_definitive_id():
    with_both = {"ids": {"file_id": "1"}, "id": "g"}
    assert identity({"entity_type": "File", **with_both}) == identity(
        {"entity_type": "File", "ids": {"file_id": "1"}}
    )
    for entity_type in (None, "Wiki", "Event"):
        typed = {"entity_type": entity_type}
        assert identity({**typed, **with_both}) != identity({**typed, "ids": {"file_id": "1"}})
    blank = {"entity_type": "File", "ids": {"file_id": " "}, "id": "g"}
    assert identity(blank) == identity({"entity_type": "File", "id": "g"})


def test_short_values_of_different_attributes_never_collide():
    """Otherwise results would be candidates by keys that they do not share (SPEC 4.2)."""
    values = [f"id{end}" for end in "0123456789abcdefghijklmnopqrstuvwxyz"]
    results = [{"ids": {name: value}} for name in [*shipped_rules().ids, "odd"] for value in values]
    results += [{name: value} for name in ("id", "title") for value in values]
    names = ("subject", "file_name", "display_name")
    results += [{"fields": {name: value}} for name in names for value in values]
    assert len({result_fingerprint(result).digests for result in results}) == len(results)


def test_names_unknown_to_the_rules_are_kept():
    results = [{"entity_type": " Wiki", "ids": {"odd": "1", "doc_id": "2", "empty": " "}}]
    assert sorted(call_fingerprint(results).names.values()) == ["odd", "wiki"]


def test_fingerprints_do_not_contain_texts():
    snippet = "a secret snippet that is certainly longer than fifty characters"
    found = result_fingerprint(
        {"title": snippet, "snippet": snippet, "fields": {"author": snippet}}
    )
    assert len(found.codes) == 1 + 4  # the type; the snippet with its key; title and author
    assert len(found.digests) == 4 * 8
    assert snippet.encode() not in found.digests


def test_label_and_score_are_kept_but_are_not_evidence():
    one, other = (
        result_fingerprint({"title": "a", "gain": 0, "score": 1.5}),
        result_fingerprint({"title": "a"}),
    )
    assert (one.gain, one.score) == (0, 1.5)
    assert (other.gain, other.score) == (None, None)
    assert (one.codes, one.digests) == (other.codes, other.digests)


def test_caches_evict_and_stay_correct(monkeypatch):
    monkeypatch.setattr("goodgain.transforms.core.dedup.memo._MOST_ENTRIES", 3)
    small = Fingerprinter(shipped_rules())
    source = ResultSource(Random(7))
    calls = [
        parse_mapping({"conversation_id": "c", "iteration": 1, "results": [source.result()]})
        for _ in range(60)
    ]
    for call in calls:
        assert small.call_fingerprint(call, True) == shipped_fingerprinter().call_fingerprint(
            call, True
        )
