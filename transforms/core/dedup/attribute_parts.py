"""Codes and digests of single attributes, of which fingerprints consist; see `fingerprint`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from xxhash import xxh3_64_digest

from goodgain.transforms.core.dedup.keys import TEXT_KEYS, id_key, is_keyed_by_value
from goodgain.transforms.core.dedup.normalise import normal_bytes, normalise_id, normalise_time
from goodgain.transforms.core.dedup.rules import CONTENT, KEY, SNIPPET, TITLE, digest

_LENGTH_BYTES = 4
_UTF8_BYTES = 4  # of a character at most

# xxh3 only adds its seed to short texts: with small seeds, `id1` of one attribute would collide
# with `id2` of another. These seeds are as far apart as any digests.
SEEDS = tuple(int.from_bytes(digest(f"attribute {number}")) for number in range(KEY))

# Codes and digests of one attribute, including its name and key; both empty if it is absent.
Part = tuple[bytes, bytes]
ABSENT: Part = (b"", b"")


def join_texts(texts: Iterable[str]) -> bytes:
    """Texts concatenated, each after its length, so that different lists give different bytes."""
    return b"".join([after_length(text.encode()) for text in texts])


def after_length(text: bytes) -> bytes:
    """A text as one of those that `join_texts` concatenates."""
    return len(text).to_bytes(_LENGTH_BYTES) + text


def id_part(
    codes: bytes, seed: int, stripped: re.Pattern[str] | None = None
) -> Callable[[str], Part]:
    """An id, and its casefolded form as key if that differs; see `normalise_id`."""
    keyed = codes + bytes((codes[0] | KEY,))

    def part_of(raw: str) -> Part:
        value = normalise_id(raw, stripped)
        key = id_key(value)
        if key != value:
            found = xxh3_64_digest(value.encode(), seed) + xxh3_64_digest(key.encode(), seed)
            return keyed, found
        return (codes, xxh3_64_digest(value.encode(), seed)) if value else ABSENT

    return part_of


def text_part(codes: bytes, seed: int) -> Callable[[str], Part]:
    """A text, by its normal form."""

    def part_of(raw: str) -> Part:
        text = normal_bytes(raw)
        return (codes, xxh3_64_digest(text, seed)) if text else ABSENT

    return part_of


def time_part(codes: bytes, seed: int) -> Callable[[str], Part]:
    """A time, by its instant; a text if it is not one."""
    as_text = text_part(codes, seed)

    def part_of(raw: str) -> Part:
        instant = normalise_time(raw)
        if instant is None:
            return as_text(raw)
        # Ends in a space, so that a time never equals a normalised text.
        return codes, xxh3_64_digest(b"%d " % instant, seed)

    return part_of


def text_part_with_key(attribute: int) -> Callable[[str], Part]:
    """A text of a result, followed by its key if that differs."""
    key = TEXT_KEYS[attribute]
    prefix_length = key.prefix
    keyed_from = key.prefix + 1 if is_keyed_by_value(attribute) else key.least
    longest = max(prefix_length, keyed_from)
    alone, keyed = bytes((attribute,)), bytes((attribute, attribute | KEY))
    seed = SEEDS[attribute]

    def part_of(raw: str) -> Part:
        text = normal_bytes(raw)
        if not text:
            return ABSENT
        found = xxh3_64_digest(text, seed)
        if text.isascii():
            if len(text) < keyed_from:
                return alone, found
            return keyed, found + xxh3_64_digest(text[:prefix_length], seed)
        characters = text[: _UTF8_BYTES * longest].decode(errors="ignore")
        if len(characters) < keyed_from:
            return alone, found
        return keyed, found + xxh3_64_digest(characters[:prefix_length].encode(), seed)

    return part_of


title_part = text_part_with_key(TITLE)
snippet_part = text_part_with_key(SNIPPET)
content_part = text_part_with_key(CONTENT)


def set_part(members: set[Part]) -> Part:
    """One digest for a set of values; a set of one is its member (SPEC 4.1)."""
    members.discard(ABSENT)
    if len(members) < 2:
        return next(iter(members), ABSENT)
    codes = next(iter(members))[0]
    # Members are already seeded by their attribute; no attribute has seed 0.
    return codes, xxh3_64_digest(b"".join(sorted([found for _, found in members])), seed=0)
