"""The answer to a comparison: one sentence that summarizes its verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from goodgain.pipeline.document.numbers import difference_text, interval_text, level, share_text
from goodgain.pipeline.studies.comparison.comparison_row import DECIDED, ComparisonRow
from goodgain.transforms.core.means.slices import describe_slice
from goodgain.transforms.core.metrics.by_name import list_labels, metric_by_name
from goodgain.transforms.core.metrics.costs import COST
from goodgain.transforms.core.wording import format_count

_GAIN, _REPETITION = "CG", "SRR"
_CHEAPER = "which is no gain if less is found"  # an agent that does not search is the cheapest
_PLAIN_NAMES = {"CG": "good, new material"}  # names that read better in a sentence
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
    if not (first or whole):
        return "The decision rests only on metrics at an iteration, so there is no verdict at N."
    gain = next((row for row in at_end if row.metric == _GAIN and not row.slice), None)
    gains_more = gain is not None and gain.verdict == "better"
    parts = [_primary(first, compared, gains_more)] if first else []
    repetition = whole.pop(_REPETITION, None)
    if repetition is not None and repetition.reason is None:
        parts.append(_repetition(repetition))
    for verdict in DECIDED:
        names = [name for name, row in whole.items() if row.verdict == verdict]
        cheaper = [] if verdict != "better" or gains_more else list(filter(_is_cost, names))
        if named := [name for name in names if name not in cheaper]:
            parts.append(f"{verdict}: {list_labels(named)}")
        if cheaper:
            parts.append(f"lower, {_CHEAPER}: {list_labels(cheaper)}")
    withheld = [row for row in (first, repetition, *whole.values()) if row and row.reason]
    if withheld and withheld != [first]:
        others = [row.metric for row in withheld if row is not first]
        parts.append(f"not comparable: {list_labels(others)}")
    clauses = "; ".join(parts) or "No change is shown in any metric that the decision rests on"
    return ". ".join((clauses[:1].upper() + clauses[1:], *_slices(at_end, first))) + "."


def _is_cost(metric: str) -> bool:
    return metric.startswith(COST)


def _primary(row: ComparisonRow, compared: tuple[int, int], gains_more: bool) -> str:
    """The clause about the primary metric."""
    label = metric_by_name(row.metric).label
    if row.reason is not None:
        return f"the arms cannot be compared by {label}: {row.reason}"
    if row.verdict == "not tested" or row.difference is None:
        return f"nothing can be said about {label}: {row.note or 'it has no values'}"
    what = _PLAIN_NAMES.get(row.metric)
    basis = _basis(row, compared)
    if row.without_difference:
        return f"{_no_difference(row)} in {what or label}{basis or _n(row)}"
    if row.verdict == "not shown":
        if what:
            about = f"whether the candidate finds more {what}: {label}"
        else:
            about = f"whether {label} changed:"
        return f"the data do not show {about} {_size(row)}{basis}"
    if what:
        relative = row.relative_difference
        percent = "" if relative is None else f"{share_text(abs(relative))} "
        more = f"{percent}{'more' if row.difference > 0 else 'less'} {what} per conversation"
        return f"the candidate finds {more}: {label} {_size(row)}{basis}"
    if row.verdict == "better" and _is_cost(row.metric) and not gains_more:
        return f"the candidate costs less, {_CHEAPER}: {label} {_size(row)}{basis}"
    return f"the candidate is {row.verdict} by {label}: {_size(row)}{basis}"


def _basis(row: ComparisonRow, compared: tuple[int, int]) -> str:
    """Which values a verdict rests on, unless on those of all compared conversations."""
    if row.population == "everyone":
        return (
            f", over {_format_count(row)}, in which conversations that did not search count with 0"
        )
    if (row.n_base, row.n_candidate) != compared:
        return f", over the {_format_count(row)} with a value"
    return ""


def _format_count(row: ComparisonRow) -> str:
    if row.design == "paired":
        return format_count(row.n_base, "pair")
    return f"{row.n_base:,} and {format_count(row.n_candidate, 'conversation')}"


def _repetition(row: ComparisonRow) -> str:
    if row.verdict in ("better", "worse"):
        return f"it repeats {'less' if row.verdict == 'better' else 'more'}"
    if row.verdict == "not tested":
        return "nothing can be said about repetition"
    if row.without_difference:
        return f"{_no_difference(row)} in repetition{_n(row)}"
    return "no change of repetition is shown"


def _no_difference(row: ComparisonRow) -> str:
    """What was seen, like "no pair differs"; that nothing changed would be a claim about others."""
    return (row.note or "no value differs").split(",")[0]


def _n(row: ComparisonRow) -> str:
    both = row.design == "paired"
    return f" (n = {row.n_base:,})" if both else f" (n = {row.n_base:,} and {row.n_candidate:,})"


def _size(row: ComparisonRow) -> str:
    """The difference with the interval that the verdict rests on, as in the table.

    The interval is not given in percent of the base, since it does not cover the error of the
    base's mean.
    """
    low, high = row.shown_interval
    interval = "no interval"
    if low is not None and high is not None:
        ends = interval_text(row.metric, low, high, between=" to ")
        interval = f"{level(row.verdict_confidence or row.confidence, digits=4)}: {ends}"
    return f"{difference_text(row.metric, row.difference)} ({interval})"


def _slices(at_end: Sequence[ComparisonRow], first: ComparisonRow | None) -> list[str]:
    """The slices in which the primary metric is worse although it is not overall."""
    if first is None or first.verdict == "worse":
        return []
    of_slices = [row for row in at_end if row.slice and row.metric == first.metric]
    worse = [row for row in of_slices if row.verdict == "worse"]
    if not worse:
        return []
    named = [describe_slice(row.slice) for row in worse]
    more = len(named) - _MOST_SLICES
    shown = "; ".join(named[:_MOST_SLICES]) + (f"; and {more:,} more" if more > 0 else "")
    label = metric_by_name(first.metric).label
    return [
        f"{label} is worse in {len(worse):,} of {format_count(len(of_slices), 'slice')}: {shown}"
    ]
