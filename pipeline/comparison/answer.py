"""The answer to a comparison: one sentence that summarizes its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from goodgain.pipeline.comparison.rows import ComparisonRow
from goodgain.transforms.core.metric import ZERO_TO_ONE
from goodgain.transforms.core.scoring.metric_by_name import labels, metric_by_name
from goodgain.transforms.core.wording import counted

_REPETITION = "SRR"
_PLAIN_NAMES = {"CG": "good, new material"}  # names that read better in a sentence
_DECIDED = ("better", "worse", "changed")
_MOST_SLICES = 3


def answer(rows: Sequence[ComparisonRow], primary: str | None, compared: tuple[int, int]) -> str:
    """The comparison in one sentence, from the verdicts about all conversations at N.

    The primary metric comes first, then repetition, the other metrics of the decision, metrics that
    are not comparable, and slices.

    Args:
      rows: the rows of the comparison at N, without what arms that have no labels would show.
      primary: the metric that answers the question; None if there is none.
      compared: the numbers of conversations that the reader knows of, of base and candidate; twice
        the number of pairs if paired. A verdict on others says how many.
    """
    at_end = [row for row in rows if row.i is None]
    whole = {row.metric: row for row in at_end if not row.slice and row.family != "further"}
    first = whole.pop(primary, None) if primary else None
    parts = [_primary(first, compared)] if first else []
    repetition = whole.pop(_REPETITION, None)
    if repetition is not None and repetition.reason is None:
        parts.append(_repetition(repetition))
    for verdict in _DECIDED:
        names = [name for name, row in whole.items() if row.verdict == verdict]
        if names:
            parts.append(f"{verdict}: {labels(names)}")
    withheld = [row for row in (first, repetition, *whole.values()) if row and row.reason]
    if withheld and withheld != [first]:
        named = [row.metric for row in withheld if row is not first]
        parts.append(f"not comparable: {labels(named)}")
    clauses = "; ".join(parts) or "No metric that the decision rests on has a value at N"
    return ". ".join((clauses[:1].upper() + clauses[1:], *_slices(at_end, first))) + "."


def _primary(row: ComparisonRow, compared: tuple[int, int]) -> str:
    """The clause about the primary metric."""
    label = metric_by_name(row.metric).label
    if row.reason is not None:
        return f"the arms cannot be compared by {label}: {row.reason}"
    if row.verdict == "not tested" or row.difference is None:
        return f"nothing can be said about {label}: {row.note or 'it has no values'}"
    what = _PLAIN_NAMES.get(row.metric)
    basis = _basis(row, compared)
    if _without_difference(row):
        return f"{_no_difference(row)} in {what or label}{basis or _n(row)}"
    if row.verdict == "not shown":
        about = f"whether the candidate finds more {what}" if what else f"whether {label} changed"
        return f"the data do not show {about}: {_size(row)} {_interval(row)}{basis}"
    if what:
        up = (row.difference or 0) > 0
        more = "more" if up else "less"
        size, ends = _size(row).lstrip("+-"), _interval(row, 0 if up else -1)
        return f"the candidate finds {size} {more} {what} per conversation {ends}{basis}"
    return f"the candidate is {row.verdict} by {label}: {_size(row)} {_interval(row)}{basis}"


def _basis(row: ComparisonRow, compared: tuple[int, int]) -> str:
    """Which values a verdict rests on, unless on those of all compared conversations."""
    if row.population == "everyone":
        return f", over {_counted(row)}, in which conversations that did not search count with 0"
    if (row.n_base, row.n_candidate) != compared:
        return f", over the {_counted(row)} with a value"
    return ""


def _counted(row: ComparisonRow) -> str:
    if row.design == "paired":
        return counted(row.n_base, "pair")
    return f"{row.n_base:,} and {counted(row.n_candidate, 'conversation')}"


def _repetition(row: ComparisonRow) -> str:
    if row.verdict in ("better", "worse"):
        return f"it repeats {'less' if row.verdict == 'better' else 'more'}"
    if row.verdict == "not tested":
        return "nothing can be said about repetition"
    if _without_difference(row):
        return f"{_no_difference(row)} in repetition{_n(row)}"
    return "no change of repetition is shown"


def _without_difference(row: ComparisonRow) -> bool:
    return row.verdict == "not shown" and row.difference == 0 and row.stderr is None


def _no_difference(row: ComparisonRow) -> str:
    """What was seen, like "no pair differs"; that nothing changed would be a claim about others."""
    return (row.note or "no value differs").split(",")[0]


def _n(row: ComparisonRow) -> str:
    both = row.design == "paired"
    return f" (n = {row.n_base:,})" if both else f" (n = {row.n_base:,} and {row.n_candidate:,})"


def _size(row: ComparisonRow) -> str:
    """The difference, in percent of the base; in the metric's unit where the base is 0."""
    scale, unit = _scale(row)
    return f"{scale * (row.difference or 0):+.3g}{unit}"


def _interval(row: ComparisonRow, sign: int | None = None) -> str:
    """The interval that the verdict rests on, in the unit of `_size`.

    No metric is below 0, so nothing falls by more than 100 %.

    Args:
      sign: None = print signs; 0 or -1 = print none, since the sentence says "more" or "less"; -1
        also negates and swaps the ends.
    """
    low, high = row.shown_interval
    if low is None or high is None:
        return "(no interval)"
    scale, _ = _scale(row)
    low = max(low, -abs(row.base_mean or inf))
    if sign is None:
        ends = f"{scale * low:+.3g} to {scale * high:+.3g}"
    elif sign < 0:
        ends = f"{-scale * high:.3g} to {-scale * low:.3g}"
    else:
        ends = f"{scale * low:.3g} to {scale * high:.3g}"
    return f"({100 * (row.verdict_confidence or row.confidence):.4g} %: {ends})"


def _scale(row: ComparisonRow) -> tuple[float, str]:
    if row.base_mean:
        return 100 / abs(row.base_mean), " %"
    metric = metric_by_name(row.metric)
    if metric.in_percent:
        return 100.0, " points"
    return 1.0, "" if metric.unit in ZERO_TO_ONE else f" {metric.unit}"


def _slices(at_end: Sequence[ComparisonRow], first: ComparisonRow | None) -> list[str]:
    """The slices in which the primary metric is worse although it is not overall."""
    if first is None or first.verdict == "worse":
        return []
    of_slices = [row for row in at_end if row.slice and row.metric == first.metric]
    worse = [row for row in of_slices if row.verdict == "worse"]
    if not worse:
        return []
    named = [
        ", ".join(f"{name} = {value or '(none)'}" for name, value in row.slice.items())
        for row in worse
    ]
    more = len(named) - _MOST_SLICES
    shown = "; ".join(named[:_MOST_SLICES]) + (f"; and {more:,} more" if more > 0 else "")
    label = metric_by_name(first.metric).label
    return [f"{label} is worse in {len(worse):,} of {counted(len(of_slices), 'slice')}: {shown}"]
