"""Explains the outcome of each result of the calls of a turn."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.pipeline.studies.explanation import model
from goodgain.pipeline.studies.explanation.observed_turn import ObservedTurn
from goodgain.pipeline.studies.explanation.reasons import Reasons
from goodgain.pipeline.studies.explanation.usage import id_text
from goodgain.transforms.core.pool.matching import TurnPool
from goodgain.transforms.core.records.epoch import moment_of_millis
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.folded_conversation import FoldedConversation


def explain_calls(
    folded: FoldedConversation, observed: ObservedTurn, reasons: Reasons, threshold: int
) -> Iterator[tuple[int, model.ExplainedCall]]:
    """Each call of the last turn with its i.

    Args:
      threshold: the least gain of a good result.
    """
    turn, details, usages = folded.turn, observed.details, observed.usages
    results = observed.results
    met_again = turn.judgments_met_again or {}
    raised = {
        rise.index: model.Raised(rise.before, rise.label, rise.gain(threshold))
        for rise in turn.rises or ()
        if rise.index != rise.first
    }
    asked: dict[bytes, model.CallPlace] = {}
    start = 0
    for at, call in enumerate(observed.searched):
        i, _, call_position = details.call_place(at)
        query, place = turn.calls[at].query, model.CallPlace(i, call_position)
        repeats = None if query is None else asked.setdefault(query, place)
        indexes = range(start, start + len(call.results))
        start = indexes.stop
        explained_results = []
        for rank, index in enumerate(indexes, start=1):
            result = results[index]
            duplicate = reasons.why(index)
            gain = turn.results[index].gain if duplicate else turn.label_at(index)
            good = gain is not None and gain >= threshold
            outcome: model.Outcome = "duplicate" if duplicate else "good" if good else "other"
            explained_results.append(
                model.ExplainedResult(
                    rank=rank,
                    gain=gain,
                    entity_type=details.entity_type(index),
                    title=result.title,
                    url=result.url,
                    id=id_text(result.id, result.ids),
                    outcome=outcome,
                    duplicate=duplicate,
                    pooled=_in_pool(turn, index, folded.pool),
                    judged_at=details.place(met_again[index]) if index in met_again else None,
                    raised=raised.get(index),
                    used=() if usages is None or duplicate else usages.actions(index),
                )
            )
        yield (
            i,
            model.ExplainedCall(
                call_position=call_position,
                call=call.call,
                record_id=call.record_id,
                timestamp=None if call.timestamp is None else _iso(call.timestamp),
                tool=call.tool,
                query=call.query,
                error=call.error if turn.calls[at].failed else None,
                repeats=None if repeats == place else repeats,
                results=explained_results,
                excluded=observed.excluded[at],
            ),
        )


def _in_pool(turn: FoldedTurn, index: int, pool: TurnPool | None) -> model.InPool | None:
    """How a first occurrence matches the pool; None for copies, and without a pool."""
    if pool is None or turn.pooled is None or turn.duplicates[index] is not None:
        return None
    if index not in turn.pooled:
        return model.InPool(None, None, None, "outside")
    pooled = turn.pooled[index]
    document = pool.topic_pool.documents[pooled.document]
    return model.InPool(
        number=document.number,
        document=document.document,
        label=pool.topic_pool.labels[pooled.document],
        how="pooled" if pooled.verdict is None else pooled.verdict.step.value,
    )


def _iso(millis: int) -> str:
    return moment_of_millis(millis).isoformat(timespec="milliseconds").replace("+00:00", "Z")
