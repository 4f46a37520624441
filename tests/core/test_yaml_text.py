"""Line numbers in YAML that a user wrote."""

import os

import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.yaml_text import describe_repeated_key, parse_yaml, read_text

TEXT = """\
a: 1

b:
  - c
  - d: 2
    e:
      - 3
"""


@pytest.mark.parametrize(
    ("location", "line"),
    [
        ((), 1),
        (("a",), 1),
        (("b",), 3),
        (("b", 0), 4),
        (("b", 1, "e"), 6),
        (("b", 1, "e", 0), 7),
        (("b", 1, "e", 5), 6),  # absent: the line of its list
        (("b", "list[str]", 0), 4),  # a step that is not in the file is skipped
        (("z",), 1),
    ],
)
def test_the_line_of_a_location(location, line):
    assert parse_yaml(TEXT, "my.yaml").line(location) == line


def test_a_location_in_an_empty_file_has_line_1():
    assert parse_yaml("", "my.yaml").place("a") == "my.yaml:1"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\n---\nb: 2\n", "2: not valid YAML: expected a single document in the stream, but "
         "found another document."),
        ("a: [1\n", "2: not valid YAML: expected ',' or ']', but got '<stream end>'."),
    ],
)  # fmt: skip
def test_text_that_is_no_yaml(text, problem):
    with pytest.raises(UsageError) as error:
        parse_yaml(text, "my.yaml")
    assert str(error.value) == f"my.yaml:{problem}"


def test_finds_repeated_keys():
    file = parse_yaml("a: {b: 1,\n  b: 2}\nc:\n  - d: 1\n    d: 1\na: 3\n", "my.yaml")
    assert sorted(file.find_repeated_keys()) == [
        (2, describe_repeated_key("b")),
        (5, describe_repeated_key("d")),
        (6, describe_repeated_key("a")),
    ]


def test_a_recursive_alias_is_searched_once():
    file = parse_yaml("a: &x\n  - *x\n  - {b: 1,\n     b: 2}\n", "my.yaml")
    assert file.find_repeated_keys() == [(4, describe_repeated_key("b"))]


def test_merged_keys_are_not_repeated_keys():
    file = parse_yaml("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", "my.yaml")
    assert file.content == {"a": {"b": 1}, "c": {"b": 2}}
    assert not file.find_repeated_keys()


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(UsageError, match=r"pipe is a named pipe, where a file is needed"):
        read_text(str(path), "the options")


def test_what_a_shell_substitutes_is_read():
    """As by `--config <(command)`, which gives a path below /dev/fd."""
    reading, writing = os.pipe()
    try:
        with open(writing, "wb") as writer:
            writer.write(b"output: out")
        assert read_text(f"/dev/fd/{reading}", "the options") == "output: out"
    finally:
        os.close(reading)
