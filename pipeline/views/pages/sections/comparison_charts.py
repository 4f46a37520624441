"""The sections of a comparison's page with charts of differences, and other policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.document.numbers import count_text
from goodgain.pipeline.document.page import (
    Beside,
    Chart,
    Menu,
    Menus,
    PageBlock,
    Section,
    section,
)
from goodgain.pipeline.studies.comparison.comparison_row import (
    SensitivityRow,
)
from goodgain.pipeline.views.pages.data.slices import LEAST_N_FOR_BAND
from goodgain.pipeline.views.pages.sections.charts import GAINED, STOPS_PAYING
from goodgain.pipeline.views.pages.sections.section_parts import metric_menu, name_menu
from goodgain.pipeline.views.pages.sections.verdicts import Shown
from goodgain.pipeline.views.sensitivity import sensitivity_table
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod

_TOO_FEW = "if it is wide, too few conversations were compared"


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
        tolerance = ", ".join(map(str, shown.manifest.request.tolerances)) or "0"
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
            f"with {shown.level} bands, not corrected for the number of iterations; none for fewer "
            f"than {LEAST_N_FOR_BAND} conversations.",
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
    if shown.manifest.only_family_in_slices:
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
    metrics = [definition for definition in shown.declared if definition.metric.name in names]
    return section(
        "pairs",
        "Pair by pair",
        "The difference of every pair, sorted. It shows whether a mean difference comes from many "
        "small changes or a few large ones.",
        metric_menu("pairs-metric", [("Declared family", metrics)], names[0]),
        Chart("pairs", "Difference of each pair", "all conversations, whichever slice is chosen."),
    )


def sensitivity_section(rows: Sequence[SensitivityRow], correction: AdjustmentMethod) -> Section:
    """The differences under other policies."""
    return section(
        "sensitivity",
        "Policies",
        "Both arms scored again under other policies. A verdict that changes with the policy "
        "depends on the policy as much as on the agents: one that repeats itself looks better "
        "where copies count as new.",
        sensitivity_table(rows, correction),
    )
