"""An explanation as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from goodgain.pipeline.results.rows import conversation_row, iteration_row
from goodgain.pipeline.studies.explanation.arms import ArmsExplanation
from goodgain.pipeline.studies.explanation.model import (
    ConversationExplanation,
    ExplainedIteration,
)


def explanation_json(explanation: ConversationExplanation) -> dict[str, Any]:
    """What `goodgain explain --json` prints.

    `conversation` and each of `iterations` hold the columns of SPEC 6; ranking metrics have their
    own spelling, like `ndcg@10`.
    """
    content: dict[str, Any] = msgspec.to_builtins(explanation)
    del content["row"], content["ranking"], content["iterations"]
    return {
        "conversation": conversation_row(explanation.row),
        **content,
        "iterations": [_iteration_json(iteration) for iteration in explanation.iterations],
    }


def arms_json(arms: ArmsExplanation) -> dict[str, Any]:
    """What `goodgain explain --against --json` prints; `input` and `against` hold the columns of
    `conversations`.
    """
    content: dict[str, Any] = msgspec.to_builtins(arms)
    return {
        **content,
        "input": conversation_row(arms.input),
        "against": conversation_row(arms.against),
    }


def _iteration_json(iteration: ExplainedIteration) -> dict[str, Any]:
    row: dict[str, Any] = iteration_row(iteration.row)
    for repeated in ("conversation_id", "turn", "attributes"):
        del row[repeated]
    return row | {"search_calls": msgspec.to_builtins(iteration.calls)}
