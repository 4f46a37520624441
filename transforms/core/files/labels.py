"""Reads labels of single results: a CSV, JSON Lines or Parquet table with one label per row.

A row has a gain and names its result: by `conversation_id`, `turn`, `iteration`, `call` and `rank`,
by `record_id` and `rank`, or by `span_id` and `position`. A row with an empty gain is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.shard import Open
from goodgain.transforms.core.files.tables import (
    BrokenTableError,
    TableFile,
    TableRow,
    table_rows,
)
from goodgain.transforms.core.judgments.result_labels import ResultLabel
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.label_map import LabelMap, label_map_hint
from goodgain.transforms.core.records.rejected import (
    RejectedRecord,
    payload_of_bytes,
    payload_of_mapping,
)
from goodgain.transforms.core.records.search_call import GREATEST_GAIN, LARGEST_INT
from goodgain.transforms.core.remedy import Remedy

GAIN = ("gain", "label", "relevance")
SPAN = ("span_id", "context.span_id")
TRACE = ("trace_id", "context.trace_id")
POSITION = ("position", "document_position")
_COLUMNS = frozenset((
    *GAIN, *SPAN, *TRACE, *POSITION,
    "conversation_id", "turn", "iteration", "call", "record_id", "rank",
))  # fmt: skip
_LONGEST_SHOWN = 60
# Spreadsheets and data frames may write whole numbers as 3.0.
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,12}(\.0*)?\s*")

LabelRow = ResultLabel | RejectedRecord | None


class _RowError(GoodGainError):
    """A row that cannot be used; the message is a sentence."""

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason)
        self.field = field


class LabelFile(Struct, frozen=True):
    """A file of labels.

    Attributes:
      number: its index among the files, from 0.
      label_map: the gains of labels on another scale; None = labels are gains.
    """

    table: TableFile
    size: int
    number: int
    label_map: LabelMap | None = None


def read_labels(file: LabelFile, open_file: Open, iteration_base: int = 1) -> Iterator[LabelRow]:
    """Every row of a file in order: a label, a rejected row, or None if it has no gain.

    `iteration_base` is the number of the first iteration of a turn, in labels and traces.
    """
    number = 0
    try:
        for row in table_rows(file.table, open_file, _COLUMNS):
            number = row.number
            yield _label_or_rejected(file, row, iteration_base)
    except (OSError, BrokenTableError) as error:
        reason = f"The file cannot be read from here on ({error})."
        yield RejectedRecord(file.table.path, file.table.position(number + 1), reason)


def counted_labels(rows: Iterable[LabelRow], budget: MemoryBudget) -> Iterator[LabelRow]:
    """The rows of a file of labels; `budget` counts them, and raises beyond its limit."""
    for row in rows:
        if isinstance(row, RejectedRecord):
            budget.count_read(row.conversation_id, row.reason, row.payload)
        elif row is not None:
            budget.count_label(*row.key)
        yield row


def labels_of_rows(rows: Iterable[Any], file: LabelFile, iteration_base: int) -> Iterator[LabelRow]:
    """Like `read_labels`, for rows in memory; rejected rows have `file` as their source."""
    for number, row in enumerate(rows, start=1):
        yield _label_or_rejected(file, TableRow(number, row), iteration_base)


def _label_or_rejected(file: LabelFile, row: TableRow, iteration_base: int) -> LabelRow:
    values = row.values
    try:
        if row.problem is not None:
            raise _RowError(f"The row has {row.problem}.")
        return _label(file, row.number, values, iteration_base)
    except _RowError as error:
        conversation_id = values.get("conversation_id") if isinstance(values, Mapping) else None
        return RejectedRecord(
            file.table.path,
            file.table.position(row.number),
            str(error),
            error.field,
            conversation_id if isinstance(conversation_id, str) else None,
            payload_of_mapping(values) if row.written is None else payload_of_bytes(row.written),
        )


def _label(file: LabelFile, number: int, row: Any, iteration_base: int) -> ResultLabel | None:
    """The label of a row; None without a gain."""
    if not isinstance(row, Mapping):
        raise _RowError("The row is not an object with named fields.")
    values = {name: row[name] for name in _COLUMNS if not _is_blank(row.get(name))}
    gain_name = next((name for name in GAIN if name in values), None)
    if gain_name is None:
        if not any(name in row for name in GAIN):
            raise _RowError(f"The row has no gain (also read: {', '.join(GAIN[1:])}).")
        return None
    gain = _gain(values, gain_name, file.label_map)
    conversation_id = _text(values, "conversation_id")
    record_id, span = _record(values)
    parts_of_id = [name for name in ("turn", "iteration", "call") if name in values]
    turn, iteration, call = 1, None, None
    if record_id is not None:
        if parts_of_id:
            raise _RowError(
                f"The row names its record twice, by {'span_id' if span else 'record_id'} and by "
                f"{parts_of_id[0]}; give one of them."
            )
    elif conversation_id is None or "iteration" not in values:
        raise _RowError(
            "The row names no result: give conversation_id, iteration and rank (turn and call "
            "where there are several), record_id and rank, or span_id and position."
        )
    else:
        turn = _whole(values, "turn", 1) if "turn" in values else 1
        iteration = _whole(values, "iteration", iteration_base) + 1 - iteration_base
        call = _whole(values, "call", 0) if "call" in values else None
    return ResultLabel(
        file.number,
        number,
        gain,
        _rank(values),
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
        except _RowError as error:
            reason = f"{str(error).removesuffix('.')}{label_map_hint(label)}."
            raise _RowError(reason, name) from None
    gain = label_map.gain(label)
    if gain is None:
        text = f"{name} is {_shown(label)}, which {Remedy('label_map')} does not name."
        raise _RowError(text, name)
    return gain


def _record(values: Mapping[str, Any]) -> tuple[str | None, bool]:
    """The record_id of a row, or its span_id and True if the trace is unknown."""
    span = next((_text(values, name) for name in SPAN if name in values), None)
    if span is None:
        return _text(values, "record_id"), False
    if "record_id" in values:
        raise _RowError("The row names its record twice, by record_id and span_id; give one.")
    trace = next((_text(values, name) for name in TRACE if name in values), None)
    return (span, True) if trace is None else (f"{trace}/{span}", False)


def _rank(values: Mapping[str, Any]) -> int:
    position = next((name for name in POSITION if name in values), None)
    if position is None:
        if "rank" not in values:
            raise _RowError("The row has neither rank (from 1) nor position (from 0).")
        return _whole(values, "rank", 1)
    if "rank" in values:
        raise _RowError(f"The row has both rank and {position}; give one of them.")
    return _whole(values, position, 0) + 1


def _is_blank(value: Any) -> bool:
    is_nan = value != value
    return value is None or is_nan or (isinstance(value, str) and not value.strip())


def _whole(values: Mapping[str, Any], name: str, least: int, most: int = LARGEST_INT) -> int:
    value = values[name]
    number = None
    if isinstance(value, str):
        value = float(value) if _WHOLE.fullmatch(value) else None
    # `value - value` is 0 unless it is infinite or NaN; `isfinite` fails for huge integers.
    if isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0:
        number = int(value) if value == int(value) else None
    if number is None or not least <= number <= most:
        bound = f"{least} to {most}" if most < LARGEST_INT else f"{least} on"
        raise _RowError(
            f"{name} must be a whole number from {bound}, got {_shown(values[name])}.", name
        )
    return number


def _text(values: Mapping[str, Any], name: str) -> str | None:
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _RowError(f"{name} must be text, got {_shown(value)}.", name)
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
