"""Folds the last turn of a conversation with the labels that count (SPEC 3-5, 8, 9).

Scores, explanations and contributions to pools are made of a `FoldedConversation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.judgments.exclusions import keep_in_records
from goodgain.transforms.core.judgments.external_labels import (
    ExternalLabels,
    TopicLabels,
    relabel_calls,
)
from goodgain.transforms.core.judgments.result_labels import (
    LabelledCalls,
    ResultLabel,
    label_calls,
)
from goodgain.transforms.core.pool.files import TopicPools
from goodgain.transforms.core.pool.matching import TurnPool
from goodgain.transforms.core.scoring.delivery import Delivered, deliver
from goodgain.transforms.core.scoring.excluded_results import KeptConversation, leave_out_excluded
from goodgain.transforms.core.scoring.fold import FoldedTurn, fold_turn
from goodgain.transforms.core.scoring.pool_finds import turn_pool_of
from goodgain.transforms.core.scoring.settings import Scoring


class FoldedConversation(Struct, frozen=True):
    """A conversation whose last turn is folded.

    Attributes:
      attributes: the last non-blank value of each, sorted by name.
      kept: its calls without excluded results, with the labels given to single results.
      labelled: what became of labels of single results; None if none were given.
      judgments: external judgments of its topic; None if the traces' own labels count.
      pool: the pool of its topic; None without a pool.
    """

    conversation_id: str
    attributes: dict[str, str]
    kept: KeptConversation
    labelled: LabelledCalls | None
    judgments: TopicLabels | None
    pool: TurnPool | None
    turn: FoldedTurn

    @property
    def delivered(self) -> Delivered:
        """See `kept`."""
        return self.kept.delivered

    def usages(self) -> list[CallFingerprint]:
        """The records of documents opened or cited in the last turn, with the labels that count."""
        usages = self.delivered.usages()
        return usages if self.judgments is None else relabel_calls(usages, self.judgments)


def fold_conversation(
    conversation_id: str,
    fingerprints: Iterable[CallFingerprint],
    scoring: Scoring,
    external: ExternalLabels | None = None,
    pools: TopicPools | None = None,
    labels: Sequence[ResultLabel] = (),
) -> FoldedConversation:
    """Fold the last turn of a conversation from all its fingerprints, in any order.

    Args:
      fingerprints: every delivery of every call.
      external: external judgments, used if `scoring.label_keys` is given, and names of documents,
        if `scoring.name_keys` are.
      pools: pools of topics, used if `scoring.pool` is given; then fingerprints must have
        their records.
      labels: labels of single results, which replace those of the trace.

    Raises:
      GoodGainError: a file of the pool cannot be read.
    """
    delivered = deliver(fingerprints)
    labelled = label_calls(delivered.calls, labels) if labels else None
    if labelled is not None:
        delivered = replace(delivered, calls=labelled.calls)
    kept = leave_out_excluded(conversation_id, delivered, external, scoring)
    attributes = kept.delivered.attributes()
    judgments = None
    if scoring.label_keys is not None:
        topic = scoring.label_keys.topic(conversation_id, attributes)
        judgments = (kept.external or ExternalLabels()).of_topic(topic)
    pool = turn_pool_of(conversation_id, attributes, scoring.pool, pools)
    searches = kept.delivered.scored_searches(scoring)
    turn = fold_turn(
        searches if pool is None else keep_in_records(searches, kept.indexes),
        scoring.rules,
        scoring.good_gain_threshold,
        judgments,
        pool,
        scoring.document_label,
    )
    return FoldedConversation(conversation_id, attributes, kept, labelled, judgments, pool, turn)
