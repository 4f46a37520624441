"""The report over the days of the nightly job, from its history to HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.document.numbers import (
    count_text,
    mean_interval_text,
    share,
    value_text,
)
from goodgain.pipeline.document.page import Page, section
from goodgain.pipeline.studies.nightly.days.days import days_text
from goodgain.pipeline.studies.nightly.days.entry import DayEntry, Verdict
from goodgain.pipeline.views.pages.data.definitions import glossary
from goodgain.pipeline.views.pages.data.texts import change_texts, round_value
from goodgain.pipeline.views.pages.render import render_page
from goodgain.pipeline.views.pages.sections.nights import nights_sections
from goodgain.pipeline.views.pages.sections.section_parts import definitions_section
from goodgain.transforms.core.metrics.by_name import list_labels
from goodgain.transforms.core.metrics.groups import groups_in
from goodgain.transforms.core.metrics.headline import headline_among

_SCRIPTS = ("nights/plots.js", "nights/report.js")
MOST_DAYS = 500  # bounds the size of the page
# Shares that the page plots: part and whole, both counts of a day.
_SHARES = {
    "share of rejected records": ("rejected", "records"),
    "share of unlabelled results": ("unlabelled", "results"),
}

_OUTCOMES: dict[Verdict, str] = {
    "passed": "passed",
    "gate failed": "failed its gate",
    "bad data": "had bad data",
    "failed": "failed",
}
_UNTESTED = ("not tested", "not comparable")


def build_nights_report(entries: Sequence[DayEntry]) -> bytes:
    """Build `report.html` over the latest `MOST_DAYS`, ascending; it links to the days' reports."""
    shown = entries[-MOST_DAYS:]
    latest = shown[-1] if shown else None
    names = dict.fromkeys(name for entry in shown for name in entry.means)
    words = glossary(names, groups_in(names))
    by_name = words.by_name
    page = Page(
        title="Good Gain nights" + (f": {latest.date} {latest.verdict}" if latest else ""),
        heading="Search agent from day to day",
        answers=(answer(latest),),
        lead="How much good, new material the agent found on each day, which days it was compared "
        "with, and whether it passed.",
        sections=(
            *nights_sections(
                shown, len(entries) - len(shown), words, list(_names_of_counts(shown))
            ),
            definitions_section(words, "the run's `good_gain_threshold`"),
        )
        if latest
        else (section("latest", "Latest day", "", Sentence("No day has run yet.", "strong")),),
    )
    data = {
        "metrics": {name: metric.menu for name, metric in by_name.items() if name in names},
        "days": [
            {
                "date": entry.date,
                "verdict": entry.verdict,
                "baseline": days_text(entry.baseline),
                "means": {
                    name: [
                        *map(round_value, (mean.mean, mean.ci_low, mean.ci_high)),
                        value_text(name, mean.mean),
                        mean_interval_text(name, mean.ci_low, mean.ci_high),
                        count_text(mean.n),
                    ]
                    for name, mean in entry.means.items()
                },
                "changes": {
                    name: [
                        *map(
                            round_value,
                            (change.base, change.difference, change.ci_low, change.ci_high),
                        ),
                        change.verdict,
                        value_text(name, change.base),
                        *change_texts(name, change, change.n),
                    ]
                    for name, change in entry.changes.items()
                },
                "counts": {
                    name: [count, share(count, 1) if name in _SHARES else count_text(count)]
                    for name, count in _counts(entry).items()
                    if count is not None
                },
            }
            for entry in shown
        ],
    }
    return render_page(page, data, _SCRIPTS)


def _names_of_counts(entries: Iterable[DayEntry]) -> Iterable[str]:
    return dict.fromkeys(name for entry in entries for name in _counts(entry))


def _counts(entry: DayEntry) -> dict[str, float | None]:
    """The counts and shares of a day, by their names on the page."""
    shares = {
        name: round_value(entry.counts.get(part, 0) / entry.counts[whole])
        for name, (part, whole) in _SHARES.items()
        if entry.counts.get(whole)
    }
    return {**{name.replace("_", " "): n for name, n in entry.counts.items()}, **shares}


def answer(latest: DayEntry | None) -> str:
    """Say whether the latest day passed, how much it found, and what changed from its baseline."""
    if latest is None:
        return "No day has run yet."
    outcome = f"{latest.date} {_OUTCOMES[latest.verdict]}"
    found = (
        [_describe_findings(latest), _describe_changes(latest)]
        if latest.means
        else ["it has no results"]
    )
    return f"{outcome}: {'; '.join(found)}."


def _describe_findings(entry: DayEntry) -> str:
    means = {name: mean.mean for name, mean in entry.means.items()}
    if means.get("SRE") is not None:
        return f"{value_text('SRE', means['SRE'])} of the results were good and new"
    if means.get("SRR") is not None:
        return f"{value_text('SRR', means['SRR'])} of the results repeated earlier ones"
    return "no conversation that searched could be evaluated"


def _describe_changes(entry: DayEntry) -> str:
    if not entry.baseline:
        return "it was compared with no earlier day"
    baseline = days_text(entry.baseline)
    verdicts = {
        name: entry.changes[name].verdict for name in headline_among("comparison", entry.changes)
    }
    changed = [
        f"{verdict} {word} {baseline} in {list_labels(names)}"
        for verdict, word in (("worse", "than"), ("better", "than"), ("changed", "from"))
        if (names := [name for name, day_verdict in verdicts.items() if day_verdict == verdict])
    ]
    if changed:
        return "; ".join(changed)
    if all(verdict in _UNTESTED for verdict in verdicts.values()):
        return f"no change from {baseline} could be tested"
    return f"no change from {baseline} is shown"
