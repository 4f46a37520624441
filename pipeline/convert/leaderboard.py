"""The record of a run for the leaderboard of BrowseComp-Plus, from its conversations.

The numbers are those of the benchmark's own script: accuracy over all queries, where one without a
judged answer is wrong; recall of the evidence, 0 for a query that retrieved none; tool calls per
query; and the calibration error of the confidences, if at least 100 answers have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from math import fsum, sqrt
from typing import Any

import msgspec
from msgspec import Struct

from goodgain.pipeline.results.atomic_files import write_named
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.outcomes import OUTCOME

Row = Mapping[str, Any]
CORRECT = ("correct", "judge_correct")  # names of the outcome that says whether it is right
_CONFIDENCE = ("confidence",)
_RECALL = "recall"
_TO_FILL_IN = "change me when submitting"
_BIN = 100  # answers of a bin
_PERCENT = 100.0


class Leaderboard(Struct, frozen=True):
    """What was written.

    Attributes:
      accuracy, recall, calibration: in percent; None if unknown.
    """

    queries: int
    accuracy: float
    recall: float | None
    calibration: float | None


def write_leaderboard(rows: Iterable[Row], path: str, day: date) -> Leaderboard:
    """Write the record as JSON, completely or not at all.

    Args:
      rows: of `conversations`.
      day: the date of the evaluation.

    Raises:
      UsageError: there are no conversations or no outcome, or the file cannot be written.
    """
    rows = [row for row in rows if not row["rejected_records"]]
    if not rows:
        raise UsageError("The run has no conversations, so there is nothing to submit.")
    correct = _column(rows[0], CORRECT)
    if correct is None:
        raise UsageError(
            f"The run has no outcome {' or '.join(CORRECT)}: give whether answers are right with "
            "--outcomes, like the detailed_judge_results.csv of the benchmark's judge."
        )
    confidence = _column(rows[0], _CONFIDENCE)
    accuracy = _percent([float(row[correct] == 1) for row in rows])
    recalls = [_recall(row) for row in rows]
    of_evidence = [recall for recall in recalls if recall is not None]
    judged = [
        (float(row[confidence]), float(row[correct] == 1))
        for row in rows
        if confidence and row[confidence] is not None and row[correct] is not None
    ]
    calls = {"search": fsum(row["calls"] for row in rows) / len(rows)}
    if "opens" in rows[0]:
        calls["get_document"] = fsum(row["opens"] for row in rows) / len(rows)
    error = calibration_error(judged) if len(judged) >= _BIN else None
    models = {row["attributes"].get("model") for row in rows} - {None}
    found = Leaderboard(
        len(rows),
        accuracy,
        _percent(of_evidence) if of_evidence else None,
        None if error is None else round(_PERCENT * error, 2),
    )
    record = {
        "LLM": next(iter(models)) if len(models) == 1 else _TO_FILL_IN,
        "Accuracy (%)": accuracy,
        "Recall (%)": found.recall,
        "avg_tool_stats": calls,
        "Calibration Error (%)": found.calibration or 0.0,
        "Retriever": _TO_FILL_IN,
        "Link": _TO_FILL_IN,
        "Evaluation Date": day.isoformat(),
        "per_query_metrics": [
            {
                "query_id": row["conversation_id"],
                "correct": row[correct] == 1,
                "recall": None if recall is None else _percent([recall]),
            }
            for row, recall in zip(rows, recalls, strict=True)
        ],
    }
    write_named(path, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    return found


def calibration_error(judged: Sequence[tuple[float, float]]) -> float:
    """The root of the mean squared difference between confidence and accuracy, over bins.

    Bins hold 100 answers each, in ascending order of confidence, and the last also the rest. Like
    the benchmark's script, whose numbers others submit, it leaves the last bin out of the sum.

    Args:
      judged: confidence in percent, and 1 for a right answer or 0, of at least 100 answers.
    """
    ordered = sorted(judged, key=lambda answer: answer[0])
    squares = []
    for start in range(0, len(ordered) // _BIN * _BIN - _BIN, _BIN):
        of_bin = ordered[start : start + _BIN]
        confidence = fsum(percent for percent, _ in of_bin) / _BIN / _PERCENT
        squares.append(
            _BIN / len(ordered) * (confidence - fsum(right for _, right in of_bin) / _BIN) ** 2
        )
    return sqrt(fsum(squares))


def _recall(row: Row) -> float | None:
    """The recall of a query, 0 if it retrieved nothing; None without evidence, or if unknown."""
    recall: float | None = row.get(_RECALL)
    never_searched = _RECALL in row and not row["N"] and row.get("qrels_best") is not None
    return 0.0 if never_searched else recall


def _column(row: Row, names: Sequence[str]) -> str | None:
    return next((OUTCOME + name for name in names if OUTCOME + name in row), None)


def _percent(values: Sequence[float]) -> float:
    return round(_PERCENT * fsum(values) / len(values), 2)
