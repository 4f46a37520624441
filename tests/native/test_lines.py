"""Lines of JSON: which ones native code takes, and that the others are read as in Python."""

import gzip
import json
import random
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.records.adaptation import Adaptation
from tests.adversarial import trace
from tests.core.files import samples
from tests.native import generated
from tests.native.characters import groups, split_into_batches
from tests.native.paths import assert_same, needs_native, new_packer

pytestmark = needs_native

START = '{"conversation_id": "c", "iteration": 1'
ROWS = samples.records(30, results=3)
MOST = 100_000


def left_over(content, most_results=MOST):
    """The lines that native code leaves to Python."""
    packer, begin, left = new_packer(), 0, []
    bounds = ReadBounds(max_record_results=most_results)
    while begin is not None:
        _, begin = packer.pack_lines(content, begin, bounds, None)
        if begin is not None:
            end = (content + b"\n").index(b"\n", begin)
            left.append(content[begin:end])
            begin = end + 1
    return left


def assert_same_lines(lines, **how):
    """Given as text or bytes."""
    content = b"\n".join(line.encode() if isinstance(line, str) else line for line in lines)
    return assert_same(content + b"\n", "a.jsonl", **how)


RESULT = {"ids": {"file_id": "F-1", "x": ["a", "b"], "y": ["one"]}, "gain": 4, "score": 0.5}
PLAIN = [
    START + "}",
    START + "}\r",
    f'  {START} , "turn" : 2 }}  ',
    START + ', "call": null, "turn": null, "is_final": null, "results": null, "costs": null}',
    START + ', "record_id": " ", "timestamp": "2025-03-03T06:01:03.858Z", "is_final": true}',
    START + ', "timestamp": -1, "costs": {"usd": 1, "eur": 0.25, "other": null}}',
    START + ', "attributes": {"arm": "B", "gone": null}, "unknown": {"a": [1, -2.5e-7, "\\n"]}}',
    START + ', "action": "open", "error": "no network"}',
    START + ', "action": null, "error": null, "outcomes": null}',
    START + ', "outcomes": {"correct": 1, "rating": -0.25, "gone": null}, "error": " "}',
    START
    + ', "results": [{"aspects": ["a", null, "b", "a"]}, {"aspects": []}, {"aspects": null}]}',
    START + ', "query": "caf\\u00e9 \\ud83d\\ude00 \\"x\\" \\\\ \\/ é 😀", "tool": ""}',
    START + ', "results": [{}, ' + json.dumps(RESULT) + ', {"fields": {"to": [null, "x", []]}}]}',
    "",
    " \t\r\v\f",
]
PLAIN[12] = PLAIN[12].replace(", []", "")


def test_plain_lines_need_no_python():
    assert left_over("\n".join(PLAIN).encode()) == []
    (whole, rejected) = assert_same_lines(PLAIN)
    assert (sum(packed.calls for packed in whole), rejected) == (13, [])


ODD = [
    START,
    START + "]",
    START + "} x",
    START + ",}",
    START + "}{",
    "[]",
    "null",
    "\x00",
    "\ufeff" + START + "}",
    START + ', "iteration": 1}',
    START + ', "iter\\u0061tion": 2}',
    START + ', "attributes": {"a": "x", "a": "y"}}',
    START + ', "attributes": {"a": null, "a": "y"}}',
    START + ', "attributes": {"a": "x", "a": null}}',
    START + ', "attributes": [["a", "b"]]}',
    START + ', "attributes": {"a": ["x"]}}',
    START + ', "attributes": {"a": 1}}',
    START + ', "costs": {"a": 1, "a": 2}}',
    START + ', "costs": {"a": "1"}}',
    START + ', "costs": {"a": -1}}',
    START + ', "costs": {"a": 1e101}}',
    START + ', "query": "\t"}',
    START + ', "query": "\\x41"}',
    START + ', "query": "\\ud800"}',
    START + ', "query": "\\udc00"}',
    START + ', "query": "\\ud800\\u0041"}',
    START + ', "query": "\\ud800\\ud800"}',
    START + ', "query": "\\u00g0"}',
    START + ', "query": "\\u+123"}',
    START + ', "query": "\\u12',
    START + ', "query": "x',
    START + ', "query": 7}',
    START + ', "query": NaN}',
    START + ', "noise": Infinity}',
    START + ', "noise": nul}',
    START + ', "noise": "\\ud800"}',
    START + ', "noise": ' + "[" * 80 + "]" * 80 + "}",
    START + ', "noise": ' + "[" * 5_000 + "]" * 5_000 + "}",
    START + ', "noise": ' + "9" * 5_000 + "}",
    START + ', "turn": "3"}',
    START + ', "turn": true}',
    START + ', "is_final": "true"}',
    START + ', "is_final": 1}',
    START + ', "action": "Search"}',
    START + ', "action": ""}',
    START + ', "action": 1}',
    START + ', "error": 1}',
    START + ', "outcomes": {"correct": true, "rating": "0.5"}}',
    START + ', "outcomes": {"correct": "yes"}}',
    START + ', "outcomes": {"rating": NaN, "other": 1e999}}',
    START + ', "outcomes": {"rating": 1, "rating": 2}}',
    START + ', "outcomes": [1]}',
    START + ', "results": [{"aspects": "a"}]}',
    START + ', "results": [{"aspects": [1, 2.5]}]}',
    START + ', "results": [{"aspects": [["a"]]}]}',
    START + ', "record_id": "\u2003"}',
    START + ', "timestamp": "1704110400000"}',
    START + ', "timestamp": "yesterday"}',
    START + ', "timestamp": 1e12}',
    START + ', "timestamp": 99999999999999999}',
    START + ', "results": [null]}',
    START + ', "results": [1]}',
    START + ', "results": {}}',
    START + ', "results": [{"gain": 5}]}',
    START + ', "results": [{"gain": 0, "gain": 1}]}',
    START + ', "results": [{"ids": {"a": [1]}}]}',
    START + ', "results": [{"ids": {"a": ["x", ["y"]]}}]}',
    '{"conversation_id": "c"}',
    '{"conversation_id": " ", "iteration": 1}',
    '{"conversation_id": "\u00e9", "iteration": 1}',
    '{"conversation_id": null, "iteration": 1}',
]


@pytest.mark.parametrize("line", ODD)
def test_an_odd_line_alone_is_python_s(line):
    lines = [PLAIN[0], line, PLAIN[7]]
    assert left_over("\n".join(lines).encode("utf-8", "surrogatepass")) == [line.encode()]
    (whole, rejected) = assert_same_lines(lines)
    assert sum(packed.calls for packed in whole) + len(rejected) == 3


def test_bytes_that_are_not_utf_8():
    for name in ("query", "noise", "iteration"):
        for raw in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"):
            line = START.encode() + b', "' + name.encode() + b'": "x' + raw + b'"}'
            assert left_over(line) == [line]
            assert_same_lines([PLAIN[0], line, PLAIN[0]])


NUMBERS = [
    *("0", "-0", "1", "-1", "4", "5", "01", "1.", ".5", "+1", "1.0", "3.0", "-0.0", "0.0", "1.5"),
    *("1e0", "1E2", "1e+2", "1e-2", "1e22", "1e23", "1e99", "1e100", "1e101", "1e308", "1e309"),
    *("1e-5", "1e-99", "4.9e-324", "1e-400", "5e-324", "1.7976931348623157e308", "1e", "1e+"),
    *("2147483647", "2147483648", "-2147483648", "9007199254740993", "9223372036854775807"),
    *("9223372036854775808", "18446744073709551615", "18446744073709551616", "1e19", "1" * 25),
    *("0.1", "0.30000000000000004", "123456789.123456789", "0.12345678901234567", "1.0e1"),
    *("253402300799999", "253402300800000", "-62135596800000", "-62135596800001", "1741000000000"),
    *("0.954759", "1 ", " 1", "1_0", "0x1", "1f", "--1", "- 1", "true", '"1"', '"1.0"', "null"),
    *("2.2250738585072011e-308", "9007199254740992.5", "0.000001", "100000000000000000000"),
]
PLACES = [
    *("iteration", "turn", "call", "turn_count", "timestamp", "noise", "query", "is_final"),
    *("costs.usd", "attributes.arm", "gain", "score", "id", "ids.x"),
]


def line_with(place, written):
    """A line that has a value, as it is written, in a field of a record or of its result."""
    name, _, inner = place.partition(".")
    value = f'{{"{inner}": {written}}}' if inner else written
    field = f'"{name}": {value}'
    if name in ("gain", "score", "id", "ids"):
        return START + f', "results": [{{{field}}}]}}'
    return START.removesuffix(', "iteration": 1' * (name == "iteration")) + f", {field}}}"


def test_numbers_in_every_spelling_in_every_place():
    lines = [line_with(place, written) for place in PLACES for written in NUMBERS]
    (whole, rejected) = assert_same_lines(lines)
    assert whole
    assert rejected


def digits(rng, most):
    return "".join(rng.choices("0123456789", k=rng.randint(1, most)))


def spell(rng):
    number = generated.any_double(rng)
    kind = rng.randrange(4)
    if kind == 0:
        return repr(number)
    if kind == 1:
        return f"{number:.{rng.randrange(26)}g}"
    if kind == 2:
        return f"{number:.{rng.randrange(20)}e}"
    fraction = rng.choice(["", f".{digits(rng, 19)}"])
    exponent = rng.choice(["", f"{rng.choice('eE')}{rng.choice(['', '+', '-'])}{digits(rng, 2)}"])
    return rng.choice(["", "-"]) + digits(rng, 20) + fraction + exponent


def test_doubles_are_rounded_alike():
    rng = Random(9)
    assert_same_lines(
        [
            line_with(place, spell(rng))
            for place in ("score", "costs.usd", "timestamp")
            for _ in range(4_000)
        ]
    )


def escape(text):
    return "".join(f"\\u{unit:04x}" for unit in units(text))


def units(text):
    raw = text.encode("utf-16-be", "surrogatepass")
    return [raw[at] << 8 | raw[at + 1] for at in range(0, len(raw), 2)]


def assert_characters(codes):
    """Each as it is and escaped, in a value, in a key and where it is skipped."""
    for some in split_into_batches(groups(codes), 4_096):
        lines = []
        for group in some:
            unit = escape(group)
            written = [unit, unit.upper().replace("\\U", "\\u")]
            written += [] if "\ud800" <= group <= "\udfff" or group in '"\\\n' else [group]
            for text in written:
                title = f'[{{"title": "x{text}y", "fields": {{"{text}": "a{text}"}}}}]'
                lines.append(START + f', "noise": "{text}", "results": {title}}}')
                lines.append(START + f', "query": "{text}"}}')
        assert_same_lines(lines)


def test_characters_as_they_are_and_escaped():
    assert_characters([*range(0x100), *range(0x100, 0x10000, 97), *range(0xD7F0, 0xE010, 7)])
    assert_characters([*range(0x10000, 0x110000, 4_099)])


@pytest.mark.slow
def test_every_character_of_the_basic_plane_as_it_is_and_escaped():
    assert_characters(range(0x10000))


def test_pairs_of_escapes():
    edges = ["d7ff", "d800", "dbff", "dc00", "dfff", "e000", "0041"]
    pairs = [f"\\u{edge}\\u{other}" for edge in edges for other in edges]
    assert_same_lines(
        [START + f', "{name}": "{pair}"}}' for pair in pairs for name in ("query", "noise")]
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_any_values(seed):
    rng = Random(seed)
    usable = {"conversation_id": "c", "iteration": 1}
    lines = []
    for _ in range(80):
        record = {**(usable if rng.random() < 0.8 else {}), **generated.record(rng)}
        separators = rng.choice([(",", ":"), (", ", ": ")])
        lines.append(json.dumps(record, ensure_ascii=rng.random() < 0.5, separators=separators))
    assert_same_lines(lines)


def test_changed_lines():
    rng = random.Random(7)
    line = samples.jsonl_bytes(ROWS[:1]).strip()
    spells = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\\u00e9", b"null", b"1", b" "]
    lines = []
    for _ in range(3_000):
        changed = bytearray(rng.choice([line, PLAIN[8].encode(), PLAIN[6].encode()]))
        for _ in range(rng.choice([1, 1, 2, 4])):
            at = rng.randrange(len(changed))
            kind = rng.randrange(4)
            if kind == 0:
                changed[at] = rng.randrange(256)
            elif kind == 1:
                changed[at:at] = rng.choice(spells)
            elif kind == 2:
                del changed[at : at + rng.choice([1, 1, 3])]
            else:
                begin = rng.randrange(len(changed))
                changed[at:at] = changed[begin : begin + rng.randrange(30)]
        lines.append(bytes(changed))
    (whole, rejected) = assert_same_lines(lines)
    assert whole
    assert len(rejected) > 1_000


@pytest.mark.slow
@given(st.binary(max_size=300), st.integers(0, 310), st.integers(1, 400), st.integers(1, 3))
@settings(max_examples=500)
def test_any_bytes_as_lines(content, begin, longest, most):
    packer, bounds = new_packer(), ReadBounds(longest, most)
    _, odd = packer.pack_lines(content, begin, bounds, None)
    assert odd is None or begin <= odd <= len(content)
    packer.pack_lines(START.encode() + content, 0, bounds, None)


FILE = samples.jsonl_bytes(ROWS[:8])
MIXED = b"\n".join([*FILE.splitlines(), b"{", b"", b"[]", *FILE.splitlines()[:5], b"  {  "])


@pytest.mark.parametrize(
    "content",
    [
        FILE,
        FILE.rstrip(),
        FILE.replace(b"\n", b"\r\n"),
        FILE.replace(b"\n", b"\n\n \n"),
        b"\xef\xbb\xbf" + FILE,
        b"\xef\xbb\xbf" + FILE.split(b"\n")[0],
        b"\xef\xbb\xbf{\n" + FILE,
        b"\xef\xbb\xbf\n" + MIXED,
        MIXED,
        b"\n" + MIXED + b"\n\n",
    ],
)
def test_files_however_they_are_cut(content):
    (whole, rejected) = assert_same(content, "a.jsonl")
    for shard_bytes in (1, 50, 777, 5_000):
        _, of_shards = assert_same(content, "a.jsonl", shard_bytes=shard_bytes)
        assert of_shards == rejected
    assert_same(gzip.compress(content), "a.jsonl.gz")
    assert sum(packed.calls for packed in whole) >= (8 if b"\n" in content else 1)


def test_a_compressed_file_that_breaks_off():
    content = gzip.compress(MIXED)
    for kept in (len(content) - 9, len(content) * 2 // 3):
        _, rejected = assert_same(content[:kept], "a.jsonl.gz")
        assert "cannot be read from this line on" in rejected[-1].reason


def test_bounds():
    few = ReadBounds(max_record_results=2)
    lines = [START + f', "results": [{", ".join(["{}"] * size)}]}}' for size in (0, 2, 3, 9, 1)]
    (whole, rejected) = assert_same_lines(lines, bounds=few)
    assert [row.field for row in rejected] == ["results"] * 2
    assert sum(packed.calls for packed in whole) == 3
    assert left_over("\n".join(lines).encode(), most_results=2) == [
        line.encode() for line in lines[2:4]
    ]
    padded = [START + f', "query": "{"q" * size}"}}' for size in (1, 300, 400, 2, 5_000, 3)]
    for most in (100, 350, 351, 352, 440):
        (_, rejected) = assert_same_lines(padded, bounds=ReadBounds(max_decoded_bytes=most))
        assert all("bytes long" in row.reason for row in rejected)
        assert rejected
    many = [START + ', "results": 1}'] * 40
    (_, rejected) = assert_same_lines(many, bounds=ReadBounds(max_rejected_rows=7))
    assert len(rejected) == 8


def test_a_long_line_is_python_s():
    long = START + ', "query": "' + "q" * (1 << 20) + '"}'
    content = "\n".join([PLAIN[0], long, PLAIN[0]]).encode()
    assert left_over(content) == [long.encode()]
    assert_same(content, "a.jsonl")


def test_fields_under_other_names():
    adaptation = Adaptation(["query=tool", "conversation_id=query"], iteration_base=0)
    rows = [{**row, "query": f"q{at % 3}"} for at, row in enumerate(ROWS)]
    (whole, _) = assert_same(samples.jsonl_bytes(rows), "a.jsonl", adaptation=adaptation)
    assert {packed.conversation_id for packed in whole} == {"q0", "q1", "q2"}


def test_adversarial_traces():
    lines = [
        msgspec.json.encode(record, enc_hook=str) for record in trace(Random(14), conversations=80)
    ]
    (whole, _) = assert_same_lines(lines)
    assert whole
