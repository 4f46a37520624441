"""Reads Kafka consumer settings from a file as for Kafka's own tools: `client.properties`."""

from __future__ import annotations

import re

from goodgain.transforms.core.errors import UsageError

# Set by the source: the servers from `--input`, and deserializers that pass bytes through.
_OURS = ("bootstrap.servers", "key.deserializer", "value.deserializer")
_SETTING = re.compile(r"([A-Za-z0-9._-]+)\s*[=:]\s*(.*)")


def read_settings(path: str) -> dict[str, str]:
    r"""The settings in a file: lines of `NAME=VALUE`, where `#` or `!` begins a comment.

    A line that ends in `\` continues on the next. Values may be secrets, so messages never quote
    them.

    Raises:
      UsageError: the file cannot be read, or a line is not a setting or one that goodgain sets.
    """
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"The settings of Kafka's consumer in {path} cannot be read: {reason}."
        ) from None
    settings: dict[str, str] = {}
    for number, line in _joined(lines):
        match = _SETTING.fullmatch(line)
        where = f"Line {number} of {path}"
        if match is None:
            raise UsageError(f"{where} is not a setting of Kafka's consumer; write NAME=VALUE.")
        name, value = match.groups()
        if name in _OURS:
            raise UsageError(f"{where} sets {name}, which goodgain sets itself: leave it out.")
        if name in settings:
            raise UsageError(f"{where} sets {name} a second time.")
        settings[name] = value
    return settings


def _joined(lines: list[str]) -> list[tuple[int, str]]:
    """Settings with their line numbers: no comments or blank lines, continued lines joined."""
    joined: list[tuple[int, str]] = []
    continued = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if continued:
            first, before = joined.pop()
            joined.append((first, before + text.removesuffix("\\")))
        elif text and text[0] not in "#!":
            joined.append((number, text.removesuffix("\\")))
        else:
            continue
        continued = text.endswith("\\")
    return joined
