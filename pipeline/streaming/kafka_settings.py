"""Reads Kafka consumer settings from a file as for Kafka's own tools: `client.properties`."""

from __future__ import annotations

import re

from goodgain.pipeline.streaming.java_properties import BadEscapeError, parse_properties
from goodgain.transforms.core.errors import UsageError

# Set by the source: the servers from `--input`, and deserializers that pass bytes through.
_OURS = ("bootstrap.servers", "key.deserializer", "value.deserializer")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_HALF = re.compile("[\ud800-\udfff]")  # of a character that takes two escapes
_PATH = re.compile(r"[^=:;\"'\s\0]+")  # not a setting given in place of a file


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
