"""Reads Kafka consumer settings from a file as for Kafka's own tools: `client.properties`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import javaproperties

from goodgain.transforms.core.errors import UsageError

# Set by the source: the servers from `--input`, and deserializers that pass bytes through.
_OURS = ("bootstrap.servers", "key.deserializer", "value.deserializer")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_HALF = re.compile("[\ud800-\udfff]")  # of a character that takes two escapes
_PATH = re.compile(r"[^=:;\"'\s\0]+")  # not a setting given in place of a file
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEPARATOR = re.compile("[=:]")


class BadEscapeError(ValueError):
    r"""A `\u` without four hexadecimal digits.

    Attributes:
      line: the line, from 1, on which its property begins.
    """

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def read_settings(path: str) -> dict[str, str]:
    """The settings in a file, read as Java reads one: escapes decoded, lines joined, Latin-1.

    Any line may hold a secret, also a wrong one, so messages give only its number.

    Raises:
      UsageError: the file cannot be read, or a line is not a setting or one that goodgain sets.
    """
    try:
        # Java and therefore Kafka's tools take each byte for one character.
        with open(path, encoding="iso-8859-1", newline="") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a path"
        named = f" {path}" if _PATH.fullmatch(path) else ""
        raise UsageError(
            f"The file{named} of --kafka-consumer cannot be read: {reason}. The option takes the "
            "path of a file of settings, not settings."
        ) from None
    settings: dict[str, str] = {}
    lines: dict[str, int] = {}
    try:
        for line, name, value in parse_properties(text):
            where = f"Line {line} of {path}"
            if value is None or not _NAME.fullmatch(name):
                raise UsageError(f"{where} is not a setting of Kafka's consumer; write NAME=VALUE.")
            if name in _OURS:
                raise UsageError(f"{where} sets {name}, which goodgain sets itself: leave it out.")
            if name in lines:
                raise UsageError(f"{where} sets the same name as line {lines[name]}.")
            if _HALF.search(value):
                raise BadEscapeError(line)
            settings[name], lines[name] = value, line
    except BadEscapeError as error:
        raise UsageError(
            f"Line {error.line} of {path} has a wrong escape; write \\\\ for a backslash, and "
            "\\uXXXX with four hexadecimal digits for other characters."
        ) from None
    return settings


def parse_properties(text: str) -> Iterator[tuple[int, str, str | None]]:
    """The properties in the text of a `.properties` file, as Java's `Properties.load` reads it.

    Each is the line on which it begins, from 1, its name, and its value: None if nothing follows
    the name, which Java reads as "". They are in the order of the text, repeated names included.

    Raises:
      BadEscapeError: a character is wrongly escaped.
    """
    line = 1
    try:
        for part in javaproperties.parse(text):
            if isinstance(part, javaproperties.reading.KeyValue):
                has_value = part.value or _SEPARATOR.search(part.source)
                yield line, part.key, part.value if has_value else None
            line += len(_LINE_END.findall(part.source))
    except javaproperties.InvalidUEscapeError:
        raise BadEscapeError(line) from None
