"""The document of one conversation: what became of each result, and why."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.pipeline.document.model import (
    Block,
    Document,
    Heading,
    Sentence,
    TableColumn,
    document,
    facts,
    table,
    term,
    value,
)
from goodgain.pipeline.document.numbers import number
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.studies.explanation.model import ConversationExplanation
from goodgain.pipeline.views.explained_iterations import LONGEST_QUERY, iteration_part
from goodgain.pipeline.views.pairs import near_misses_table
from goodgain.pipeline.views.used_documents import usage_part
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.outcomes import OUTCOME
from goodgain.transforms.core.scoring.score_rows import ConversationRow
from goodgain.transforms.core.wording import format_count, pluralize

_MOST_REJECTED = 10
_WITHOUT_CONVERSATION = (
    "record of the files names no conversation",
    "records of the files name no conversation",
)


def explanation_document(explanation: ConversationExplanation) -> Document:
    """The document of a conversation: what became of each of its results, and its metrics."""
    return document(
        _head(explanation),
        *map(iteration_part, explanation.iterations),
        usage_part(explanation.usages, explanation.row),
        _near_misses(explanation),
        _metrics(explanation),
    )


def _near_misses(explanation: ConversationExplanation) -> Iterator[Block]:
    if explanation.near_misses:
        steps = ", ".join(f"{step} {pairs}" for step, pairs in explanation.near_misses.items())
        differ = "pairs that share a key but differ, by the step that says so"
        yield Sentence(f"Near misses, {differ}: {steps}", apart=True)
        yield near_misses_table(explanation.near_miss_pairs)


def _head(explanation: ConversationExplanation) -> Iterator[Block]:
    row = explanation.row
    yield Heading(f"Conversation {row.conversation_id}")
    rejected = (
        f"{format_count(row.rejected_records, 'record')}: the conversation is left out of the means"
    )
    redelivered = format_count(row.redelivered, "record")
    if explanation.conflicting_redeliveries:
        redelivered += f", {explanation.conflicting_redeliveries} of them with other content"
    shown = [
        ("attributes", ", ".join(f"{name} = {value}" for name, value in row.attributes.items())),
        ("turn", _turn_in_words(explanation)),
        ("outcomes", _outcomes(row)),
        ("delivered again", redelivered if row.redelivered else ""),
        ("rejected", rejected if row.rejected_records else ""),
        (
            "unreadable",
            format_count(explanation.unreadable, *_WITHOUT_CONVERSATION)
            if explanation.unreadable
            else "",
        ),
    ]
    yield facts((name, fact) for name, fact in shown if fact)
    for record in explanation.rejected[:_MOST_REJECTED]:
        problem = f"{record.source}, {record.position}: {record.reason}"
        yield Sentence(shorten(problem, LONGEST_QUERY), indent=1)


def _outcomes(row: ConversationRow) -> str:
    known = {name: metric for name, metric in row.metrics.items() if name.startswith(OUTCOME)}
    return ", ".join(
        f"{name.removeprefix(OUTCOME)} = "
        f"{number(int(known_value) if known_value == int(known_value) else known_value)}"
        for name, known_value in known.items()
        if known_value is not None
    )


def _turn_in_words(explanation: ConversationExplanation) -> str:
    row = explanation.row
    if row.turn is None:
        return "none: none of its records can be used"
    text = (
        f"{row.turn}, N = {format_count(row.N, 'iteration')}, "
        f"{format_count(row.calls, 'search call')}, {format_count(row.R, 'result')}"
    )
    if not row.N:
        text = f"{row.turn}, which did not search (N = 0)"
    if explanation.earlier_turns:
        earlier_turns = (
            f"{turn.turn} ({format_count(turn.calls, 'call')})"
            for turn in explanation.earlier_turns
        )
        earlier = pluralize(
            len(explanation.earlier_turns), "an earlier turn does", "earlier turns do"
        )
        text += f"; {earlier} not count: {', '.join(earlier_turns)}"
    return text


def _metrics(explanation: ConversationExplanation) -> Iterator[Block]:
    row = explanation.row
    ranking = {name: row[name] for name in explanation.ranking}
    others = {name: value for name, value in row.metrics.items() if name not in ranking}
    for heading, values in (
        ("Metrics of the whole turn, at N", others),
        ("Ranking metrics of the list of first occurrences", ranking),
    ):
        if not values:
            continue
        yield Heading(heading)
        yield table(
            ("metric", "value", TableColumn("unit")),
            [
                (
                    term(name),
                    value(name, figure),
                    "" if metric_by_name(name).in_percent else metric_by_name(name).unit,
                )
                for name, figure in values.items()
            ],
        )
