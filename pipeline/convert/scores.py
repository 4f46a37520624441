"""The metrics of a run's conversations, in the formats of the tools that the traces came from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import Any

import msgspec
import xxhash
from msgspec import Struct

from goodgain.pipeline.convert.source_attributes import ROOT_SPAN_ID, SESSION_ID, TRACE_ID
from goodgain.pipeline.results.atomic_files import replace_named
from goodgain.transforms.core.errors import UsageError

_NO_METRICS = frozenset(
    (
        *("conversation_id", "turn", "attributes", "rejected_records", "redelivered"),
        *("first_timestamp", "last_timestamp", "pool_good", "pool_best", "pool_found"),
    )
)
_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_SPAN_ID = re.compile(r"[0-9a-f]{16}")
_PRODUCER = "goodgain"
_encode = msgspec.json.encode

Row = Mapping[str, Any]
Scores = Sequence[tuple[str, float]]


class ExportCounts(Struct):
    """What was written.

    Attributes:
      undefined: number of null values, which none of the tools can represent.
      without_trace_id: conversations that were not imported from traces; their conversation_id
        serves as the session.
    """

    conversations: int = 0
    scores: int = 0
    undefined: int = 0
    without_trace_id: int = 0


def write_scores(
    rows: Iterator[Row],
    tool: str,
    metrics: Sequence[str] | None,
    finished: datetime,
    path: str,
    undefined: frozenset[str] = frozenset(),
) -> ExportCounts:
    """Write one line of JSON per score, or per conversation for OTLP.

    Args:
      tool: a key of TOOLS.
      metrics: columns; None = all metrics.
      path: the file, which is written completely or not at all.
      undefined: metrics without a mean in the run, whose values say nothing: see
        `metrics_without_mean`.

    Raises:
      UsageError: there is no such column, or the file cannot be written.
    """
    counts = ExportCounts()
    lines = TOOLS[tool]
    with replace_named(path) as file:
        for row in rows:
            scores = _scores(row, metrics, undefined, counts)
            counts.conversations += 1
            counts.scores += len(scores)
            counts.without_trace_id += TRACE_ID not in row["attributes"]
            for line in lines(row, scores, finished):
                file.write(_encode(line) + b"\n")
    return counts


def metrics_without_mean(means: Iterable[Row]) -> frozenset[str]:
    """The metrics of which a run has no mean at all, like gains of a run without labels."""
    whole = [row for row in means if not row["slice"] and row["i"] is None]
    defined = {row["metric"] for row in whole if row["mean"] is not None}
    return frozenset(row["metric"] for row in whole) - defined


def _scores(
    row: Row, metrics: Sequence[str] | None, undefined: frozenset[str], counts: ExportCounts
) -> Scores:
    known = [name for name in row if name not in _NO_METRICS]
    if metrics is None:
        metrics = known
    if unknown := [name for name in metrics if name not in known]:
        raise UsageError(
            f"The run has no metric {unknown[0]} of conversations; it has {', '.join(known)}."
        )
    values = [(name, row[name]) for name in metrics]
    scores = [
        (name, float(value))
        for name, value in values
        if isinstance(value, int | float) and isfinite(value) and name not in undefined
    ]
    counts.undefined += len(values) - len(scores)
    return scores


def _otlp(row: Row, scores: Scores, finished: datetime) -> Iterator[dict[str, Any]]:
    """A log export request with a `gen_ai.evaluation.result` event for each score."""
    attributes = row["attributes"]
    time = str(int(finished.timestamp() * 1_000) * 1_000_000)
    shared: dict[str, Any] = {
        "timeUnixNano": time,
        "observedTimeUnixNano": time,
        "eventName": "gen_ai.evaluation.result",
    }
    if _TRACE_ID.fullmatch(attributes.get(TRACE_ID, "")):
        shared["traceId"] = attributes[TRACE_ID]
        if _SPAN_ID.fullmatch(attributes.get(ROOT_SPAN_ID, "")):
            shared["spanId"] = attributes[ROOT_SPAN_ID]
    records = [
        {
            **shared,
            "attributes": [
                _attribute("gen_ai.evaluation.name", "stringValue", name),
                _attribute("gen_ai.evaluation.score.value", "doubleValue", value),
                _attribute("gen_ai.conversation.id", "stringValue", row["conversation_id"]),
            ],
        }
        for name, value in scores
    ]
    if not records:
        return
    scope = {"scope": {"name": _PRODUCER}, "logRecords": records}
    service = [_attribute("service.name", "stringValue", _PRODUCER)]
    yield {"resourceLogs": [{"resource": {"attributes": service}, "scopeLogs": [scope]}]}


def _attribute(key: str, kind: str, value: str | float) -> dict[str, Any]:
    return {"key": key, "value": {kind: value}}


def _langfuse(row: Row, scores: Scores, _: datetime) -> Iterator[dict[str, Any]]:
    """Request bodies for Langfuse scores; sending one again replaces it."""
    attributes = row["attributes"]
    session = attributes.get(SESSION_ID)
    trace = attributes.get(TRACE_ID)
    if session is None and trace is None:
        session = row["conversation_id"]
    scored = {"traceId": trace} if session is None else {"sessionId": session}
    for name, value in scores:
        key = f"{row['conversation_id']}\0{name}".encode(errors="replace")
        yield {
            "id": f"{_PRODUCER}-{xxhash.xxh3_128_hexdigest(key)}",
            **scored,
            "name": name,
            "value": value,
            "dataType": "NUMERIC",
        }


def _mlflow(row: Row, scores: Scores, finished: datetime) -> Iterator[dict[str, Any]]:
    """Feedback on the last turn's trace, as MLflow's `Assessment.from_dictionary` reads it."""
    attributes = row["attributes"]
    time = finished.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for name, value in scores:
        yield {
            "assessment_name": name,
            "trace_id": attributes.get(TRACE_ID, row["conversation_id"]),
            "source": {"source_type": "CODE", "source_id": _PRODUCER},
            "create_time": time,
            "last_update_time": time,
            "feedback": {"value": value},
            "metadata": {"conversation_id": row["conversation_id"]},
        }


TOOLS: Mapping[str, Callable[[Row, Scores, datetime], Iterator[dict[str, Any]]]] = {
    "otlp": _otlp,
    "langfuse": _langfuse,
    "mlflow": _mlflow,
}
