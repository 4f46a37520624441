"""The section of a comparison's page with its verdicts, and what its other sections need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from msgspec import Struct

from goodgain.pipeline.document.columns import table_of
from goodgain.pipeline.document.model import Cell, Sentence, term, verdict
from goodgain.pipeline.document.numbers import level
from goodgain.pipeline.document.page import (
    Card,
    CardLine,
    Cards,
    Details,
    PageBlock,
    Section,
    SliceName,
    section,
)
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.studies.comparison.comparison_row import (
    ComparisonRow,
    Verdict,
)
from goodgain.pipeline.studies.comparison.manifest import ComparisonManifest
from goodgain.pipeline.views.comparison_legend import METHODS
from goodgain.pipeline.views.comparison_tables import Columns, texts_of_comparison
from goodgain.pipeline.views.pages.data.comparison_slices import ComparedSlice
from goodgain.pipeline.views.pages.data.definitions import Definition, Glossary
from goodgain.pipeline.views.pages.data.slices import Slices
from goodgain.pipeline.views.pages.data.texts import unit_of
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.wording import format_count

_MOST_CARDS = 12
_LONGEST_VALUE = 80
_LONGEST_KEY = 60
_EFFECTS = {
    True: "Cohen's d, the mean difference of pairs in their standard deviations",
    False: "Hedges' g, the difference of the means in pooled standard deviations",
}


class Shown(Struct, frozen=True):
    """What the sections show of a comparison.

    Attributes:
      declared, further: the metrics at N, those of the declared family first.
      by_i: metrics by iteration.
      words: the definitions of all these.
      rows: of all conversations at N, by metric.
      level: of the intervals, like `95 %`.
    """

    manifest: ComparisonManifest
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
        return self.manifest.design == "paired"

    @property
    def declared_rows(self) -> list[ComparisonRow]:
        """The rows of the declared family."""
        return [self.rows[definition.metric.name] for definition in self.declared]

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
        " ".join(_describe_comparison(shown)) if shown.declared else "",
        _note_forced(shown.manifest),
        _verdict(shown)
        if shown.declared
        else Sentence(
            "The declared family has only metrics at an iteration, so there is no verdict over the "
            "whole turn; see the table of all metrics.",
            "strong",
        ),
        Details("Every metric at the last iteration", tuple(_every_metric(shown))),
    )


def _note_forced(manifest: ComparisonManifest) -> Iterator[Sentence]:
    for mismatch in manifest.forced:
        base, candidate = (
            shorten(value, _LONGEST_VALUE) for value in (mismatch.base, mismatch.candidate)
        )
        yield Sentence(
            f"Forced. The runs differ in {mismatch.parameter} ({base} and {candidate}), so "
            "their metrics may mean different things.",
            "warning",
        )


def _verdict(shown: Shown) -> Iterator[PageBlock]:
    everyone = [row for row in shown.declared_rows if row.population == "everyone"]
    if everyone:
        names = ", ".join(metric_by_name(row.metric).label for row in everyone)
        pairs = f" ({format_count(everyone[0].n_base, 'pair')})" if shown.paired else ""
        yield Sentence(
            "Conversations that did not search count with gain 0. The arms differ in how often "
            f"they searched at all, so the verdicts on {names} are over all conversations{pairs}.",
            "warning",
        )
    yield SliceName()
    yield Cards(tuple(_card(definition, shown) for definition in shown.declared[:_MOST_CARDS]))
    if len(shown.declared) > _MOST_CARDS:
        others = len(shown.declared) - _MOST_CARDS
        yield Sentence(f"The other {others} are in the table below.", "quiet")


def _describe_comparison(shown: Shown) -> Iterator[str]:
    manifest = shown.manifest
    counts = Counter(row.verdict for row in shown.declared_rows)
    everyone = any(row.population == "everyone" for row in shown.declared_rows)
    verdicts = ", ".join(f"{counts[word]} {word}" for word in get_args(Verdict) if counts[word])
    metrics = format_count(len(shown.declared), "metric that was", "metrics that were")
    yield (
        f"Verdicts on the {metrics} declared beforehand, at each conversation's last iteration: "
        f"{verdicts}."
    )
    if shown.paired:
        pairs = manifest.pairs or 0
        searched = " in which both arms searched" if everyone else ""
        yield (
            f"{format_count(pairs, 'pair')} by "
            f"{shorten(manifest.pair_by or '', _LONGEST_KEY)}{searched} "
            f"{'was' if pairs == 1 else 'were'} compared one by one (paired t-test)."
        )
    else:
        yield (
            "The conversations cannot be paired, so the arms were compared as two samples "
            "(Welch's t-test)."
        )
    method = METHODS[manifest.request.correction]
    yield (
        f"A verdict of better, worse or changed needs a p of at most {shown.alpha}, corrected for "
        f"the number of tests ({method}). Not shown is no proof that nothing changed: the table "
        "lists the smallest detectable differences. Not comparable means that the arms do not "
        "measure the same thing, for the reason beside it. Each interval is the one that decides "
        "the verdict, corrected like p for the tests of the family; each by itself covers at least "
        f"{shown.level}."
    )
    if primary := manifest.primary:
        yield (
            f"{metric_by_name(primary).label}, the primary metric, is tested by itself; slices are "
            "corrected separately."
        )
    else:
        yield "Slices are corrected separately."


def _card(definition: Definition, shown: Shown) -> Card:
    metric = definition.metric
    row = shown.rows[metric.name]
    texts = texts_of_comparison(row, shown.columns)

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
    rows = [shown.rows[definition.metric.name] for definition in (*shown.declared, *shown.further)]
    yield table_of(shown.columns, rows, "Metrics at each conversation's last iteration")
    power = shown.manifest.request.tests.options.power
    pairs = "GSB: (good - bad) / pairs, where good pairs got better and bad ones worse. "
    yield Sentence(
        f"{pairs if shown.paired else ''}Effect size: {_EFFECTS[shown.paired]}. At worst: the "
        "means if every undefined value were the metric's worst. Detectable: the smallest true "
        f"difference that a test on this many conversations finds with {level(power)} power, "
        "before any correction.",
        "quiet",
    )
