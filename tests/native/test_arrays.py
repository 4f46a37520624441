"""Native code reads JSON arrays, and leaves odd elements to Python, which reads them all alike."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.files.bounds import ReadBounds
from tests.core.files import samples
from tests.native.paths import assert_same, needs_native, new_packer
from tests.native.test_lines import ODD, PLAIN, ROWS, START

pytestmark = needs_native

BOUNDS = ReadBounds()


def assert_same_array(content, **how):
    return assert_same(content, "a.json", **how)


def left_over(content):
    """The numbers of the elements that native code leaves to Python; all must be JSON."""
    packer, left, read = new_packer(), [], 0
    at = content.index(b"{")
    while at is not None:
        _, stop = packer.pack_elements(content, at, BOUNDS, None)
        read, at = read + stop.packed, stop.at
        if at is not None and stop.is_odd:
            left.append(read)
            read += 1
            _, length = json.JSONDecoder().raw_decode(content[at:].decode())
            rest = content[at:].decode()[length:]
            found = rest.find("{")
            at = None if found < 0 else len(content) - len(rest[found:].encode())
    return left


@pytest.mark.parametrize("indent", [None, 0, 1, "\t"])
def test_plain_elements_need_no_python(indent):
    rows = [json.loads(line) for line in PLAIN if line.strip()]
    content = json.dumps(rows, indent=indent).encode()
    assert left_over(content) == []
    assert left_over(content.replace(b"\n", b"\r\n")) == []
    (whole, rejected) = assert_same_array(content)
    assert (sum(packed.calls for packed in whole), rejected) == (len(rows), [])
    assert assert_same_array(content.replace(b"\n", b"\r\n")) == (whole, rejected)


def test_elements_around_an_odd_one_are_read_natively():
    odd = {"conversation_id": "c", "iteration": "2"}
    content = json.dumps([*ROWS[:3], odd, *ROWS[3:6], odd, odd, *ROWS[6:8], odd]).encode()
    assert left_over(content) == [3, 7, 8, 11]
    (_, rejected) = assert_same_array(content)
    assert rejected == []


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_element_between_others(odd):
    content = f"[{PLAIN[0]},{odd}, {PLAIN[3]} ]".encode("utf-8", "surrogatepass")
    assert_same_array(content)
    assert_same_array(content + b"\n" + content)


@pytest.mark.parametrize("character", list("\x00\x01\t\n\r\x1f\x7f\x85"))
def test_control_characters(character):
    """They stand in no string, and outside of strings only white space does."""
    records = [
        START + ', "query": "' + character + '"}',
        START + ', "query": "\\"\\\\' + character + '"}',
        START + "," + character + '"query": "x"}',
        START + ', "query": ' + character + '"x"}' + character,
    ]
    for record in records:
        assert_same_array(f"[{PLAIN[0]}, {record}, {PLAIN[0]}]".encode())


@pytest.mark.parametrize("space", [" ", "\t", "\n", "\r", "\f", "\v", "\x1c", "\x85", "\xa0"])
def test_space_around_elements(space):
    """Python passes over form feeds, too."""
    elements = f",{space}".join([PLAIN[0]] * 3)
    assert_same_array(f"[{space}{elements}{space}]{space}".encode())
    assert_same_array(f"[{PLAIN[0]}{space},{PLAIN[0]}]".encode())


def test_a_long_array_is_packed_in_several_calls():
    rows = [
        {"conversation_id": f"c{at % 7}", "iteration": 1, "x": "y" * 50_000} for at in range(20)
    ]
    content = json.dumps(rows).encode()
    assert left_over(content) == []
    (whole, rejected) = assert_same_array(content)
    assert (sum(packed.calls for packed in whole), rejected) == (20, [])


def test_bounds():
    content = json.dumps([*ROWS[:4], {**ROWS[4], "query": "x" * 2_000_000}, *ROWS[5:8]]).encode()
    (whole, rejected) = assert_same_array(content)
    assert (sum(packed.calls for packed in whole), rejected) == (8, [])
    (_, rejected) = assert_same_array(content, bounds=ReadBounds(max_record_results=2))
    assert len(rejected) == sum(len(row["results"]) > 2 for row in ROWS[:8]) > 1


@pytest.mark.slow
def test_changed_arrays():
    rng = Random(3)
    read = rejected = 0
    spells = [b"}", b"]", b"[", b"{", b",", b'"', b"\\", b" ", b"\n", b"\x00", b"\xff", b"null"]
    for number in range(1_500):
        rows = ROWS[number % 20 : number % 20 + 5]
        changed = bytearray(json.dumps(rows, indent=number % 3 or None).encode())
        for _ in range(rng.randint(1, 2)):
            at = rng.randrange(len(changed))
            if rng.random() < 0.5:
                changed[at:at] = rng.choice(spells)
            elif rng.random() < 0.5:
                changed[at] = rng.randrange(256)
            else:
                del changed[at : at + rng.choice([1, 1, 3])]
        (whole, bad) = assert_same_array(bytes(changed))
        read, rejected = read + sum(packed.calls for packed in whole), rejected + len(bad)
    assert read > 1_000
    assert rejected > 300


@pytest.mark.slow
@given(st.binary(max_size=300), st.integers(0, 310), st.integers(1, 400), st.integers(1, 3))
@settings(max_examples=500)
def test_any_bytes_as_elements(content, begin, longest, most):
    packer, bounds = new_packer(), ReadBounds(longest, most)
    for array, at in ((content, begin), (START.encode() + content, 0), (b"{" + content, 0)):
        _, stop = packer.pack_elements(array, at, bounds, None)
        assert stop.at is None or at <= stop.at <= max(at, len(array))
        assert 0 <= stop.packed <= len(array)


def test_an_element_that_never_ends_is_read_once():
    content = b"[" + samples.jsonl_bytes(ROWS[:1]).strip() + b', {"a": "' + b"x" * (1 << 22)
    (whole, rejected) = assert_same_array(content)
    assert (len(whole), rejected[0].position) == (1, "record 2")
