"""The document of one conversation in two arms: what each found that the other did not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Document,
    Heading,
    Sentence,
    TableColumn,
    document,
    table,
    term,
    value,
)
from goodgain.pipeline.document.numbers import NONE, number
from goodgain.pipeline.studies.explanation.arms import (
    ArmDocument,
    ArmGain,
    ArmsExplanation,
    DocumentOfBoth,
)
from goodgain.pipeline.views.used_documents import document_cell
from goodgain.transforms.core.wording import format_count

_METRICS = ("N", "calls", "R", "UR", "GR", "CG")
_PLACES = "A place is i.call.rank, each from 1, where the arm found the document first."


def arms_document(arms: ArmsExplanation) -> Document:
    """What two arms found in one conversation, and their gain by iteration."""
    return document(
        Heading(f"Conversation {arms.input.conversation_id} in two arms"),
        table(
            ("", "input", "against"),
            [
                (term(name), value(name, arms.input[name]), value(name, arms.against[name]))
                for name in _METRICS
            ],
        ),
        _iterations(arms),
        _only("input", arms.only_input),
        _only("against", arms.only_against),
        _documents_of_both(arms),
        Sentence(_PLACES, "quiet", apart=True),
    )


def _iterations(arms: ArmsExplanation) -> Iterator[Block]:
    yield Heading("Gain by iteration")
    yield table(
        ("i", "input", "so far", "against", "so far"),
        [
            (str(iteration.i), *_gain(iteration.input), *_gain(iteration.against))
            for iteration in arms.iterations
        ],
    )


def _gain(gain: ArmGain | None) -> tuple[str, str]:
    return (NONE, NONE) if gain is None else (str(gain.G_i), str(gain.CG_at_i))


def _only(arm: str, documents: Sequence[ArmDocument]) -> Iterator[Block]:
    yield Heading(f"Only in {arm}: {_count_documents(documents)}")
    if documents:
        yield table(
            (
                TableColumn("place", whole=True),
                TableColumn("gain", right=True),
                TableColumn("document"),
            ),
            [(found.place.text, number(found.gain), _name(found)) for found in documents],
        )


def _documents_of_both(arms: ArmsExplanation) -> Iterator[Block]:
    yield Heading(f"In both: {_count_both(arms.both)}")
    if arms.both:
        yield table(
            (
                TableColumn("input", whole=True),
                TableColumn("gain", right=True),
                TableColumn("against", whole=True),
                TableColumn("gain", right=True),
                TableColumn("document"),
            ),
            [
                (
                    pair.input.place.text,
                    number(pair.input.gain),
                    pair.against.place.text,
                    number(pair.against.gain),
                    _name(pair.input),
                )
                for pair in arms.both
            ],
        )


def _count_both(both: Sequence[DocumentOfBoth]) -> str:
    """The number of documents; the arms may have judged one differently."""
    if all(pair.input.good == pair.against.good for pair in both):
        return _count_documents([pair.input for pair in both])
    of_input, of_against = (
        sum(found.good for found in documents)
        for documents in ([pair.input for pair in both], [pair.against for pair in both])
    )
    return (
        f"{format_count(len(both), 'document')}, {of_input} of them good in input and {of_against} "
        "in against"
    )


def _count_documents(documents: Sequence[ArmDocument]) -> str:
    good = sum(found.good for found in documents)
    return (
        f"{format_count(len(documents), 'document')}, {good} of them good"
        if documents
        else "nothing"
    )


def _name(found: ArmDocument) -> Cell:
    return document_cell(found, tone="good" if found.good else "")
