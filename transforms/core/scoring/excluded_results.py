"""Leaves excluded results out of a conversation, before anything is counted (SPEC 8)."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.judgments.exclusions import keep_results
from goodgain.transforms.core.judgments.external_labels import ExternalLabels
from goodgain.transforms.core.scoring.delivery import Delivered
from goodgain.transforms.core.scoring.settings import Scoring


class KeptConversation(Struct, frozen=True):
    """A conversation without excluded results.

    Attributes:
      external: with the names of the results that are left.
      excluded: number of results of the last turn's search calls that were left out; None without
        exclusions.
      indexes: by record_digest, where the results that are left stood in their call; without an
        entry all of its results are left.
    """

    delivered: Delivered
    external: ExternalLabels | None
    excluded: int | None = None
    indexes: dict[bytes, list[int]] = {}


def leave_out_excluded(
    conversation_id: str, delivered: Delivered, external: ExternalLabels | None, scoring: Scoring
) -> KeptConversation:
    """Leave out what `scoring.exclusions` excludes.

    Args:
      external: has the names of the results.
    """
    if scoring.exclusions is None:
        return KeptConversation(delivered, external)
    external = external or ExternalLabels()
    names = scoring.exclusions.of_conversation(conversation_id, delivered.attributes())
    if not names:
        return KeptConversation(delivered, external, 0)
    kept = keep_results(delivered.calls, external.documents, names)
    left = replace(delivered, calls=kept.calls)
    excluded = _results(delivered, scoring) - _results(left, scoring)
    return KeptConversation(
        left, replace(external, documents=kept.documents), excluded, kept.indexes
    )


def _results(delivered: Delivered, scoring: Scoring) -> int:
    return sum(len(call.results) for call in delivered.scored_searches(scoring))
