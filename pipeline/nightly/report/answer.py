"""The outcome of the latest day in one sentence, for the top of the report over all days."""

from __future__ import annotations

from collections.abc import Iterable

from goodgain.pipeline.comparison.measures import HEADLINE
from goodgain.pipeline.nightly.days.dates import days_text
from goodgain.pipeline.nightly.days.entry import DayEntry, Verdict
from goodgain.pipeline.report.numbers import amount
from goodgain.transforms.core.scoring.metric_by_name import metric_by_name

_OUTCOMES: dict[Verdict, str] = {
    "passed": "passed",
    "gate failed": "failed its gate",
    "bad data": "had bad data",
    "failed": "failed",
}
_UNTESTED = ("not tested", "not comparable")


def answer(latest: DayEntry | None) -> str:
    """Say whether the latest day passed, how much it found, and what changed from its baseline."""
    if latest is None:
        return "No day has run yet."
    outcome = f"{latest.date} {_OUTCOMES[latest.verdict]}"
    found = [_found(latest), _changed(latest)] if latest.means else ["it has no results"]
    return f"{outcome}: {'; '.join(found)}."


def _found(entry: DayEntry) -> str:
    means = {name: one.mean for name, one in entry.means.items()}
    if means.get("SRE") is not None:
        return f"{amount(means['SRE'], True)} of the results were good and new"
    if means.get("SRR") is not None:
        return f"{amount(means['SRR'], True)} of the results repeated earlier ones"
    return "no conversation that searched could be evaluated"


def _changed(entry: DayEntry) -> str:
    if not entry.baseline:
        return "it was compared with no earlier day"
    baseline = days_text(entry.baseline)
    verdicts = {name: entry.changes[name].verdict for name in HEADLINE if name in entry.changes}
    changed = [
        f"{verdict} than {baseline} in {labels}"
        for verdict in ("worse", "better")
        if (labels := _labels(name for name, one in verdicts.items() if one == verdict))
    ]
    if other := _labels(name for name, one in verdicts.items() if one == "changed"):
        changed.append(f"changed from {baseline} in {other}")
    if changed:
        return "; ".join(changed)
    if all(one in _UNTESTED for one in verdicts.values()):
        return f"no change from {baseline} could be tested"
    return f"no change from {baseline} is shown"


def _labels(names: Iterable[str]) -> str:
    return ", ".join(metric_by_name(name).label for name in names)
