"""Detects pool documents whose votes are far apart, by the name of a shared id (SPEC 9).

Ids that are only positions in a result list merge unrelated documents. Votes on them then differ
far more often than annotators differ on one document.
"""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.transforms.core.pool.document import PoolDocument

GENERIC_ID_NAME = "id"
FAR_APART = 2  # in grades, the smallest difference that counts


def label_spans(document: PoolDocument) -> Iterator[tuple[str, bool]]:
    """Each id name that two or more voters saw, and whether their votes are far apart.

    A voter is a conversation of a run; it saw the names of the ids in its results.
    """
    names: dict[tuple[str, str], set[str]] = {}
    for place in document.places:
        result = document.evidence[place.evidence]
        of_voter = names.setdefault((place.run, place.conversation_id), set())
        of_voter.update(name for name, value in result.ids.items() if value)
        if result.id:
            of_voter.add(GENERIC_ID_NAME)
    votes = {(vote.run, vote.conversation_id): vote.gain for vote in document.votes}
    for name in sorted(set().union(*names.values())):
        gains = [gain for voter, gain in votes.items() if name in names.get(voter, ())]
        if len(gains) > 1:
            yield name, max(gains) - min(gains) >= FAR_APART
