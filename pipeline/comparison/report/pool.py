"""The part of a comparison's report about the pool that both arms use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_ARMS = ("base", "candidate")
_MOST_TOPICS = 12
_MOST_DOCUMENTS = 5  # per topic and arm
_COUNTS = ("both", "base", "candidate", "neither")


def good_documents(pool: Mapping[str, Any]) -> int:
    """The number of good documents in the pool, from the manifest."""
    return sum(int(pool[name]) for name in _COUNTS)


def one_sided(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The documents that only the base or only the candidate found, for the first topics.

    Args:
      rows: rows of the dataset `pool_documents`, in order.
    """
    topics: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        if row["found_by"] in _ARMS:
            topic = row["topic"] if row["topic"] is not None else row["conversation_id"]
            topics.setdefault(topic, {name: [] for name in _ARMS})[row["found_by"]].append(row)
    return [
        (
            topic,
            [
                {"arm": arm, "count": len(documents), "documents": _best(documents)}
                for arm, documents in by_arm.items()
            ],
        )
        for topic, by_arm in list(topics.items())[:_MOST_TOPICS]
    ]


def _best(documents: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(documents, key=lambda row: (-row["label"], row["number"]))[:_MOST_DOCUMENTS]
