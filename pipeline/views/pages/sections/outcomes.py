"""The sections of a run's page about what came of the searches: outcomes, repeats, use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.model import Heading, Sentence, TableBlock
from goodgain.pipeline.document.page import Section, section
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.views.outcomes import OutcomeView, outcomes_part, relations_table
from goodgain.pipeline.views.pages.data.slices import SliceMeans
from goodgain.pipeline.views.pages.sections.section_parts import sentences_if
from goodgain.pipeline.views.repeats import repeats_by_slice, repeats_part
from goodgain.pipeline.views.way import Way, losses, way_table

Row = Mapping[str, Any]


def outcomes_section(
    outcomes: Sequence[OutcomeView], by_slice: Mapping[str, TableBlock]
) -> Iterator[Section]:
    """What goes with each outcome, if there are any.

    Args:
      by_slice: for outcomes by name, the table of slices.
    """
    if outcomes:
        yield section(
            "outcomes",
            "What goes with the outcome",
            "AUC is the probability that a metric is higher in a conversation with the outcome 1 "
            "than in one with 0: 0.5 says nothing, 1 or 0 tells them apart. A metric that goes "
            "with a right answer need not cause it.",
            *(
                (
                    Heading(outcome.name),
                    *outcomes_part([outcome]),
                    *([by_slice[outcome.name]] if outcome.name in by_slice else []),
                    *([relations_table(outcome)] if outcome.relations else []),
                )
                for outcome in outcomes
            ),
            link="Outcomes",
        )


def repeats_section(
    rows: Mapping[str, Row], slices: Iterable[SliceMeans], manifest: RunManifest
) -> Iterator[Section]:
    """How often repeats pass, over all and in each slice, if conditions were given."""
    by_slice = repeats_by_slice((slice_.label, slice_.at_end) for slice_ in slices)
    if blocks := (*repeats_part(rows, manifest), *by_slice):
        yield section("repeats", "Does it do it again?", "", blocks, link="Repeats")


def way_section(ways: Sequence[Way], of_all: int = 1) -> Iterator[Section]:
    """The way of good documents, from found to used, if anything was opened or cited.

    Args:
      of_all: how many of the ways, the first ones, are of all conversations: of a run or of arms.
    """
    if ways:
        yield section(
            "way",
            "From found to used",
            "The good documents that search found, those of them that the agent opened, and those "
            "that its answers cite: counts over all conversations in the means, with shares of "
            "those found.",
            sentences_if(*(_name_way(way, losses(way)) for way in ways[:of_all])),
            way_table(ways),
            (
                Sentence(_name_way(way, number), "quiet")
                for way in ways[:of_all]
                for number in way.beside
            ),
        )


def _name_way(way: Way, sentence: str) -> str:
    return f"{way.name.capitalize()}: {sentence}" if way.name and sentence else sentence
