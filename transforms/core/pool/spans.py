"""Detects votes on a document that are far apart, by name of the id that merged it (SPEC 9).

Ids that are only positions in a result list merge unrelated documents, whose labels then differ
far more often than those of different annotators.
"""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.transforms.core.pool.document import PoolDocument

GENERIC = "id"  # the name of the generic id
APART = 2  # grades


def label_spans(document: PoolDocument) -> Iterator[tuple[str, bool]]:
    """Each id name that two voting conversations share, and whether their votes are far apart."""
    names: dict[tuple[str, str], set[str]] = {}
    for place in document.places:
        result = document.evidence[place.evidence]
        carried = names.setdefault((place.run, place.conversation_id), set())
        carried.update(name for name, value in result.ids.items() if value)
        if result.id:
            carried.add(GENERIC)
    votes = {(vote.run, vote.conversation_id): vote.gain for vote in document.votes}
    for name in sorted(set().union(*names.values())):
        gains = [gain for voter, gain in votes.items() if name in names.get(voter, ())]
        if len(gains) > 1:
            yield name, max(gains) - min(gains) >= APART
