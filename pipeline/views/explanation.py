"""An explanation, for people in the order of its iterations, and as JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import asdict
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from goodgain.pipeline.document.console import on_terminal, plain_table
from goodgain.pipeline.document.numbers import number, value_text
from goodgain.pipeline.document.safe_text import printable, shortened, untrusted
from goodgain.pipeline.results.rows import with_cost_columns
from goodgain.pipeline.studies.explanation.model import (
    ConversationExplanation,
    ExplainedCall,
    ExplainedIteration,
    ExplainedResult,
    InPool,
    Why,
)
from goodgain.transforms.core.scoring.computed import values_at_end
from goodgain.transforms.core.scoring.duplicate_rows import ResultPlace
from goodgain.transforms.core.scoring.metric_by_name import metric_by_name
from goodgain.transforms.core.scoring.registry import CONVERSATION_METRICS, POOL_METRICS
from goodgain.transforms.core.wording import counted, pluralize

_LONGEST_TEXT = 120
_LONGEST_QUERY = 200
_MOST_REJECTED = 10
_OUTCOME_STYLES = {"good": "green", "other": "", "duplicate": "yellow"}
_RULE_WIDTH = 80
_TYPE_WIDTH = 12
_WITHOUT_CONVERSATION = (
    "record of the files names no conversation",
    "records of the files name no conversation",
)
_NAMES_AT_END = tuple(metric.name for metric in CONVERSATION_METRICS)


def render(explanation: ConversationExplanation, console: Console) -> None:
    """Print an explanation."""
    _header(explanation, console)
    for iteration in explanation.iterations:
        _iteration(iteration, console)
    if explanation.near_misses:
        steps = ", ".join(f"{step} {pairs}" for step, pairs in explanation.near_misses.items())
        differ = "pairs that share a key but differ, by the step that says so"
        console.print(Text(f"\nNear misses, {differ}: {steps}"))
    _metrics(explanation, console)


def _header(explanation: ConversationExplanation, console: Console) -> None:
    row = explanation.row
    console.print(Text(f"Conversation {printable(row.conversation_id)}", style="bold"))
    attributes = ", ".join(f"{name} = {value}" for name, value in row.attributes.items())
    rejected = (
        f"{counted(row.rejected_records, 'record')}: the conversation is left out of the means"
    )
    redelivered = counted(row.redelivered, "record")
    if explanation.conflicting_redeliveries:
        redelivered += f", {explanation.conflicting_redeliveries} of them with other content"
    unreadable = counted(explanation.unreadable, *_WITHOUT_CONVERSATION)
    table = Table.grid(padding=(0, 2))
    for name, is_present, fact in (
        ("attributes", row.attributes, attributes),
        ("turn", True, _turn_in_words(explanation)),
        ("redelivered", row.redelivered, redelivered),
        ("rejected", row.rejected_records, rejected),
        ("unreadable", explanation.unreadable, unreadable),
    ):
        if is_present:
            table.add_row(Text(name, style="dim"), untrusted(fact))
    for record in explanation.rejected[:_MOST_REJECTED]:
        problem = f"{record.source}, {record.position}: {record.reason}"
        table.add_row("", untrusted(problem, _LONGEST_QUERY))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def _turn_in_words(explanation: ConversationExplanation) -> str:
    row = explanation.row
    if row.turn is None:
        return "none: none of its records can be used"
    text = (
        f"{row.turn}, N = {counted(row.N, 'iteration')}, {counted(row.calls, 'search call')}, "
        f"{counted(row.R, 'result')}"
    )
    if not row.N:
        text = f"{row.turn}, which did not search (N = 0)"
    if explanation.earlier_turns:
        earlier_turns = (
            f"{one.turn} ({counted(one.calls, 'call')})" for one in explanation.earlier_turns
        )
        earlier = pluralize(
            len(explanation.earlier_turns), "an earlier turn does", "earlier turns do"
        )
        text += f"; {earlier} not count: {', '.join(earlier_turns)}"
    return text


def _iteration(iteration: ExplainedIteration, console: Console) -> None:
    row = iteration.row
    console.print()
    title = f"Iteration i = {row.i}"
    if row.iteration != row.i:
        title += f" (number {row.iteration} in the trace)"
    width = min(console.width, _RULE_WIDTH)
    console.print(Text(f"{title} ".ljust(width, "-"), style="bold"), soft_wrap=True)
    for call in iteration.calls:
        _call(row.i, call, console)
    console.print(
        Text(
            f"  here    {counted(row.R_i, 'result')} (R), {row.UR_i} new (UR), {row.GR_i} of them "
            f"good (GR), {row.Dup_i} repeated (Dup), {row.unlabelled_i} unlabelled\n"
            f"          gain {row.G_i} (G), {number(row.AvgGain_i)} per result (AvgGain)"
        )
    )
    console.print(
        Text(
            f"  so far  {counted(row.R_at_i, 'result')} (R), {row.UR_at_i} distinct (UR), "
            f"{row.GR_at_i} of them good (GR), {row.DupR_at_i} repeated (DupR)\n"
            f"          gain {row.CG_at_i} (CG), per iteration {number(row.RG_at_i)} (RG), "
            f"per result {number(row.RAG_at_i)} (RAG)\n"
            f"          discounted {number(row.DCG_at_i)} (DCG), per iteration "
            f"{number(row.DRG_at_i)} (DRG), per result {number(row.DRAG_at_i)} (DRAG)\n"
            f"          good and new {value_text('SRE', row.SRE_at_i)} (SRE), "
            f"repeated {value_text('SRR', row.SRR_at_i)} (SRR)"
        )
    )
    if row.pool is not None:
        console.print(
            Text(
                "  of the pool  "
                f"recall {value_text('pool_recall', row.pool.pool_recall_at_i)}  "
                f"nCG {value_text('pool_nCG', row.pool.pool_nCG_at_i)}  "
                f"nDCG {value_text('pool_nDCG', row.pool.pool_nDCG_at_i)}"
            )
        )


def _call(i: int, call: ExplainedCall, console: Console) -> None:
    facts = [f"Call {i}.{call.call_position + 1}"]
    if call.tool:
        facts.append(shortened(call.tool, _LONGEST_TEXT))
    if call.query:
        facts.append(f'"{shortened(call.query, _LONGEST_QUERY)}"')
    if call.timestamp:
        facts.append(call.timestamp)
    console.print(Text("  ".join(facts), style="bold"))
    if not call.results:
        console.print("  no results")
        return
    table = plain_table()
    table.add_column("rank", justify="right")
    table.add_column("gain", justify="right")
    table.add_column("type", max_width=on_terminal(_TYPE_WIDTH), overflow="fold")
    table.add_column("what it is", no_wrap=True)
    table.add_column("result, and why it is a duplicate", overflow="fold")
    for result in call.results:
        table.add_row(
            str(result.rank),
            "-" if result.gain is None else str(result.gain),
            untrusted(result.entity_type or "-", _LONGEST_TEXT),
            Text(_outcome(result), style=_OUTCOME_STYLES[result.outcome]),
            _result_text(result),
        )
    console.print(table)


def _outcome(result: ExplainedResult) -> str:
    if result.duplicate is not None:
        return f"copy of {_place(result.duplicate.first)}"
    if result.gain is None:
        return "new, no label"
    return "new, good" if result.outcome == "good" else "new"


def _result_text(result: ExplainedResult) -> Text:
    text = untrusted(result.title or result.url or result.id or "-", _LONGEST_TEXT)
    if result.duplicate is not None:
        text.append(f"\n{_why(result.duplicate)}", style="dim")
    if result.judged_at is not None:
        at = _place(result.judged_at)
        text.append(f"\nits judgment labels {at}, another document, and counts once", style="dim")
    if result.pooled is not None:
        text.append(f"\n{_in_pool(result.pooled)}", style="dim")
    return text


def _in_pool(one: InPool) -> str:
    if one.number is None:
        return "outside the pool"
    label = "no label" if one.label is None else f"label {one.label}"
    how = "the result that was pooled" if one.how == "pooled" else f"matched by step {one.how}"
    return f"document {one.number} of the pool, {label}; {how}"


def _why(why: Why) -> str:
    text = f"{printable(why.reason)} (step {why.step}, key {printable(why.key)})"
    if why.matched != why.first:
        text = f"as its copy {_place(why.matched)}: {text}"
    if why.label_conflict:
        text += f"; the first one's label {why.first_gain} counts"
    return text


def _place(place: ResultPlace) -> str:
    """i.call.rank, each from 1."""
    return f"{place.i}.{place.call_position + 1}.{place.rank}"


def _metrics(explanation: ConversationExplanation, console: Console) -> None:
    row = explanation.row
    measured = dict(zip(_NAMES_AT_END, values_at_end(row), strict=True))
    if row.pool is not None:
        measured.update((one.name, getattr(row.pool, one.name)) for one in POOL_METRICS)
    measured.update(row.costs)
    for heading, rows in (
        ("Metrics at N", measured),
        ("Ranking metrics of the list of first occurrences", explanation.ranking),
    ):
        table = plain_table()
        table.add_column("metric")
        table.add_column("value", justify="right")
        table.add_column("unit")
        for name, value in rows.items():
            metric = metric_by_name(name)
            shown = "null" if value is None else value_text(name, value)
            table.add_row(metric.label, shown, "" if metric.in_percent else metric.unit)
        console.print()
        console.print(Text(heading, style="bold"))
        console.print(table)


def explanation_json(explanation: ConversationExplanation) -> dict[str, Any]:
    """What `goodgain explain --json` prints.

    `conversation` and each of `iterations` hold the columns of SPEC 6; ranking metrics have their
    own spelling, like `ndcg@10`.
    """
    row = with_cost_columns(asdict(explanation.row))
    pool = row.pop("pool")
    del row["ranking"]
    content: dict[str, Any] = msgspec.to_builtins(explanation)
    del content["row"], content["ranking"], content["iterations"]
    return {
        "conversation": row | explanation.ranking | (asdict(pool) if pool else {}),
        **content,
        "iterations": [_iteration_json(one) for one in explanation.iterations],
    }


def _iteration_json(iteration: ExplainedIteration) -> dict[str, Any]:
    row = with_cost_columns(asdict(iteration.row))
    for repeated in ("conversation_id", "turn", "attributes"):
        del row[repeated]
    if (pool := row.pop("pool")) is not None:
        row |= asdict(pool)
    return row | {"search_calls": msgspec.to_builtins(iteration.calls)}
