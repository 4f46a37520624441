"""The part of a conversation's document about what the agent opened and cited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Heading,
    Sentence,
    TableColumn,
    Tone,
    table,
)
from goodgain.pipeline.document.numbers import NONE, number
from goodgain.pipeline.results.rows import conversation_row
from goodgain.pipeline.studies.explanation.arms import ArmDocument
from goodgain.pipeline.studies.explanation.model import ExplainedResult, ExplainedUsage, UsedResult
from goodgain.pipeline.views.way import WaySums, losses
from goodgain.transforms.core.scoring.score_rows import ConversationRow

DONE = {"open": "opened", "cite": "cited"}
_LONGEST_TEXT = 120


def usage_part(usages: Sequence[ExplainedUsage], row: ConversationRow) -> Iterator[Block]:
    """What was lost from found to cited, and each record of opened or cited documents."""
    if not usages:
        return
    yield Heading("Opened and cited")
    sums = WaySums([{}])
    sums.add(conversation_row(row))
    for way in sums.ways():
        yield from (Sentence(text) for text in (losses(way), *way.beside) if text)
    for usage in usages:
        title = f"{DONE[usage.action].capitalize()} in iteration {usage.iteration} of the trace"
        yield Heading(title, minor=True)
        if not usage.results:
            yield Sentence("no documents", indent=1)
            continue
        yield table(
            (
                TableColumn("label", right=True),
                TableColumn("found at", whole=True),
                TableColumn("document"),
            ),
            [
                (number(result.label), _build_found_cell(result), document_cell(result))
                for result in usage.results
            ],
        )


def _build_found_cell(result: UsedResult) -> Cell:
    if result.found is None:
        return Cell("by no search", "place", "warning")
    return Cell(result.found.text, "place", "good" if result.good else "")


def document_cell(
    found: UsedResult | ExplainedResult | ArmDocument, tone: Tone = "", below: tuple[str, ...] = ()
) -> Cell:
    """A document by its title, else its URL or id; with further lines below."""
    name = found.title or found.url or found.id or NONE
    return Cell(name, tone=tone, below=below, longest=_LONGEST_TEXT)
