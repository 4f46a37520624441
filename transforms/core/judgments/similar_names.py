"""Names of results that are written otherwise than a judged name, so that no judgment labels them.

The same name may be in another Unicode form (NFC, NFD), or percent-encoded, as in a URL.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from urllib.parse import unquote


def plain_name(name: str) -> str:
    """A name without percent-encoding, in NFC; of names that are written otherwise it is equal."""
    if "%" in name:
        name = unquote(name)
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def count_similar(asked: Collection[str], judged: Collection[str]) -> int:
    """How many names of results are written otherwise than a judged name of their topic.

    Args:
      asked: the distinct names of results of a topic.
      judged: its judged names.
    """
    if not asked or (_are_plain(asked) and _are_plain(judged)):
        return 0  # plain names that are equal are written alike
    plain_names = set(map(plain_name, asked))
    written: dict[str, set[str]] = {}
    for name in judged:
        if (plain := plain_name(name)) in plain_names:
            written.setdefault(plain, set()).add(name)
    return sum(name not in written.get(plain_name(name), (name,)) for name in asked)


def _are_plain(names: Iterable[str]) -> bool:
    """Whether all names are surely written as `plain_name` gives them."""
    text = "".join(names)
    return text.isascii() and "%" not in text
