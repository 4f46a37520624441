"""Properties are read as by Java."""

import pytest

from goodgain.pipeline.run.stream.kafka_settings import BadEscapeError, parse_properties

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


def load(text):
    try:
        return {name: value or "" for _, name, value in parse_properties(text)}
    except BadEscapeError:
        return None


@pytest.mark.parametrize(("text", "expected"), KNOWN)
def test_texts_are_read_as_java_reads_them(text, expected):
    assert load(text) == expected


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
