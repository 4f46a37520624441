"""Names of topics and documents in TREC files: one word each, and unique if necessary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import quote

from goodgain.transforms.core.scoring.duplicate_rows import ResultPlace
from goodgain.transforms.core.unicode_14 import is_printable

_LIKE_A_POSITION = re.compile(r"i\d+\.call\d+\.rank\d+")


def word(text: str) -> str:
    """A text as one word: white space, `%` and unprintable characters are percent-encoded.

    Different texts become different words.
    """
    if is_printable(text) and " " not in text and "%" not in text:
        return text
    return "".join(
        quote(one, safe="") if one == "%" or one.isspace() or not is_printable(one) else one
        for one in text
    )


def document_names(ids: Sequence[str], places: Sequence[ResultPlace]) -> list[str]:
    """Unique names of the documents of one list.

    The name is the document's id if no other has the same; else its position, like
    `i2.call0.rank5`: dense iteration, its call from 0, rank in the call from 1.

    Args:
      ids: the id of each document; "" if it has none.
      places: the place of each document.
    """
    words = [word(id_) for id_ in ids]
    counts = Counter(words)
    return [
        name
        if name and counts[name] == 1 and not _LIKE_A_POSITION.fullmatch(name)
        else f"i{place.i}.call{place.call_position}.rank{place.rank}"
        for name, place in zip(words, places, strict=True)
    ]
