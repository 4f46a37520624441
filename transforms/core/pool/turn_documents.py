"""The documents of a folded turn, and the records that its fingerprints were made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from goodgain.transforms.core.dedup.duplicates import Duplicate
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.records.search_call import SearchCall, timestamp_hook

_decode_call = msgspec.json.Decoder(SearchCall, dec_hook=timestamp_hook).decode


def documents_of(duplicates: Sequence[Duplicate | None]) -> list[list[int]]:
    """For each document, the indexes of its occurrences; in the order of the turn.

    Args:
      duplicates: by index in the turn; None for first occurrences.
    """
    by_first: dict[int, list[int]] = {}
    for index, duplicate in enumerate(duplicates):
        by_first.setdefault(index if duplicate is None else duplicate.first, []).append(index)
    return list(by_first.values())


def records_of(calls: Iterable[CallFingerprint]) -> Iterator[SearchCall]:
    """The records that fingerprints were made from, decoded from their canonical encodings.

    Raises:
      ValueError: a fingerprint has no canonical encoding.
    """
    for call in calls:
        if call.encoding is None:
            raise ValueError("pools need the canonical encodings of records")
        yield _decode_call(call.encoding)
