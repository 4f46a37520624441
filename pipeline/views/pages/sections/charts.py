"""The sections of a run's page with charts: by iteration, pool, costs, distributions, slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.document.numbers import count_text
from goodgain.pipeline.document.page import Beside, Chart, Menus, PageBlock, Section, section
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.manifest_counts import PoolCounts
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.views.means import means_table
from goodgain.pipeline.views.pages.data.definitions import Definition, Glossary
from goodgain.pipeline.views.pages.data.slices import LEAST_N_FOR_BAND, SliceMeans, Slices
from goodgain.pipeline.views.pages.sections.section_parts import (
    NOTHING,
    definitions,
    dimension_menu,
    metric_menu,
    name_menu,
)
from goodgain.transforms.core.wording import format_count

Row = Mapping[str, Any]
_LONGEST_FOLDER = 120
_LONGEST_NAME = 60
_NONE_OF_FEW = f"none for fewer than {LEAST_N_FOR_BAND} conversations"
_INTERVALS = f"with 95 % intervals, {_NONE_OF_FEW}"
STOPS_PAYING = "stops-paying"
GAINED = Chart(
    "gained",
    "Gain over cost",
    "means through iteration i with 95 % bands; bars are intervals of the cost.",
)


def iterations_section(slices: Slices[SliceMeans], glossary: Glossary) -> Section:
    """How means grow with the iterations."""
    return section(
        "iterations",
        "By iteration",
        "How the numbers grow while the agent searches, and how much the i-th search iteration "
        "still adds. Reached counts the conversations that got as far as i; all counts every "
        "conversation, with nothing added after it stopped: the gain within a budget of i "
        "iterations.",
        _iterations(slices, glossary) if slices.everything else NOTHING,
    )


def _iterations(slices: Slices[SliceMeans], glossary: Glossary) -> Iterator[PageBlock]:
    groups = (("Through iteration i", glossary.so_far), ("Of iteration i alone", glossary.each))
    yield metric_menu("curve-metric", groups, "CG_at_i")
    bands = f"with 95 % bands; {_NONE_OF_FEW}."
    added = "results per conversation that reached it."
    yield Beside(
        (
            (Chart("curve", "Mean by iteration", bands),),
            (Chart("added", "What each iteration adds", added),),
        )
    )
    if slices.iterations_left_out:
        later = count_text(slices.iterations_left_out)
        yield Sentence(f"{later} later iterations are in the dataset `means`.", "quiet")


def pool_section(everything: SliceMeans | None, pool: PoolCounts) -> Section:
    """The share of the pool that the agent found by iteration i."""
    name = pool.run_name
    within = "" if name is None else f", in which this run is `{shorten(name, _LONGEST_NAME)}`"
    without = pool.conversations_without_good_documents
    return section(
        "pool",
        "Share of the pool",
        "Share of the good documents known for the topic (found by any pooled run) that the agent "
        "had found by iteration i. The pool is "
        f"`{shorten(pool.folder, _LONGEST_FOLDER)}`{within}.",
        Chart("pool", "Good documents of the pool found by i", "with 95 % bands.")
        if everything
        else NOTHING,
        Sentence(
            f"Of the run's distinct documents, {format_count(pool.pooled, 'was', 'were')} "
            f"pooled from it, {format_count(pool.matched, 'matches', 'match')} a document of "
            f"the pool, and {format_count(pool.outside, 'is', 'are')} outside it. "
            f"{format_count(without, 'conversation has', 'conversations have')} a topic without a "
            "good document in the pool; its shares of the pool are undefined.",
            "quiet",
        ),
        link="Pool",
    )


def costs_section(
    slices: Slices[SliceMeans],
    names: Sequence[str],
    costs: Sequence[tuple[Definition, Row]],
    manifest: RunManifest,
) -> Section:
    """What gain costs.

    Args:
      names: of the costs.
      costs: metrics of costs with their rows of `means`.
    """
    rows = [row for _, row in costs]
    return section(
        "costs",
        "What gain costs",
        "How much the agent spent for its gain, and the iteration after which more spending adds "
        "little. Reached counts the conversations that got as far as i; all counts every "
        "conversation: those that stopped earlier keep the gain and the cost that they had.",
        name_menu("cost", "Cost", names),
        Beside(
            (
                (GAINED,),
                (
                    Chart(
                        "paying",
                        "Where it stops paying off",
                        "gain of iteration i per unit of its cost, in conversations that reached "
                        "it.",
                    ),
                ),
            )
        ),
        Sentence("", anchor=STOPS_PAYING),
        _gain_against_cost(slices),
        means_table(rows, manifest, "Costs, and gain per cost"),
        definitions("What these mean", [cost for cost, _ in costs]),
    )


def _gain_against_cost(slices: Slices[SliceMeans]) -> Iterator[PageBlock]:
    if slices.dimensions:
        yield dimension_menu("front-dimension", slices.dimensions)
        yield Chart(
            "front",
            "Gain against cost",
            "one point per slice (the conversations with one value of an attribute), "
            f"{_INTERVALS}; filled marks are on the Pareto front: no other slice gains as much for "
            "less.",
        )


def distributions_section(everything: SliceMeans | None, glossary: Glossary) -> Section:
    """How conversations spread around the mean."""
    groups = (("Good Gain", glossary.measures), ("Ranking", glossary.ranking_of_conversations))
    shown: list[PageBlock] = [
        metric_menu("distribution-metric", groups, "SRE"),
        Chart("distribution", "Conversations by value", "at their last iteration."),
    ]
    return section(
        "distributions",
        "Distributions",
        "How the conversations spread around the mean, which can hide a few very bad or very good "
        "ones.",
        shown if everything else NOTHING,
    )


def slices_section(slices: Slices[SliceMeans], glossary: Glossary) -> Section:
    """Means by slice."""
    return section(
        "slices",
        "Slices",
        "The same mean for subsets of the conversations. Intervals that overlap widely are no "
        "evidence of a difference, and among many slices some differ by chance.",
        _slices(slices, glossary),
    )


def _slices(slices: Slices[SliceMeans], glossary: Glossary) -> Iterator[PageBlock]:
    if not slices.everything:
        yield NOTHING
        return
    if not slices.dimensions:
        yield Sentence(
            "No slices were requested; `goodgain run --slice NAME` computes means by an attribute.",
            "strong",
        )
        return
    groups = (("Good Gain", glossary.measures), ("Ranking", glossary.ranking))
    by = dimension_menu("dimension", slices.dimensions)
    yield Menus((by, metric_menu("slices-metric", groups, "CG")))
    yield Chart(
        "slices",
        "Means by slice",
        f"{_INTERVALS}; the dotted line is the mean of all conversations.",
    )
    if slices.left_out:
        yield Sentence(
            f"The {count_text(len(slices.shown) - 1)} largest slices are shown; "
            f"{count_text(slices.left_out)} smaller ones are in the dataset `means`.",
            "quiet",
        )
