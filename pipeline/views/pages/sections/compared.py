"""The sections of a comparison's page about differences: verdict, charts, other policies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from msgspec import Struct, convert

from goodgain.pipeline.document.columns import table_of
from goodgain.pipeline.document.model import Cell, Sentence, TableBlock, term, verdict
from goodgain.pipeline.document.numbers import count_text
from goodgain.pipeline.document.page import (
    Beside,
    Card,
    CardLine,
    Cards,
    Chart,
    Fold,
    Menu,
    Menus,
    PageBlock,
    Section,
    SliceName,
    section,
)
from goodgain.pipeline.document.safe_text import shortened
from goodgain.pipeline.studies.comparison.comparison_row import (
    ComparisonRow,
    SensitivityRow,
    Verdict,
)
from goodgain.pipeline.views.comparison_tables import Columns, sensitivity_table
from goodgain.pipeline.views.pages.comparison_slices import ComparedSlice
from goodgain.pipeline.views.pages.definitions import Definition, Glossary
from goodgain.pipeline.views.pages.sections.charts import GAINED, STOPS_PAYING
from goodgain.pipeline.views.pages.sections.shared import metric_menu, name_menu
from goodgain.pipeline.views.pages.slices import Slices
from goodgain.pipeline.views.pages.texts import compared_texts, unit_of
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.wording import counted

Row = Mapping[str, Any]
_MOST_CARDS = 12
_LONGEST_VALUE = 80
_LONGEST_KEY = 60
_EFFECTS = {
    True: "Cohen's d, the mean difference of pairs in their standard deviations",
    False: "Hedges' g, the difference of the means in pooled standard deviations",
}
_TOO_FEW = "if it is wide, too few conversations were compared"


class Shown(Struct, frozen=True):
    """What the sections show of a comparison.

    Attributes:
      declared, further: the metrics at N, those of the declared family first.
      by_i: metrics by iteration.
      words: the definitions of all these.
      rows: of all conversations at N, by metric.
      level: of the intervals, like `95 %`.
    """

    manifest: Mapping[str, Any]
    slices: Slices[ComparedSlice]
    declared: Sequence[Definition]
    further: Sequence[Definition]
    by_i: Sequence[Definition]
    words: Glossary
    rows: Mapping[str, ComparisonRow]
    columns: Columns
    level: str
    alpha: str

    @property
    def paired(self) -> bool:
        """Whether pairs are compared."""
        return bool(self.manifest["design"] == "paired")

    @property
    def declared_rows(self) -> list[ComparisonRow]:
        """The rows of the declared family."""
        return [self.rows[one.metric.name] for one in self.declared]

    @property
    def menu(self) -> tuple[tuple[str, Sequence[Definition]], ...]:
        """The metrics at N, for a menu."""
        return (("Declared family", self.declared), ("Further", self.further))

    @property
    def first(self) -> str:
        """The first metric at N."""
        return [*self.declared, *self.further][0].metric.name


def verdict_section(shown: Shown) -> Section:
    """The verdicts on the declared family, and every metric in a table."""
    return section(
        "verdict",
        "Verdict",
        " ".join(_about(shown)) if shown.declared else "",
        _forced(shown.manifest),
        _verdict(shown)
        if shown.declared
        else Sentence(
            "The declared family has only metrics at an iteration, so there is no verdict at N; "
            "see the table of all metrics.",
            "strong",
        ),
        Fold("Every metric at the last iteration", tuple(_every_metric(shown))),
    )


def _forced(manifest: Mapping[str, Any]) -> Iterator[Sentence]:
    for mismatch in manifest["forced"]:
        base, candidate = (
            shortened(mismatch[arm], _LONGEST_VALUE) for arm in ("base", "candidate")
        )
        yield Sentence(
            f"Forced. The runs differ in {mismatch['parameter']} ({base} and {candidate}), so "
            "their metrics may mean different things.",
            "warning",
        )


def _verdict(shown: Shown) -> Iterator[PageBlock]:
    everyone = [row for row in shown.declared_rows if row.population == "everyone"]
    if everyone:
        names = ", ".join(metric_by_name(row.metric).label for row in everyone)
        pairs = f" ({counted(everyone[0].n_base, 'pair')})" if shown.paired else ""
        yield Sentence(
            "Conversations that did not search count with gain 0. The arms differ in how often "
            f"they searched at all, so the verdicts on {names} are over all conversations{pairs}.",
            "warning",
        )
    yield SliceName()
    yield Cards(tuple(_card(one, shown) for one in shown.declared[:_MOST_CARDS]))
    if len(shown.declared) > _MOST_CARDS:
        others = len(shown.declared) - _MOST_CARDS
        yield Sentence(f"The other {others} are in the table below.", "quiet")


def _about(shown: Shown) -> Iterator[str]:
    manifest = shown.manifest
    counts = Counter(row.verdict for row in shown.declared_rows)
    everyone = any(row.population == "everyone" for row in shown.declared_rows)
    verdicts = ", ".join(f"{counts[one]} {one}" for one in get_args(Verdict) if counts[one])
    metrics = counted(len(shown.declared), "metric that was", "metrics that were")
    yield (
        f"Verdicts on the {metrics} declared beforehand, at each conversation's last iteration: "
        f"{verdicts}."
    )
    if shown.paired:
        pairs = manifest["pairs"]
        searched = " in which both arms searched" if everyone else ""
        yield (
            f"{counted(pairs, 'pair')} by {shortened(manifest['pair_by'], _LONGEST_KEY)}{searched} "
            f"{'was' if pairs == 1 else 'were'} compared one by one (paired t-test)."
        )
    else:
        yield (
            "The conversations cannot be paired, so the arms were compared as two samples "
            "(Welch's t-test)."
        )
    method = "Holm" if manifest["request"]["correction"] == "holm" else "Benjamini-Hochberg"
    yield (
        f"A verdict of better, worse or changed needs a p of at most {shown.alpha}, corrected for "
        f"the number of tests ({method}). Not shown is no proof that nothing changed: the table "
        "lists the smallest detectable differences. Not comparable means that the arms do not "
        "measure the same thing, for the reason beside it. Each interval is the one that decides "
        "the verdict, corrected like p for the tests of the family; each by itself covers at least "
        f"{shown.level}."
    )
    if primary := manifest["primary"]:
        yield (
            f"{metric_by_name(primary).label}, the primary metric, is tested by itself; slices are "
            "corrected separately."
        )
    else:
        yield "Slices are corrected separately."


def _card(definition: Definition, shown: Shown) -> Card:
    metric = definition.metric
    row = shown.rows[metric.name]
    texts = compared_texts(row, shown.columns)

    def line(part: str, before: str) -> CardLine:
        return CardLine(Cell(texts[part]), part=part, before=before)

    return Card(
        term(metric.name, "own ideal" if row.own_ideal else ""),
        (
            CardLine(verdict(row.verdict), "verdict", part="verdict"),
            CardLine(Cell(row.reason or ""), "reason", part="reason"),
            CardLine(Cell(texts["size"]), "number", part="size", after=unit_of(metric.name)),
            line("interval", f"{shown.level}:"),
            line("base_mean", "base:"),
            line("candidate_mean", "candidate:"),
            line("relative_difference", "relative:"),
            line("p_corrected", "p corrected:"),
            CardLine(Cell(f"{metric.explained} {definition.better}".strip()), "meaning"),
        ),
    )


def _every_metric(shown: Shown) -> Iterator[PageBlock]:
    rows = [shown.rows[one.metric.name] for one in (*shown.declared, *shown.further)]
    yield table_of(shown.columns, rows, "Metrics at each conversation's last iteration")
    power = shown.manifest["request"]["tests"]["options"]["power"]
    yield Sentence(
        f"Effect size: {_EFFECTS[shown.paired]}. At worst: the means if every undefined value were "
        "the metric's worst. Detectable: the smallest true difference that a test on this many "
        f"conversations finds with {100 * power:.0f} % power, before any correction.",
        "quiet",
    )


def difference_sections(shown: Shown) -> Iterator[Section]:
    """The charts of differences: over metrics, by pairs' outcomes, by iteration."""
    yield section(
        "differences",
        "Differences",
        "Each mark is an estimated difference, and its line the interval that decides its verdict "
        f"(corrected for the tests of the family; each by itself covers at least {shown.level}). "
        f"If the line crosses zero, there may be no difference; {_TOO_FEW}. To fit metrics of "
        "different units on one scale, differences are in standard deviations (the effect size) "
        "or in percent of the base's mean.",
        Menus(tuple(_scale_menus(shown))),
        Chart("forest", "Candidate minus base", "arrows show which direction is better."),
    )
    if shown.paired:
        tolerance = ", ".join(map(str, shown.manifest["request"]["tolerances"])) or "0"
        yield section(
            "gsb",
            "Good, same, bad",
            "In how many pairs the candidate did better than the base, the same, or worse. GSB is "
            "(good - bad) / all: 1 when every pair got better, -1 when every pair got worse. A "
            f"pair counts as the same when its values differ by at most the tolerance ({tolerance})"
            ". Metrics that are not comparable are left out here.",
            Chart("gsb", "Pairs by outcome", f"with GSB and its {shown.level} interval."),
        )
    if shown.by_i:
        yield _iterations_section(shown)


def _scale_menus(shown: Shown) -> Iterator[Menu]:
    scales = (("effect", "standard deviations"), ("relative", "percent of the base"))
    yield Menu("scale", "Scale", (("", scales),))
    if shown.declared and shown.further:
        declared, every = len(shown.declared), len(shown.declared) + len(shown.further)
        which = (("declared", f"declared family ({declared})"), ("all", f"all ({every})"))
        yield Menu("which", "Metrics", (("", which),))


def _iterations_section(shown: Shown) -> Section:
    who, all_of = (
        ("pairs in which both", "pair") if shown.paired else ("conversations that", "conversation")
    )
    later = shown.slices.iterations_left_out
    return section(
        "iterations",
        "By iteration",
        f"How the difference develops while the agents search. Reached counts the {who} got as far "
        f"as i; all counts every {all_of}, with nothing added after it stopped; everyone includes "
        "those that did not search, where the arms differ in that.",
        metric_menu("curve-metric", [("By iteration", shown.by_i)], shown.by_i[0].metric.name),
        Chart(
            "curve",
            "Difference by iteration",
            f"with {shown.level} bands, not corrected for the number of iterations.",
        ),
        Sentence(f"{count_text(later)} later iterations are in the dataset `comparison`.", "quiet")
        if later
        else None,
    )


def costs_section(names: Sequence[str]) -> Section:
    """What gain costs in both arms."""
    return section(
        "costs",
        "What gain costs",
        "How much each arm spent for its gain. All its conversations count, including those "
        "without a partner and, where the arms differ in how many did not search, those too. "
        "Conversations that stopped earlier keep the gain and the cost that they had.",
        name_menu("cost", "Cost", names),
        Beside(
            (
                (GAINED,),
                (
                    Chart(
                        "front",
                        "Gain against cost",
                        "at the end, with 95 % intervals; filled marks are on the Pareto front: "
                        "the other arm does not gain as much for less.",
                    ),
                ),
                (
                    Chart(
                        "paying",
                        "Where it stops paying off",
                        "gain of iteration i per unit of its cost, in conversations that reached "
                        "it; the dotted line is that of all iterations together.",
                    ),
                ),
            )
        ),
        Sentence("", anchor=STOPS_PAYING),
    )


def slices_section(shown: Shown) -> Section:
    """The same difference in subsets of the conversations."""
    return section(
        "slices",
        "Slices",
        "The same difference for subsets of the conversations. Among many slices some differ by "
        "chance: the corrected p values and the intervals allow for the number of slices.",
        _slices(shown),
    )


def _slices(shown: Shown) -> Iterator[PageBlock]:
    slices = shown.slices
    if len(slices.shown) < 2 or not shown.rows:
        yield Sentence(
            "No slices were requested; `goodgain compare --slice NAME` compares by an attribute.",
            "strong",
        )
        return
    yield metric_menu("slices-metric", shown.menu, shown.first)
    yield Chart("slices", "Difference by slice", "with the intervals that decide the verdicts.")
    if slices.left_out:
        left_out = count_text(slices.left_out)
        yield Sentence(f"{left_out} smaller slices are in the dataset `comparison`.", "quiet")
    if shown.manifest["only_family_in_slices"]:
        yield Sentence(
            "With this many slices, only the metrics of the family are compared in each; add "
            "others with `--family`.",
            "quiet",
        )


def pairs_section(shown: Shown, names: Sequence[str]) -> Section:
    """The difference of every pair.

    Args:
      names: the metrics whose pairs the page has.
    """
    metrics = [one for one in shown.declared if one.metric.name in names]
    return section(
        "pairs",
        "Pair by pair",
        "The difference of every pair, sorted. It shows whether a mean difference comes from many "
        "small changes or a few large ones.",
        metric_menu("pairs-metric", [("Declared family", metrics)], names[0]),
        Chart("pairs", "Difference of each pair", "all conversations, whichever slice is chosen."),
    )


def sensitivity_section(rows: Sequence[Row], correction: Any) -> Section:
    """The differences under other policies."""
    table: TableBlock = sensitivity_table(convert(rows, list[SensitivityRow]), correction)
    return section(
        "sensitivity",
        "Policies",
        "Both arms scored again under other policies. A verdict that changes with the policy "
        "depends on the policy as much as on the agents: one that repeats itself looks better "
        "where copies count as new.",
        table,
    )
