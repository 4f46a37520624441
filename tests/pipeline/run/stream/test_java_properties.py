"""Properties are read as by Java, which is asked itself where it is installed."""

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from goodgain.pipeline.run.stream.kafka_settings import BadEscapeError, parse_properties

JAVA = shutil.which("java")
# What Java reads from texts; None where it refuses them.
KNOWN = [
    ("a=b", {"a": "b"}),
    (r'password="pa\\ss\u0021"', {"password": '"pa\\ss!"'}),
    ("client.id=ends\\\\\ngroup.id=g", {"client.id": "ends\\", "group.id": "g"}),
    ("a=b\\\\\\\n  c", {"a": "b\\c"}),
    (r"key=-----BEGIN\n MII\n-----END", {"key": "-----BEGIN\n MII\n-----END"}),
    ("security.protocol SASL_SSL", {"security.protocol": "SASL_SSL"}),
    ("a\tb\nc\fd", {"a": "b", "c": "d"}),
    ("a : b\nc  =  = d ", {"a": "b", "c": "= d "}),
    ("  # x = y\n!z\n\n \t\na=# b", {"a": "# b"}),
    ("# a comment does not continue \\\na=b", {"a": "b"}),
    ("a=b \\\n \t\f # c\\\n\nd=e", {"a": "b # c", "d": "e"}),
    ("a=1\r\nb=2\rc=3\\\r\n4", {"a": "1", "b": "2", "c": "34"}),
    (r"a=\t\n\r\f\x\"\ \=", {"a": '\t\n\r\fx" ='}),
    (r"a\ b\:\=\\=c", {"a b:=\\": "c"}),
    (r"a=\ud83d\udc10", {"a": "\U0001f410"}),
    ("a=\\u00\\\n  41", {"a": "A"}),
    ("a=\x85b\x1cc\u00a0", {"a": "\x85b\x1cc\u00a0"}),
    ("a=b\\", {"a": "b"}),
    ("a\nb=\n=c", {"a": "", "b": "", "": "c"}),
    (r"a=\udc10\ud83d", {"a": "\udc10\ud83d"}),
    (r"a=\u12g4", None),
    (r"a=\u123", None),
    (r"a\u00=12", None),
]
# A line that is only a backslash, continued by what would be a comment: to Java it is one.
UNLIKE = re.compile(r"(^|[\r\n])[ \t\f]*(\\(\r\n|\r|\n)[ \t\f]*)+[#!]")
PIECES = [
    *("\\", "\\", "\n", "\r", "\r\n", " ", "\t", "\f", "=", ":", "#", "!", "a", "b", "u", "t", "n"),
    *("\\\n", "\\u0041", "\\u00e9", "\\ud83d", "\\ud83d\\udc10", "\u00e9", "\x85", "0041", "f"),
]


def load(text):
    try:
        return {name: value or "" for _, name, value in parse_properties(text)}
    except BadEscapeError:
        return None


def keep_named(read):
    """Without the property "", which Java also makes of a last line that is only a backslash."""
    return read and {name: value for name, value in read.items() if name}


def from_java(texts, folder):
    """What Java reads from each text; None if it refuses it."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.properties")
        paths[-1].write_bytes(text.encode("iso-8859-1"))
    program = Path(__file__).parent / "LoadProperties.java"
    command = [JAVA, str(program), *map(str, paths)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [_from_units(line) for line in printed.splitlines()]


def _from_units(line):
    if line == "refused":
        return None
    pairs = [pair.split("=") for pair in line.split(",")] if line else []
    return {_text(name): _text(value) for name, value in pairs}


def _text(units):
    return bytes.fromhex(units).decode("utf-16-be", "surrogatepass")


@pytest.mark.parametrize(("text", "expected"), KNOWN)
def test_texts_are_read_as_java_reads_them(text, expected):
    assert load(text) == expected


@pytest.mark.slow
@pytest.mark.skipif(JAVA is None, reason="needs java")
def test_java_agrees(tmp_path):
    rng = random.Random(15)
    mixed = ["".join(rng.choices(PIECES, k=rng.randrange(25))) for _ in range(3_000)]
    texts = [*(text for text, _ in KNOWN), *(text for text in mixed if not UNLIKE.search(text))]
    read = from_java(texts, tmp_path)
    assert read[: len(KNOWN)] == [expected for _, expected in KNOWN]
    assert len(read) == len(texts)
    differing = [
        (text, load(text), java)
        for text, java in zip(texts, read, strict=True)
        if keep_named(load(text)) != keep_named(java)
    ]
    assert not differing


def test_each_property_has_the_line_on_which_it_begins():
    assert list(parse_properties("\n# a\nb=1\\\n2\\\n3\n\nc")) == [
        (3, "b", "123"),
        (7, "c", None),
    ]


def test_a_wrong_escape_has_its_line_and_not_its_text():
    with pytest.raises(BadEscapeError) as caught:
        list(parse_properties("a=b\nc=\\\n\\uSWORDFISH"))
    assert caught.value.line == 2
    assert "SWORDFISH" not in repr(caught.value)
