"""Names of results that are written otherwise than a judged name, so that no judgment labels them.

The same name may be in another Unicode form (NFC, NFD), or percent-encoded, as in a URL.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from urllib.parse import unquote


def plain_name(name: str) -> str:
    """A name without percent-encoding, in NFC; of names that are written otherwise it is equal."""
    if "%" in name:
        name = unquote(name)
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def count_similar(asked: Mapping[str, Collection[str]], judged: Iterable[tuple[str, str]]) -> int:
    """How many names of results are written otherwise than a judged name of their topic.

    Args:
      asked: the names of results by topic.
      judged: the judged names, as topic and name.
    """
    plain_names = {topic: set(map(plain_name, names)) for topic, names in asked.items() if names}
    written: dict[tuple[str, str], set[str]] = {}
    for topic, name in judged:
        of_topic = plain_names.get(topic)
        if of_topic is not None and (plain := plain_name(name)) in of_topic:
            written.setdefault((topic, plain), set()).add(name)
    if not written:
        return 0
    return sum(
        name not in written.get((topic, plain_name(name)), (name,))
        for topic, names in asked.items()
        for name in names
    )
