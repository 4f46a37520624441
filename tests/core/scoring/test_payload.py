"""Payloads that workers exchange are unpacked to what was packed."""

from random import Random
from typing import get_args

from msgspec.structs import fields, replace

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter, ResultFingerprint
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.payload import Frame, payload, unpack
from tests.adversarial import trace
from tests.core.direct import shipped_rules


def calls_of(seed):
    """All records of a trace as calls of one conversation; a third of them twice."""
    random = Random(seed)
    calls = [parse_mapping(record) for record in trace(random, conversations=5)]
    return [*calls, *random.sample(calls, len(calls) // 3)]


def fingerprints_of(calls, keep_records):
    fingerprinter = Fingerprinter(shipped_rules())
    return [fingerprinter.call_fingerprint(call, keep_records) for call in calls]


def test_parts_are_unpacked_together():
    fingerprints = fingerprints_of(calls_of(1), True)
    packed = [
        payload(fingerprints[:3], 1),
        payload(fingerprints[3:4]) + payload((), 2),
        payload(fingerprints[4:]),
    ]
    assert unpack(packed) == Frame(fingerprints, 3)


def test_every_field_of_a_result_is_unpacked():
    values = {bytes: b"value", int: 3, float: 0.5, str: "value"}
    result = ResultFingerprint(
        **{
            field.name: values[(*get_args(field.type), field.type)[0]]
            for field in fields(ResultFingerprint)
        }
    )
    bare = ResultFingerprint(b"codes", b"digests", None, None)
    (fingerprint,) = fingerprints_of([SearchCall("c", 1)], False)
    calls = [
        replace(fingerprint, results=results)
        for results in ([result, bare], [bare, bare], [], [result])
    ]
    assert unpack([payload(calls)]) == Frame(calls)


def test_outcomes_are_unpacked_with_others():
    fingerprints = fingerprints_of(calls_of(1), False)
    packed = [payload((), outcomes={"correct": 1.0}), payload(fingerprints)]
    assert unpack(packed) == Frame(fingerprints, outcomes={"correct": 1.0})
    joined = payload(fingerprints) + payload((), outcomes={"rating": 0.5})
    assert unpack([joined]).outcomes == {"rating": 0.5}


def test_compressed_parts_are_small_and_unpacked_with_others():
    fingerprints = fingerprints_of(calls_of(1), True)
    plain, small = (payload(fingerprints[3:], 1, compress=compress) for compress in (False, True))
    assert len(small) < len(plain) / 2
    assert unpack([payload(fingerprints[:3]) + small, payload((), 1)]) == Frame(fingerprints, 2)


def test_repeated_attributes_are_stored_once_and_keep_their_order():
    market, longer = {"market": "de"}, {"market": "de", "arm": "a"}
    reordered = {"arm": "a", "market": "de"}
    given = [{}, market, market, longer, reordered, reordered, {}, market]
    calls = [SearchCall("c", 1, attributes=attributes) for attributes in given]
    fingerprints = fingerprints_of(calls, False)
    unpacked = unpack([payload(fingerprints[:2]), payload(fingerprints[2:])]).calls
    assert [list(call.attributes.items()) for call in unpacked] == [
        list(attributes.items()) for attributes in given
    ]
    assert payload(fingerprints).count(b"market") == 4
