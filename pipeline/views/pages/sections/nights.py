"""The sections of the page over nights: the latest day, charts over days, and all days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from goodgain.pipeline.document.columns import CellColumn, numbers, table_of
from goodgain.pipeline.document.model import (
    Cell,
    Sentence,
    TableColumn,
    count,
    difference,
    term,
    value,
    verdict,
)
from goodgain.pipeline.document.numbers import NONE, count_text, mean_interval_text
from goodgain.pipeline.document.page import (
    Card,
    CardLine,
    Cards,
    Chart,
    Menu,
    Menus,
    PageBlock,
    Section,
    section,
)
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.folder import REPORT
from goodgain.pipeline.studies.nightly.days.entry import DayEntry
from goodgain.pipeline.views.pages.data.definitions import Definition, Glossary
from goodgain.pipeline.views.pages.sections.section_parts import metric_menu, name_menu
from goodgain.transforms.core.metrics.headline import headline
from goodgain.transforms.core.wording import format_count

_LONGEST_REASON = 600
_LONGEST_WHY = 400
_LONGEST_BASELINE = 60
_ABOUT_CHANGES = (
    "The difference of each day from its baseline. Verdicts are corrected for the number of "
    'headline metrics of a day, so an interval that excludes 0 may be "not shown". They are '
    "not corrected for the number of days: without any real change, up to one day in twenty "
    "still shows one."
)
_RANGES = (("30", "the last 30"), ("90", "the last 90"), ("0", "all"))


def nights_sections(
    days: Sequence[DayEntry], left_out: int, words: Glossary, counts: Sequence[str]
) -> Iterator[Section]:
    """The sections over some days.

    Args:
      days: ascending, at least one.
      left_out: how many earlier days there are.
      counts: names of the counts of days.
    """
    names = {name for day in days for name in day.means}
    shown = [definition for definition in words.measures if definition.metric.name in names]
    ranking = [definition for definition in words.ranking if definition.metric.name in names]
    yield section("latest", "Latest day", "", _latest_day(days, left_out, shown))
    yield section(
        "trend",
        "Trend",
        "The mean over the conversations of each day, with its 95 % interval, and the mean of its "
        "baseline days. Days without outputs leave a gap.",
        Menus(
            (
                metric_menu("trend-metric", [("Good Gain", shown), ("Ranking", ranking)], "CG"),
                Menu("range", "Days", (("", _RANGES),), "90"),
            )
        ),
        Chart("trend", "Mean by day", "marks show the outcome of the day."),
    )
    yield _changes(days, shown)
    yield section(
        "input",
        "Input",
        "Volume and quality of each day's data. If a metric jumps together with one of these, "
        "suspect the data before the agent.",
        name_menu("count", "Count", counts, "in means"),
        Chart("input", "Count by day", "over the day's own folder."),
    )
    table = table_of(_columns(words), days[::-1], "Days, the latest first")
    yield section("days", "All days", "", table)


def _changes(days: Sequence[DayEntry], shown: Sequence[Definition]) -> Section:
    if not any(day.changes for day in days):
        none = Sentence("None of these days was compared with earlier ones.")
        return section("changes", "Changes", "", none)
    return section(
        "changes",
        "Changes",
        _ABOUT_CHANGES,
        metric_menu("change-metric", [("Good Gain", shown)], "CG"),
        Chart("changes", "Difference from the baseline by day", "with 95 % intervals."),
    )


def _latest_day(
    days: Sequence[DayEntry], left_out: int, shown: Sequence[Definition]
) -> Iterator[PageBlock]:
    day = days[-1]
    yield Cards(tuple(_cards(day, shown)))
    for line in day.reasons:
        yield Sentence(shorten(line, _LONGEST_REASON), "warning")
    for line in day.notes:
        yield Sentence(shorten(line, _LONGEST_REASON), "strong")
    by_verdict = Counter(day.verdict for day in days)
    ordered = sorted(by_verdict.items(), key=lambda item: (-item[1], item[0]))
    outcomes = ", ".join(f"{count_text(n)} {word}" for word, n in ordered)
    earlier = format_count(left_out, "earlier day is", "earlier days are")
    yield Sentence(
        f"Outcomes of the {format_count(len(days), 'day')} shown: {outcomes}."
        + (f" {earlier} in `history.jsonl`." if left_out else ""),
        "quiet",
    )


def _cards(day: DayEntry, shown: Sequence[Definition]) -> Iterator[Card]:
    """The day with its verdict, then each metric with its change."""
    yield Card(_day(day), (CardLine(verdict(day.verdict), "verdict"),))
    for definition in shown:
        name = definition.metric.name
        if name in day.means:
            yield Card(term(name), tuple(_lines(day, definition)))


def _lines(day: DayEntry, definition: Definition) -> Iterator[CardLine]:
    name = definition.metric.name
    mean, change = day.means[name], day.changes.get(name)
    unit = "" if definition.metric.in_percent else definition.metric.unit
    yield CardLine(value(name, mean.mean), "number", after=unit)
    yield CardLine(Cell(mean_interval_text(name, mean.ci_low, mean.ci_high)), before="95 %:")
    yield CardLine(count(mean.n), before="n:")
    if change:
        yield CardLine(difference(name, change.difference), before="change:")
        yield CardLine(verdict(change.verdict))
        if change.about:
            yield CardLine(Cell(change.reason or change.about))


def _day(day: DayEntry) -> Cell:
    """The date, which leads to the day's report if it has one."""
    link = "" if day.verdict == "failed" else f"date={day.date}/{REPORT}"
    return Cell(day.date, link=link)


def _columns(words: Glossary) -> list[CellColumn[DayEntry]]:
    return [
        CellColumn(TableColumn("day", whole=True), _day),
        CellColumn(TableColumn("verdict"), lambda day: verdict(day.verdict)),
        numbers("n", "", lambda day: count(day.counts.get("in_means"))),
        *(_mean_column(words.by_name[name]) for name in headline("card")),
        CellColumn(
            TableColumn("compared with", whole=True),
            lambda day: Cell(", ".join(map(str, day.baseline)), longest=_LONGEST_BASELINE),
        ),
        CellColumn(
            TableColumn("why"),
            lambda day: Cell("; ".join((*day.reasons, *day.notes)), longest=_LONGEST_WHY),
        ),
    ]


def _mean_column(definition: Definition) -> CellColumn[DayEntry]:
    name = definition.metric.name

    def cell(day: DayEntry) -> Cell:
        return value(name, day.means[name].mean) if name in day.means else Cell(NONE)

    return numbers(definition.label, "", cell)
