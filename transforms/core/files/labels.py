"""Reads labels of single results: a CSV, JSON Lines, Avro or Parquet table with one label per row.

A row has a gain and names its result: by `conversation_id`, `turn`, `iteration`, `call` and `rank`,
by `record_id` and `rank`, or by `span_id` and `position`. A row with an empty gain is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from msgspec import Struct

from goodgain.transforms.core.files.side_table import JoinedRows, UnusableRowError
from goodgain.transforms.core.judgments.result_labels import ResultLabel, keys_of, place_labels
from goodgain.transforms.core.records.coercion import is_blank
from goodgain.transforms.core.records.label_map import LabelMap, label_map_hint
from goodgain.transforms.core.records.search_call import GREATEST_GAIN, LARGEST_INT
from goodgain.transforms.core.records.side_rows import RowKey
from goodgain.transforms.core.remedy import Remedy

GAIN = ("gain", "label", "relevance")
SPAN = ("span_id", "context.span_id")
TRACE = ("trace_id", "context.trace_id")
POSITION = ("position", "document_position")
_PLACE = ("turn", "iteration", "call")
_COLUMNS = frozenset((
    *GAIN, *SPAN, *TRACE, *POSITION,
    *_PLACE, "conversation_id", "record_id", "rank",
))  # fmt: skip
_LONGEST_SHOWN = 60
_FEW_DIGITS = 12
# Spreadsheets and data frames may write whole numbers as 3.0.
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,12}(\.0*)?\s*")


class LabelTable(Struct, frozen=True):
    """Labels of single results as a `SideTable`.

    Attributes:
      iteration_base: number of the first iteration of a turn, in labels and traces.
      label_map: the gains of labels on another scale; None = labels are gains.
    """

    name: ClassVar = "labels"
    row_type: ClassVar = ResultLabel
    columns: ClassVar = _COLUMNS
    by_record: ClassVar = True

    iteration_base: int = 1
    label_map: LabelMap | None = None

    def parse(self, file: int, number: int, row: Mapping[Any, Any]) -> ResultLabel | None:
        """See `SideTable`; a row without a gain says nothing."""
        return _label(file, number, row, self)

    def conversation_of(self, row: Mapping[Any, Any]) -> Any:
        """See `SideTable`."""
        return row.get("conversation_id")

    def key_of(self, row: ResultLabel) -> RowKey:
        """See `SideTable`."""
        return row.key

    def names_of(self, row: ResultLabel) -> Iterable[str]:
        """See `SideTable`; gains have no names."""
        return ()

    def keys_of(self, conversation_id: str, record_ids: Iterable[str]) -> Iterable[RowKey]:
        """See `SideTable`."""
        return keys_of(conversation_id, record_ids)

    def join(self, rows: Sequence[ResultLabel], conversations: AbstractSet[str]) -> JoinedRows:
        """See `SideTable`; whether labels match a result is seen when it is scored."""
        conversation_id, unused = place_labels(rows, conversations)
        return JoinedRows(
            conversation_id, {"labels": rows}, unused, {"labels.rejected": len(unused)}
        )


class _Columns(NamedTuple):
    """The columns of a row that hold parts of a label.

    Attributes:
      place: the first that says where in its conversation the call is.
    """

    gain: str | None
    span: str | None
    trace: str | None
    position: str | None
    place: str | None


@lru_cache
def _columns_of(names: tuple[str, ...]) -> _Columns:
    """The columns of rows that have values under these names."""
    parts = (GAIN, SPAN, TRACE, POSITION, _PLACE)
    return _Columns(*(next((name for name in part if name in names), None) for part in parts))


def _label(file: int, number: int, row: Mapping[Any, Any], table: LabelTable) -> ResultLabel | None:
    values = {
        name: value for name, value in row.items() if name in _COLUMNS and not is_blank(value)
    }
    columns = _columns_of(tuple(values))
    if columns.gain is None:
        if not any(name in row for name in GAIN):
            raise UnusableRowError(f"The row has no gain (also read: {', '.join(GAIN[1:])}).")
        return None
    gain = _gain(values, columns.gain, table.label_map)
    conversation_id = _text(values, "conversation_id")
    record_id, span = _record(values, columns)
    turn, iteration, call = 1, None, None
    if record_id is not None:
        if columns.place is not None:
            raise UnusableRowError(
                f"The row names its record twice, by {'span_id' if span else 'record_id'} and by "
                f"{columns.place}; give one of them."
            )
    elif conversation_id is None or "iteration" not in values:
        raise UnusableRowError(
            "The row names no result: give conversation_id, iteration and rank (turn and call "
            "where there are several), record_id and rank, or span_id and position."
        )
    else:
        base = table.iteration_base
        turn = _whole(values, "turn", 1) if "turn" in values else 1
        iteration = _whole(values, "iteration", base) + 1 - base
        call = _whole(values, "call", 0) if "call" in values else None
    return ResultLabel(
        file,
        number,
        gain,
        _rank(values, columns.position),
        conversation_id,
        turn,
        iteration,
        call,
        record_id,
        span,
    )


def _gain(values: Mapping[str, Any], name: str, label_map: LabelMap | None) -> int:
    label = values[name]
    if label_map is None:
        try:
            return _whole(values, name, 0, GREATEST_GAIN)
        except UnusableRowError as error:
            reason = error.message.removesuffix(".") + label_map_hint(label) + "."
            raise UnusableRowError(reason, name) from None
    gain = label_map.gain(label)
    if gain is None:
        text = f"{name} is {_show(label)}, which " + Remedy("label_map") + " does not name."
        raise UnusableRowError(text, name)
    return gain


def _record(values: Mapping[str, Any], columns: _Columns) -> tuple[str | None, bool]:
    """The record_id of a row, or its span_id and True if the trace is unknown."""
    span = columns.span and _text(values, columns.span)
    if span is None:
        return _text(values, "record_id"), False
    if "record_id" in values:
        raise UnusableRowError(
            "The row names its record twice, by record_id and span_id; give one."
        )
    trace = columns.trace and _text(values, columns.trace)
    return (span, True) if trace is None else (f"{trace}/{span}", False)


def _rank(values: Mapping[str, Any], position: str | None) -> int:
    if position is None:
        if "rank" not in values:
            raise UnusableRowError("The row has neither rank (from 1) nor position (from 0).")
        return _whole(values, "rank", 1)
    if "rank" in values:
        raise UnusableRowError(f"The row has both rank and {position}; give one of them.")
    return _whole(values, position, 0) + 1


def _whole(values: Mapping[str, Any], name: str, least: int, most: int = LARGEST_INT) -> int:
    value = values[name]
    number = None
    if isinstance(value, str):
        if len(value) <= _FEW_DIGITS and value.isascii() and value.isdecimal():  # nearly all
            value = int(value)
        else:
            value = float(value) if _WHOLE.fullmatch(value) else None
    # `value - value` is 0 unless it is infinite or NaN; `isfinite` fails for huge integers.
    if isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0:
        number = int(value) if value == int(value) else None
    if number is None or not least <= number <= most:
        bound = f"{least} to {most}" if most < LARGEST_INT else f"{least} on"
        raise UnusableRowError(
            f"{name} must be a whole number from {bound}, got {_show(values[name])}.", name
        )
    return number


def _text(values: Mapping[str, Any], name: str) -> str | None:
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise UnusableRowError(f"{name} must be text, got {_show(value)}.", name)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnusableRowError(
            f"{name} is {_show(value)}, which is not UTF-8 text.", name
        ) from None
    return value


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
