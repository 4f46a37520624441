"""Finds one string value in a JSON object that is damaged or truncated."""

from __future__ import annotations

import re

import msgspec

_LONGEST_SEARCH = 1 << 20
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)
_text_decoder = msgspec.json.Decoder(str)


def top_level_text(damaged: bytes, key: str) -> str | None:
    """The string under `key` of the outermost object; None if it is not in the first MiB."""
    wanted = b'"%s"' % key.encode()
    depth = 0
    last: tuple[bytes, ...] = (b"", b"")
    for match in _TOKEN.finditer(damaged, 0, _LONGEST_SEARCH):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and last == (wanted, b":"):
            return _text(token)
        last = (last[1], token)
    return None


def _text(token: bytes) -> str | None:
    try:
        return _text_decoder.decode(token)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
