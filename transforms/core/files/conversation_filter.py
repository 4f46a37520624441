"""Skips records of other conversations before they are decoded."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from msgspec import Struct

# Each id is another search through all bytes; beyond this, decoding everything is as fast.
_MOST_SEARCHED = 100


class ConversationFilter(Struct, frozen=True):
    """Finds records of some conversations.

    Attributes:
      texts: the same in UTF-8; () if bytes cannot be searched, so that everything is decoded.
    """

    ids: frozenset[str]
    texts: tuple[bytes, ...]

    def may_match(self, content: bytes) -> bool:
        """Whether bytes with unescaped strings can contain one of the conversations."""
        return not self.texts or any(text in content for text in self.texts)

    def may_match_json(self, line: bytes) -> bool:
        r"""Like `may_match`, but for JSON, in which characters may be escaped."""
        if self.may_match(line):
            return True
        # Few lines have a backslash, and one byte is found much faster than two.
        return b"\\" in line and (b"\\u" in line or b"\\/" in line)


def filter_for(conversation_ids: Collection[str]) -> ConversationFilter:
    """A filter for the conversations with these ids."""
    # Ids that JSON must escape are not searched for, so that one rule fits all formats.
    escaped = any(
        len(msgspec.json.encode(one)) != len(one.encode()) + 2 for one in conversation_ids
    )
    searched = () if len(conversation_ids) > _MOST_SEARCHED or escaped else conversation_ids
    texts = tuple(sorted(one.encode() for one in searched))
    return ConversationFilter(frozenset(conversation_ids), texts)
