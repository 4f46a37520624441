"""The sections of a run's page about what came of the searches: outcomes, repeats, use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.model import Heading, Sentence
from goodgain.pipeline.document.page import Section, section
from goodgain.pipeline.views.outcomes import OutcomeView, outcomes_part, relations_table
from goodgain.pipeline.views.pages.sections.shared import sentences_if
from goodgain.pipeline.views.repeats import repeats_part
from goodgain.pipeline.views.way import Way, losses, way_table

Row = Mapping[str, Any]


def outcomes_section(outcomes: Sequence[OutcomeView]) -> Iterator[Section]:
    """What goes with each outcome, if there are any."""
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
                    *([relations_table(outcome)] if outcome.relations else []),
                )
                for outcome in outcomes
            ),
            link="Outcomes",
        )


def repeats_section(rows: Mapping[str, Row], manifest: Mapping[str, Any]) -> Iterator[Section]:
    """How often repeats pass, if conditions were given."""
    if blocks := tuple(repeats_part(rows, manifest)):
        yield section("repeats", "Does it do it again?", "", blocks, link="Repeats")


def way_section(ways: Sequence[Way]) -> Iterator[Section]:
    """The way of good documents, from found to used, if anything was opened or cited."""
    if ways:
        yield section(
            "way",
            "From found to used",
            "The good documents that search found, those of them that the agent opened, and those "
            "that its answers cite: counts over all conversations in the means, with shares of "
            "those found.",
            sentences_if(losses(ways[0])),
            way_table(ways),
            (Sentence(one, "quiet") for one in ways[0].beside),
        )
