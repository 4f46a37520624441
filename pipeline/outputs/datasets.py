"""The columns of each dataset, with types and descriptions, declared once for all formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

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


class Column(Struct, frozen=True):
    """A column.

    Attributes:
      kind: text, whole (64-bit), number (double), time (milliseconds UTC), map (text to text) or
        flag (true or false).
      nullable: whether null occurs.
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
        metric.name,
        "whole" if metric.whole else "number",
        doc,
        nullable=bool(metric.undefined),
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


DUPLICATES = Dataset(
    "duplicates",
    "One row for each duplicate: its place, that of its first occurrence, and the reason.",
    (
        _CONVERSATION_ID,
        _TURN,
        _I,
        _ITERATION,
        Column("call_position", "whole", "The call's place within its iteration, from 0."),
        Column("rank", "whole", "The result's place within the call, from 1."),
        Column("first_i", "whole", "i of the first occurrence."),
        Column("first_iteration", "whole", "Raw iteration of the first occurrence."),
        Column("first_call_position", "whole", "Call of the first occurrence, from 0."),
        Column("first_rank", "whole", "Rank of the first occurrence, from 1."),
        Column("entity_type", "text", "Type of the duplicate.", nullable=True),
        Column("gain", "whole", "Label of the duplicate.", nullable=True),
        Column("first_gain", "whole", "Label of the first occurrence; it counts.", nullable=True),
        Column("key", "text", "The first key that proposed the pair."),
        Column("step", "text", "The step of the rules that decided."),
        Column("clause", "whole", "The line of duplicate_if that applied, from 1.", nullable=True),
    ),
)

MEANS = Dataset(
    "means",
    "One row for each mean over conversations: per slice, metric, iteration and population.",
    (
        Column("slice", "map", "Attributes that the conversations share; empty = all of them."),
        Column("metric", "text", "Column of conversations (i null) or iterations; gauc."),
        Column("i", "whole", "Iteration; null = each conversation's last one.", nullable=True),
        Column(
            "population",
            "text",
            "reached = conversations with N >= i; all = every conversation that searched, those "
            "that stopped earlier extended with empty iterations; everyone = also those that never "
            "searched, with gain 0, if there are any; calls = every search call, by its own list.",
        ),
        Column("n", "whole", "Conversations on which the metric is defined."),
        Column("undefined", "whole", "Conversations on which it is null."),
        Column("mean", "number", "Mean; every conversation has the same weight.", nullable=True),
        Column("stddev", "number", "Standard deviation (n - 1).", nullable=True),
        Column("stderr", "number", "Standard error of the mean.", nullable=True),
        Column("skewness", "number", "Skewness; null if all values are equal.", nullable=True),
        Column("ci_low", "number", "Lower end of the 95 % interval of the mean.", nullable=True),
        Column("ci_high", "number", "Upper end of the 95 % interval of the mean.", nullable=True),
        Column(
            "interval",
            "text",
            "hall = t corrected for skewness; student = Student's t; wilson = for shares, for "
            "metrics that are 0 or 1 in each conversation; clusters = from the totals of clusters.",
            nullable=True,
        ),
        Column(
            "clusters",
            "whole",
            "Number of clusters with a value; null if conversations count as independent.",
            nullable=True,
        ),
        Column(
            "intraclass_correlation",
            "number",
            "Share of the variance that is between clusters rather than within them.",
            nullable=True,
        ),
        Column("note", "text", "Why the mean has no interval.", nullable=True),
        Column(
            "worst",
            "number",
            "The mean of the same n values if every unlabelled result were worthless; null without "
            "--bounds, if the metric has no such bounds, and if n = 0.",
            nullable=True,
        ),
        Column(
            "best",
            "number",
            "The same if every unlabelled result had the best label.",
            nullable=True,
        ),
        Column("min", "number", "Least value.", nullable=True),
        Column("max", "number", "Greatest value.", nullable=True),
        Column("p10", "number", "10 % of the values lie below.", nullable=True),
        Column("p50", "number", "Median.", nullable=True),
        Column("p90", "number", "90 % of the values lie below.", nullable=True),
    ),
)

REJECTED = Dataset(
    "rejected",
    "One row for each record, or part of a file, that could not be used.",
    (
        Column("source", "text", "Path of the file."),
        Column("position", "text", "Place in the file."),
        Column("reason", "text", "Why it was rejected."),
        Column("field", "text", "Path of the field at fault.", nullable=True),
        Column("conversation_id", "text", "Its conversation, if readable.", nullable=True),
        Column("payload", "text", "The raw input, truncated."),
        Column("records", "whole", "Number of records that the row covers."),
    ),
)

REJECTED_LABELS = replace(
    REJECTED, name="rejected_labels", doc="One row for each label of --labels that matches nothing."
)

LATE = Dataset(
    "late",
    "One row for each record that arrived after its conversation was closed (streaming).",
    (
        _CONVERSATION_ID,
        Column("turn", "whole", "Turn of the record."),
        _ITERATION,
        Column("call", "whole", "Call of the record.", nullable=True),
        Column("record_id", "text", "Identity of the record.", nullable=True),
        Column("timestamp", "time", "Event time of the record.", nullable=True),
        Column("results", "whole", "Number of its results."),
    ),
)
