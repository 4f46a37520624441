"""The document of a gate: one row for each rule, and the verdict; also as files for CI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.document.junit import Case, junit_of
from goodgain.pipeline.document.markdown import markdown_of
from goodgain.pipeline.document.model import (
    Document,
    Heading,
    Sentence,
    TableColumn,
    count,
    document,
    sentences,
    table,
    verdict,
)
from goodgain.pipeline.studies.gate.outcome import Outcome, cautions_of, has_passed
from goodgain.transforms.core.wording import format_count


def gate_document(outcomes: Sequence[Outcome]) -> Document:
    """The outcome of each rule, the reasons of those that did not pass, and the verdict."""
    return document(
        table(
            (*map(TableColumn, ("rule", "value", "bound")), TableColumn("verdict", whole=True)),
            [(*outcome.cells, verdict(outcome.verdict)) for outcome in outcomes],
        ),
        _reasons(outcomes),
        sentences(cautions_of(outcomes)),
        Sentence(_total(outcomes), apart=True),
    )


def _reasons(outcomes: Sequence[Outcome]) -> Iterator[Sentence]:
    for outcome in outcomes:
        if outcome.reason and outcome.verdict != "passed":
            yield Sentence(f"{outcome.verdict}: {outcome.cells[0]}: {outcome.reason}.")


def _total(outcomes: Sequence[Outcome]) -> str:
    failed = sum(outcome.verdict == "failed" for outcome in outcomes)
    skipped = sum(outcome.verdict == "skipped" for outcome in outcomes)
    checked = format_count(len(outcomes) - skipped, "rule")
    total = f"failed: {failed} of {checked}" if failed else f"passed: {checked}, none failed"
    return f"The gate {total}{f'; {skipped} skipped' if skipped else ''}."


def gate_markdown(outcomes: Sequence[Outcome], name: str) -> str:
    """A heading with the verdict on a run or a day, and a table with one row for each rule."""
    failed = sum(outcome.verdict == "failed" for outcome in outcomes)
    rules = format_count(len(outcomes), "rule")
    total = "passed" if has_passed(outcomes) else f"failed ({failed} of {rules})"
    columns = [TableColumn(heading, right=heading == "n") for heading in _COLUMNS]
    rows = [
        (*outcome.cells, count(outcome.n), verdict(outcome.verdict), outcome.reason)
        for outcome in outcomes
    ]
    return markdown_of(
        document(
            Heading(f"Gate {total}: {name}"),
            table(columns, rows),
            sentences(cautions_of(outcomes)),
        )
    )


_COLUMNS = ("rule", "value", "bound", "n", "verdict", "reason")


def gate_junit(outcomes: Sequence[Outcome], name: str, timestamp: str) -> bytes:
    """The outcomes on a run as JUnit XML, see `junit_of`."""
    cases = [
        Case(
            name=f"{outcome.rule}: {outcome.bound}",
            verdict=outcome.verdict,
            message="; ".join(filter(None, (outcome.value, outcome.reason))),
            required=f"{outcome.rule} must be {outcome.bound}",
        )
        for outcome in outcomes
    ]
    return junit_of(cases, name, timestamp)
