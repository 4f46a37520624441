"""Evidence read back from fingerprints: its candidate keys and values (SPEC 4.2)."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.dedup.evidence import have_common_value
from tests.adversarial import ResultSource
from tests.core.direct import evidence
from tests.reference.evidence import evidence_of, keys_of

LONG = "x" * 50


def share_a_key(one, other):
    return bool(set(evidence(one).keys) & set(evidence(other).keys))


SHARE = [
    ({"ids": {"a": "Doc"}}, {"ids": {"a": "doc"}}),
    ({"ids": {"a": ["1", "2"]}}, {"ids": {"a": ["2", "3"]}}),
    ({"ids": {"file_id": "Doc"}}, {"ids": {"file_id": "DOC"}, "entity_type": "File"}),
    ({"id": "Doc"}, {"id": "doc"}),
    ({"url": "http://x/a?id=1"}, {"url": "http://x/a?id=2"}),
    ({"snippet": LONG}, {"snippet": LONG.upper()}),
    ({"snippet": "x" * 100}, {"snippet": "x" * 100 + "y"}),
    ({"content": "x" * 500}, {"content": "x" * 500 + "y"}),
    ({"title": "x" * 100}, {"title": "x" * 100 + "y"}),
    ({"title": "x"}, {"title": "X"}),
    ({"fields": {"subject": "a"}}, {"fields": {"subject": "A"}}),
    ({"fields": {"file_name": "a"}}, {"fields": {"file_name": ["a"]}}),
    ({"fields": {"display_name": ["a", "b"]}}, {"fields": {"display_name": ["b", "a"]}}),
    (
        {"fields": {"start": "2024-01-01", "end": "b"}},
        {"fields": {"start": "2024-01-01T00:00", "end": "B"}},
    ),
]


@pytest.mark.parametrize(("one", "other"), SHARE)
def test_pairs_that_share_a_key(one, other):
    assert share_a_key(one, other)


APART = [
    ({"ids": {"a": "1"}}, {"ids": {"b": "1"}}),
    ({"ids": {"a": "1"}}, {"id": "1"}),
    ({"id": "1", "ids": {"doc_id": "2"}}, {"id": "1"}),
    ({"url": "http://x/a"}, {"url": "http://x/A"}),
    ({"snippet": "x" * 49}, {"snippet": "x" * 49}),
    ({"content": "x" * 49}, {"content": "x" * 49}),
    ({"snippet": LONG}, {"content": LONG}),
    ({"snippet": "x" * 99 + "y"}, {"snippet": "x" * 99 + "z"}),
    ({"content": "x" * 499 + "y"}, {"content": "x" * 499 + "z"}),
    ({"title": "x" * 99 + "y"}, {"title": "x" * 99 + "z"}),
    ({"title": "a"}, {"fields": {"subject": "a"}}),
    ({"fields": {"author": "a"}}, {"fields": {"author": "a"}}),
    ({"fields": {"start": "a"}}, {"fields": {"start": "a"}}),
    ({"fields": {"start": "a", "end": "b"}}, {"fields": {"start": "b", "end": "a"}}),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_pairs_that_share_no_key(one, other):
    assert not share_a_key(one, other)


@pytest.mark.slow
@given(seed=st.integers(min_value=0, max_value=2**32))
@settings(max_examples=100)
def test_keys_equal_those_of_the_reference(seed):
    source = ResultSource(Random(seed))
    results = [source.result() for _ in range(8)]
    ours = [set(evidence(result).keys) for result in results]
    theirs = [
        [key for key in keys_of(evidence_of(result)) if key[0] != "evidence"] for result in results
    ]
    for index in range(len(results)):
        assert len(ours[index]) == len(theirs[index])
        for other in range(index):
            expected = any(key in theirs[other] for key in theirs[index])
            assert bool(ours[index] & ours[other]) == expected


@pytest.mark.slow
@given(seed=st.integers(min_value=0, max_value=2**32))
@settings(max_examples=100)
def test_evidence_of_two_attributes_identifies_alone(seed):
    source = ResultSource(Random(seed))
    for _ in range(6):
        result = source.result()
        assert evidence(result).layout.identifies_alone == (
            evidence_of(result).attribute_count() >= 2
        )


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1, 1, True),
        (1, 2, False),
        (1, frozenset((1, 2)), True),
        (frozenset((1, 2)), 3, False),
        (frozenset((1, 2)), frozenset((2, 3)), True),
        (frozenset((1, 2)), frozenset((3, 4)), False),
    ],
)
def test_values_are_shared_if_they_have_one_in_common(one, other, expected):
    assert have_common_value(one, other) is expected
    assert have_common_value(other, one) is expected
