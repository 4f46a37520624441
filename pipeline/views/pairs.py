"""The document of two results: what each step compared, and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Document,
    Heading,
    Sentence,
    TableBlock,
    TableColumn,
    document,
    table,
)
from goodgain.pipeline.document.numbers import NONE
from goodgain.pipeline.studies.explanation.model import NearMiss
from goodgain.pipeline.studies.explanation.pair_model import (
    ComparedAttribute,
    PairExplanation,
    StepDecision,
)

_LONGEST_VALUE = 60
# Numbered as in the README and by `goodgain validate`.
_HEADINGS = {
    "type": "Types",
    "passage": "Passages",
    "ids": "1. Ids of the type",
    "url": "2. URL",
    "fields": "3. Fields",
    "generic_id": "4. Other ids, if no attribute conflicts",
    "identical": "5. All attributes, at least two",
}
_DECISIONS = {True: "the same document", False: "two documents"}
_AGREEMENT = {True: "same", False: "different", None: "only one has it"}


def near_misses_table(pairs: Sequence[NearMiss]) -> TableBlock:
    """Where results share a key but are two documents."""
    return table(
        [TableColumn(heading) for heading in ("result", "and", "share", "but differ by")],
        [(pair.place.text, pair.earlier.text, pair.key, pair.step) for pair in pairs],
    )


def pair_document(conversation_id: str, pair: PairExplanation) -> Document:
    """Why two results of a conversation are one document, or two."""
    return document(
        Heading(_answer(conversation_id, pair)),
        _proposal(pair),
        *(_step(pair, at, step) for at, step in enumerate(pair.steps)),
        _outcome(pair),
    )


def _answer(conversation_id: str, pair: PairExplanation) -> str:
    both = f"{pair.first.text} and {pair.second.text} of {conversation_id}"
    answer = _DECISIONS[pair.same]
    if pair.decided_by is None:
        return f"{both} are {answer}: no step finds enough in common"
    return f"{both} are {answer}: {pair.steps[pair.decided_by].reason}"


def _proposal(pair: PairExplanation) -> Iterator[Sentence]:
    if pair.keys:
        yield Sentence(f"They are compared since they share {', '.join(pair.keys)}.")
    else:
        yield Sentence(
            "They share no key (an id, a URL, a title, the start of a text), so that a run never "
            "compares them.",
            "warning",
        )


def _step(pair: PairExplanation, at: int, step: StepDecision) -> Iterator[Block]:
    name = _HEADINGS[step.step]
    if step.step in ("ids", "fields"):
        name += f" (rules of {pair.rules})"
    if step.same is None:
        says = "cannot decide"
    elif at == pair.decided_by:
        says = f"decides: {_DECISIONS[step.same]}, {step.reason}"
    else:
        says = f"would have decided: {_DECISIONS[step.same]}, {step.reason}"
    yield Heading(f"{name}: {says}", minor=True)
    if step.compared:
        yield table(
            list(map(TableColumn, ("attribute", pair.first.text, pair.second.text, ""))),
            map(_compare_cells, step.compared),
        )
    if step.needs and step.same is None:
        yield Sentence(f"The same document needs {', or '.join(step.needs)}.", "quiet")


def _compare_cells(attribute: ComparedAttribute) -> tuple[Cell, ...]:
    values = (NONE if value is None else value for value in (attribute.first, attribute.second))
    return (
        Cell(attribute.name),
        *(Cell(value, longest=_LONGEST_VALUE) for value in values),
        Cell(_AGREEMENT[attribute.agrees], tone="bad" if attribute.agrees is False else ""),
    )


def _outcome(pair: PairExplanation) -> Iterator[Sentence]:
    second = pair.second.text
    if pair.copy_of is None:
        yield Sentence(f"In the run {second} is a document of its own.", apart=True)
    else:
        yield Sentence(f"In the run {second} is a copy of {pair.copy_of.text}.", apart=True)
