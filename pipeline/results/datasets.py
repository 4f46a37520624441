"""The columns of each dataset, with types and descriptions, declared once for all formats.

Columns that depend on the run, like those of metrics, are declared here; datasets that always have
the same columns by their Avro schemas.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.calls import CALL_METRICS
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.plan import MetricPlan
from goodgain.transforms.core.metrics.pool import POOL

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


def load_shipped_dataset(name: str) -> Dataset:
    """A dataset as its Avro schema in `configs/schemas` declares it."""
    path = resources.files("goodgain.configs").joinpath(f"schemas/{name}.avsc")
    schema = json.loads(path.read_text(encoding="utf-8"))
    return Dataset(schema["name"], schema["doc"], tuple(map(_column, schema["fields"])))


def _column(field: Mapping[str, Any]) -> Column:
    nullable = isinstance(field["type"], list)
    avro_type = field["type"][-1] if nullable else field["type"]
    kind = next(kind for kind, own in AVRO_TYPES.items() if own == avro_type)
    return Column(field["name"], kind, field["doc"], nullable)


ITERATIONS = "iterations"
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


def _ranking_column(metric: Metric) -> Column:
    # Every ranking metric is null for a conversation that did not search (SPEC 6).
    return replace(_metric_column(metric), kind="number", nullable=True)


def iterations(plan: MetricPlan) -> Dataset:
    """The dataset `iterations` of a run with this plan."""
    return Dataset(
        ITERATIONS,
        "One row for each iteration of a conversation's last turn.",
        (_CONVERSATION_ID, _TURN, _ATTRIBUTES, _I, _ITERATION, *map(_metric_column, plan.by_i)),
    )


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


_TOPIC_ASPECTS = Column(
    "topic_aspects", "whole", "Aspects that some judged document of the topic covers."
)


def conversations(plan: MetricPlan, judged_outside: bool = False) -> Dataset:
    """The dataset `conversations` of a run with this plan.

    Args:
      judged_outside: whether the run has external judgments.
    """
    ranking = {metric.name for metric in plan.ranking}
    columns = {
        metric.name: (_ranking_column if metric.name in ranking else _metric_column)(metric)
        for metric in plan.at_n
    }
    of_calls = [columns.pop(metric.name) for metric in CALL_METRICS]
    first = [columns.pop(metric.name) for metric in CONVERSATION_METRICS if metric.name in columns]
    redelivered = first.pop()
    of_pool = [columns.pop(metric.name) for metric in POOL.at_n if metric.name in columns]
    of_ranking = [columns.pop(metric.name) for metric in plan.ranking]
    return Dataset(
        "conversations",
        "One row for each conversation; metrics are those at its last iteration.",
        (
            _CONVERSATION_ID,
            Column("turn", "whole", _TURN.doc + " Null without a usable record.", nullable=True),
            _ATTRIBUTES,
            *first,
            *((_JUDGMENTS_MET_AGAIN, _QRELS_BEST) if judged_outside else ()),
            Column(
                "rejected_records",
                "whole",
                "Its records that could not be used; with any, it is left out of the means.",
            ),
            redelivered,
            *_CONVERSATION_TIMES,
            *of_ranking,
            *of_calls,
            *((*of_pool, *_OF_POOL) if of_pool else ()),
            *((_TOPIC_ASPECTS,) if "aspects" in columns else ()),
            *columns.values(),
        ),
    )


def calls(plan: MetricPlan) -> Dataset:
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
            *map(_ranking_column, plan.ranking),
        ),
    )


# Datasets that always have the same columns.
DUPLICATES = load_shipped_dataset("duplicates")
MEANS = load_shipped_dataset("means")
OUTCOME_RELATIONS = load_shipped_dataset("outcome_relations")
REJECTED = load_shipped_dataset("rejected")
REJECTED_LABELS = load_shipped_dataset("rejected_labels")
REJECTED_OUTCOMES = load_shipped_dataset("rejected_outcomes")
# By table beside the traces.
REJECTED_ROWS = {"labels": REJECTED_LABELS, "outcomes": REJECTED_OUTCOMES}
LATE = load_shipped_dataset("late")
# Those of a comparison.
COMPARISON = load_shipped_dataset("comparison")
DIFFERENCES = load_shipped_dataset("differences")
POOL_DOCUMENTS = load_shipped_dataset("pool_documents")
ARMS = Dataset(
    "arms",
    "What each arm gained and what it cost, at N and by iteration; if traces have costs.",
    (Column("arm", "text", "base or candidate."), *MEANS.columns),
)


def pool_documents(name: str) -> Dataset:
    """The dataset of a pool's documents, named like its folder."""
    return replace(load_shipped_dataset("documents"), name=name)


_OF_RUN = (
    DUPLICATES, MEANS, OUTCOME_RELATIONS, REJECTED, REJECTED_LABELS, REJECTED_OUTCOMES,
)  # fmt: skip
SHIPPED_OF_RUN = (*_OF_RUN, LATE)
_OF_COMPARISON = (COMPARISON, DIFFERENCES, ARMS, POOL_DOCUMENTS)
# By dataset of a finished run or comparison, those that it has whatever the options.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    **{
        dataset.name: tuple(column.name for column in dataset.columns)
        for dataset in (*_OF_RUN, *_OF_COMPARISON)
    },
    ITERATIONS: ("conversation_id", "turn", "attributes", "i", "iteration"),
    "conversations": ("conversation_id", "turn", "attributes", "N", "rejected_records"),
}
# The names of all datasets that there may be in an output folder.
RUN_DATASETS = (
    ITERATIONS, "conversations", "calls", *(dataset.name for dataset in SHIPPED_OF_RUN),
)  # fmt: skip
COMPARISON_DATASETS = tuple(dataset.name for dataset in _OF_COMPARISON)
STREAM_DATASETS = (*RUN_DATASETS, "live", "warnings")
