"""Schemas of Beam for structs and scores, and rows that have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import apache_beam as beam
import msgspec
from apache_beam.typehints.row_type import RowTypeConstraint
from msgspec.structs import asdict

from goodgain.transforms.core.metrics.plan import MetricPlan
from goodgain.transforms.core.ranking.names import column_name
from goodgain.transforms.core.records.search_call import Result
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.score_rows import ConversationRow, IterationRow

_encode = msgspec.msgpack.encode


def score_row(score: ConversationScore) -> beam.Row:
    """A score as a row, which also has the score itself for `GlobalMeanRows`."""
    row = score.conversation
    identity = {name: getattr(row, name) for name, _ in _IDENTITY}
    metrics = {column_name(name): value for name, value in row.metrics.items()}
    iterations = [
        _of_columns(
            {name: getattr(iteration, name) for name, _ in _OF_ITERATION} | iteration.metrics
        )
        for iteration in score.iterations
    ]
    return beam.Row(**identity, **metrics, iterations=iterations, score=_encode(score))


def score_type(plan: MetricPlan) -> RowTypeConstraint:
    """The schema of `score_row`."""
    ranking = {metric.name for metric in plan.ranking}
    metrics = [
        (
            column_name(metric.name),
            _number_type(
                metric.whole and metric.name not in ranking,
                not metric.counted or bool(metric.undefined),
            ),
        )
        for metric in plan.at_n
    ]
    by_i = [
        (metric.name, _number_type(metric.whole, bool(metric.undefined))) for metric in plan.by_i
    ]
    of_iterations = RowTypeConstraint.from_fields([*_OF_ITERATION, *by_i])
    nested = [("iterations", Sequence[of_iterations]), ("score", bytes)]  # type: ignore[valid-type]
    return RowTypeConstraint.from_fields([*_IDENTITY, *metrics, *nested])


def _number_type(whole: bool, nullable: bool) -> Any:
    kind = int if whole else float
    return Union[kind, None] if nullable else kind  # noqa: UP007


def struct_row(struct: msgspec.Struct) -> beam.Row:
    """A struct as a row."""
    return _of_columns(asdict(struct))


def _of_columns(columns: dict[str, Any]) -> beam.Row:
    return beam.Row(**{name: _schema_value(value) for name, value in columns.items()})


def _schema_value(value: Any) -> Any:
    """A value as its schema type: nested rows, plain integers, lists even for single strings."""
    if isinstance(value, Result):
        many = {
            name: {
                key: [named] if isinstance(named, str) else named for key, named in values.items()
            }
            for name, values in (("ids", value.ids), ("fields", value.fields))
        }
        return beam.Row(**{**asdict(value), **many})
    if isinstance(value, list):
        return [_schema_value(item) for item in value]
    if isinstance(value, int) and type(value) not in (int, bool):
        return int(value)
    return value


def plain_mapping(value: Any) -> Any:
    """Rows as dicts, at every depth."""
    if isinstance(value, beam.Row):
        value = value.as_dict()
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: plain_mapping(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain_mapping(item) for item in value]
    return value


def row_type(struct: type[msgspec.Struct]) -> RowTypeConstraint:
    """The schema of `struct_row`."""
    return RowTypeConstraint.from_fields(_fields(struct))


def _fields(struct: type[msgspec.Struct]) -> list[tuple[str, Any]]:
    return [(name, _schema_type(hint)) for name, hint in get_type_hints(struct).items()]


def _schema_type(hint: Any) -> Any:
    """The schema type for one of our types."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _schema_type(arguments[0])
    if origin in (Union, UnionType):
        kinds = [argument for argument in arguments if argument is not type(None)]
        # One or several strings are a list of strings.
        kind = _schema_type(kinds[-1])
        return Union[kind, None] if type(None) in arguments else kind  # noqa: UP007
    if origin is list:
        return Sequence[_schema_type(arguments[0])]  # type: ignore[misc]
    if origin is dict:
        return Mapping[str, _schema_type(arguments[1])]  # type: ignore[misc]
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return row_type(hint)
    if isinstance(hint, type) and issubclass(hint, int) and hint is not bool:
        return int
    return hint if isinstance(hint, type) else str  # a literal


_METRICS = ("columns", "values", "topic")  # become columns of their own


_IDENTITY = [field for field in _fields(ConversationRow) if field[0] not in _METRICS]


_OF_ITERATION = [field for field in _fields(IterationRow) if field[0] not in _METRICS]
