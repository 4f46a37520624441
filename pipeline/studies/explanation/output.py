"""An explanation as JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import asdict

from goodgain.pipeline.results.rows import with_cost_columns
from goodgain.pipeline.studies.explanation.model import (
    ConversationExplanation,
    ExplainedIteration,
)


def explanation_json(explanation: ConversationExplanation) -> dict[str, Any]:
    """What `goodgain explain --json` prints.

    `conversation` and each of `iterations` hold the columns of SPEC 6; ranking metrics have their
    own spelling, like `ndcg@10`.
    """
    row = with_cost_columns(asdict(explanation.row))
    pool = row.pop("pool")
    del row["ranking"]
    content: dict[str, Any] = msgspec.to_builtins(explanation)
    del content["row"], content["ranking"], content["iterations"]
    return {
        "conversation": row | explanation.ranking | (asdict(pool) if pool else {}),
        **content,
        "iterations": [_iteration_json(one) for one in explanation.iterations],
    }


def _iteration_json(iteration: ExplainedIteration) -> dict[str, Any]:
    row = with_cost_columns(asdict(iteration.row))
    for repeated in ("conversation_id", "turn", "attributes"):
        del row[repeated]
    if (pool := row.pop("pool")) is not None:
        row |= asdict(pool)
    return row | {"search_calls": msgspec.to_builtins(iteration.calls)}
