"""The part of an explanation about iterations: their calls, and what became of each result."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Heading,
    Sentence,
    TableColumn,
    Tone,
    facts,
    table,
)
from goodgain.pipeline.document.numbers import NONE, number, value_text
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.studies.explanation.model import (
    ExplainedCall,
    ExplainedIteration,
    ExplainedResult,
    InPool,
    Raised,
    Why,
)
from goodgain.pipeline.views.used_documents import DONE, document_cell
from goodgain.transforms.core.wording import format_count

_LONGEST_TEXT = 120
LONGEST_QUERY = 200
_OUTCOME_TONES: dict[str, Tone] = {"good": "good", "other": "", "duplicate": "warning"}
_TYPE_WIDTH = 12


def iteration_part(iteration: ExplainedIteration) -> Iterator[Block]:
    """What an iteration gained, and each of its calls with what became of its results."""
    row = iteration.row
    title = f"Iteration i = {row.i}"
    if row.iteration != row.i:
        title += f" (number {row.iteration} in the trace)"
    yield Heading(title)
    for call in iteration.calls:
        yield from _call(row.i, call)
    here = [
        f"{format_count(row.R_i, 'result')} (R), {row.UR_i} new (UR), {row.GR_i} of them good "
        f"(GR), {row.Dup_i} repeated (Dup), {row.unlabelled_i} unlabelled",
        f"gain {row.G_i} (G), {number(row.AvgGain_i)} per result (AvgGain)",
    ]
    so_far = [
        f"{format_count(row.R_at_i, 'result')} (R), {row.UR_at_i} distinct (UR), {row.GR_at_i} of "
        f"them good (GR), {row.DupR_at_i} repeated (DupR)",
        f"gain {row.CG_at_i} (CG), per iteration {number(row.RG_at_i)} (RG), per result "
        f"{number(row.RAG_at_i)} (RAG)",
        f"discounted {number(row.DCG_at_i)} (DCG), per iteration {number(row.DRG_at_i)} (DRG), per "
        f"result {number(row.DRAG_at_i)} (DRAG)",
        f"good and new {value_text('SRE', row.SRE_at_i)} (SRE), repeated "
        f"{value_text('SRR', row.SRR_at_i)} (SRR)",
    ]
    of_pool = []
    if "pool_recall_at_i" in row.metrics:
        of_pool.append(
            f"recall {value_text('pool_recall', row.pool_recall_at_i)}, "
            f"nCG {value_text('pool_nCG', row.pool_nCG_at_i)}, "
            f"nDCG {value_text('pool_nDCG', row.pool_nDCG_at_i)}"
        )
    of_aspects = []
    if "aspects_at_i" in row.metrics:
        of_aspects.append(
            f"{format_count(row.new_aspects_i, 'new aspect')}, {row.aspects_at_i} so far, recall "
            f"{value_text('aspect_recall', row.aspect_recall_at_i)}"
        )
    yield facts(
        (name if at == 0 else "", line)
        for name, lines in (
            ("here", here),
            ("so far", so_far),
            ("of the pool", of_pool),
            ("aspects", of_aspects),
        )
        for at, line in enumerate(lines)
    )


def _call(i: int, call: ExplainedCall) -> Iterator[Block]:
    parts = [f"Call {i}.{call.call_position + 1}"]
    if call.tool:
        parts.append(shorten(call.tool, _LONGEST_TEXT))
    if call.query:
        parts.append(f'"{shorten(call.query, LONGEST_QUERY)}"')
    if call.timestamp:
        parts.append(call.timestamp)
    yield Heading("  ".join(parts), minor=True)
    if call.repeats is not None:
        first = f"{call.repeats.i}.{call.repeats.call_position + 1}"
        yield Sentence(f"repeats the query of call {first}", tone="warning", indent=1)
    if call.error is not None:
        failed = f"failed: {shorten(call.error, _LONGEST_TEXT)}"
        yield Sentence(failed, tone="failure", indent=1)
    if call.excluded:
        left_out = format_count(call.excluded, "result is", "results are")
        yield Sentence(f"{left_out} excluded, and ranks do not count them", indent=1)
    if not call.results:
        yield Sentence("no results", indent=1)
        return
    columns = (
        TableColumn("rank", right=True),
        TableColumn("gain", right=True),
        TableColumn("type", widest=_TYPE_WIDTH),
        TableColumn("what it is", whole=True),
        TableColumn("result, and why it is a duplicate"),
    )
    yield table(
        columns,
        [
            (
                str(result.rank),
                number(result.gain),
                Cell(result.entity_type or NONE, longest=_LONGEST_TEXT),
                Cell(_outcome(result), "place", _OUTCOME_TONES[result.outcome]),
                _result(result),
            )
            for result in call.results
        ],
    )


def _outcome(result: ExplainedResult) -> str:
    if result.duplicate is not None:
        return f"copy of {result.duplicate.first.text}"
    if result.gain is None:
        return "new, no label"
    new = "new, good" if result.outcome == "good" else "new"
    return ", ".join((new, *(DONE[action] for action in result.used)))


def _result(result: ExplainedResult) -> Cell:
    below = []
    if result.duplicate is not None:
        below.append(_describe_duplicate(result.duplicate))
    if result.raised is not None:
        below.append(_describe_rise(result.raised))
    if result.judged_at is not None:
        at = result.judged_at.text
        below.append(f"its judgment labels {at}, another document, and counts once")
    if result.pooled is not None:
        below.append(_in_pool(result.pooled))
    return document_cell(result, below=tuple(below))


def _describe_rise(rise: Raised) -> str:
    label = f"to {rise.label}" if rise.before is None else f"from {rise.before} to {rise.label}"
    return f"raises the label of its document {label}, which adds gain {rise.gain}"


def _in_pool(found: InPool) -> str:
    if found.number is None:
        return "outside the pool"
    label = "no label" if found.label is None else f"label {found.label}"
    how = "the result that was pooled" if found.how == "pooled" else f"matched by step {found.how}"
    return f"document {found.number} of the pool, {label}; {how}"


def _describe_duplicate(why: Why) -> str:
    text = f"{why.reason} (step {why.step}, key {why.key})"
    if why.matched != why.first:
        text = f"as its copy {why.matched.text}: {text}"
    if why.label_conflict:
        text += f"; the first one's label {why.first_gain} counts"
    return text
