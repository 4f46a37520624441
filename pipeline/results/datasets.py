"""The columns of each dataset, with types and descriptions, declared once for all formats.

Columns that depend on the run, like those of metrics, are declared here; datasets that always have
the same columns by their Avro schemas.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.ranking import RankingMetric
from goodgain.transforms.core.scoring.costs import (
    conversation_columns,
    cost_metric,
    iteration_columns,
)
from goodgain.transforms.core.scoring.registry import (
    CONVERSATION_METRICS,
    ITERATION_METRICS,
    POOL_ITERATION_METRICS,
    POOL_METRICS,
)

Kind = Literal["text", "whole", "number", "time", "map", "flag"]
AVRO_TYPES: Mapping[Kind, Any] = {
    "text": "string",
    "whole": "long",
    "number": "double",
    "time": {"type": "long", "logicalType": "timestamp-millis"},
    "map": {"type": "map", "values": "string"},
    "flag": "boolean",
}


class Column(Struct, frozen=True):
    """A column.

    Attributes:
      kind: text, whole (64-bit), number (double), time (milliseconds UTC), map (text to text) or
        flag (true or false).
    """

    name: str
    kind: Kind
    doc: str
    nullable: bool = False


class Dataset(Struct, frozen=True):
    """A dataset: one folder of files with the same columns."""

    name: str
    doc: str
    columns: tuple[Column, ...]


def shipped(name: str) -> Dataset:
    """A dataset as its Avro schema in `configs/schemas` declares it."""
    path = resources.files("goodgain.configs").joinpath(f"schemas/{name}.avsc")
    schema = json.loads(path.read_text(encoding="utf-8"))
    return Dataset(schema["name"], schema["doc"], tuple(map(_column, schema["fields"])))


def _column(field: Mapping[str, Any]) -> Column:
    nullable = isinstance(field["type"], list)
    avro_type = field["type"][-1] if nullable else field["type"]
    kind = next(kind for kind, own in AVRO_TYPES.items() if own == avro_type)
    return Column(field["name"], kind, field["doc"], nullable)


_CONVERSATION_ID = Column("conversation_id", "text", "Identity of the conversation.")
_TURN = Column("turn", "whole", "The last turn of the conversation, which is the one evaluated.")
_ATTRIBUTES = Column(
    "attributes", "map", "Attributes of the conversation; the last non-blank value of each."
)
_I = Column("i", "whole", "Iteration, counted densely from 1.")
_ITERATION = Column("iteration", "whole", "The iteration's raw number in the trace.")


def _metric_column(metric: Metric) -> Column:
    doc = f"{metric.meaning} Unit: {metric.unit}. Definition: {metric.formula}."
    if metric.undefined:
        doc += f" Null when {metric.undefined}."
    return Column(
        metric.name, "whole" if metric.whole else "number", doc, nullable=bool(metric.undefined)
    )


def _ranking_columns(metrics: Sequence[RankingMetric]) -> tuple[Column, ...]:
    # Every ranking metric is null for a conversation that did not search (SPEC 6).
    return tuple(
        Column(metric.name, "number", _metric_column(metric.declaration).doc, nullable=True)
        for metric in metrics
    )


def _cost_columns(names: Sequence[str]) -> tuple[Column, ...]:
    return tuple(_metric_column(metric) for metric in map(cost_metric, names) if metric)


def iterations(pooled: bool = False, costs: Sequence[str] = ()) -> Dataset:
    """The dataset `iterations`; a pool and costs add columns."""
    return Dataset(
        "iterations",
        "One row for each iteration of a conversation's last turn.",
        (
            _CONVERSATION_ID,
            _TURN,
            _ATTRIBUTES,
            _I,
            _ITERATION,
            *map(_metric_column, ITERATION_METRICS),
            *(map(_metric_column, POOL_ITERATION_METRICS) if pooled else ()),
            *_cost_columns(iteration_columns(costs)),
        ),
    )


ITERATIONS = iterations()

_CONVERSATION_TIMES = (
    Column("first_timestamp", "time", "Time of its first record.", nullable=True),
    Column("last_timestamp", "time", "Time of its last record.", nullable=True),
)


_OF_POOL = (
    Column("pool_good", "whole", "Number of good documents in the topic's pool, found or not."),
    Column("pool_best", "whole", "Greatest label in the topic's pool.", nullable=True),
    Column(
        "pool_found",
        "text",
        "Numbers of the good documents of the topic's pool that were found, in that order.",
    ),
)


_JUDGMENTS_MET_AGAIN = Column(
    "judgments_met_again",
    "whole",
    "Documents without a judgment because those of their names already label earlier ones.",
)
_QRELS_BEST = Column(
    "qrels_best", "whole", "Greatest label of the topic in the judgments.", nullable=True
)


def conversations(
    metrics: Sequence[RankingMetric],
    judged_outside: bool = False,
    pooled: bool = False,
    costs: Sequence[str] = (),
) -> Dataset:
    """The dataset `conversations`; ranking metrics, judgments, a pool and costs add columns."""
    by_name = {metric.name: _metric_column(metric) for metric in CONVERSATION_METRICS}
    redelivered = by_name.pop("redelivered")
    return Dataset(
        "conversations",
        "One row for each conversation; metrics are those at its last iteration.",
        (
            _CONVERSATION_ID,
            Column("turn", "whole", _TURN.doc + " Null without a usable record.", nullable=True),
            _ATTRIBUTES,
            *by_name.values(),
            *((_JUDGMENTS_MET_AGAIN, _QRELS_BEST) if judged_outside else ()),
            Column(
                "rejected_records",
                "whole",
                "Its records that could not be used; with any, it is left out of the means.",
            ),
            redelivered,
            *_CONVERSATION_TIMES,
            *_ranking_columns(metrics),
            *((*map(_metric_column, POOL_METRICS), *_OF_POOL) if pooled else ()),
            *_cost_columns(conversation_columns(costs)),
        ),
    )


def with_costs_of(dataset: Dataset, row: Mapping[str, object]) -> Dataset:
    """A dataset with the cost columns of one of its rows, since these depend on the traces."""
    declared = {column.name for column in dataset.columns}
    return replace(
        dataset,
        columns=(*dataset.columns, *_cost_columns([name for name in row if name not in declared])),
    )


def calls(metrics: Sequence[RankingMetric]) -> Dataset:
    """The dataset `calls`: the ranking metrics of every search call."""
    return Dataset(
        "calls",
        "One row for each search call of a conversation's last turn, evaluated by itself.",
        (
            _CONVERSATION_ID,
            _TURN,
            _ATTRIBUTES,
            _I,
            _ITERATION,
            Column("call_position", "whole", "The call's place within its iteration, from 0."),
            Column("call", "whole", "The producer's number of the call.", nullable=True),
            Column("results", "whole", "Results of the call, duplicates included."),
            *_ranking_columns(metrics),
        ),
    )


# Datasets that always have the same columns.
DUPLICATES = shipped("duplicates")
MEANS = shipped("means")
REJECTED = shipped("rejected")
REJECTED_LABELS = shipped("rejected_labels")
LATE = shipped("late")
# Those of a comparison.
COMPARISON = shipped("comparison")
DIFFERENCES = shipped("differences")
POOL_DOCUMENTS = shipped("pool_documents")
ARMS = Dataset(
    "arms",
    "What each arm gained and what it cost, at N and by iteration; if traces have costs.",
    (Column("arm", "text", "base or candidate."), *MEANS.columns),
)


def pool_documents(name: str) -> Dataset:
    """The dataset of a pool's documents, named like its folder."""
    return replace(shipped("documents"), name=name)
