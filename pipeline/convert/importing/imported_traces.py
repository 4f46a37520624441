"""The trace records of imported files: spans or rows, gathered to turns and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil
from typing import Any

from goodgain.pipeline.convert.importing.calls_of_rows import Row, calls_of_rows, row_of
from goodgain.pipeline.convert.importing.counts import ImportCounts, ToolCount
from goodgain.pipeline.convert.importing.event_spans import join_events, tool_of
from goodgain.pipeline.convert.importing.formats.format import Format
from goodgain.pipeline.convert.importing.mapping_file import MappingFile
from goodgain.pipeline.convert.importing.mapping_parts import has_identity
from goodgain.pipeline.convert.importing.provider_spans import with_provider_calls
from goodgain.pipeline.convert.importing.raw_records import PositionedRecord, read_raw_records
from goodgain.pipeline.convert.importing.spans import FUNCTION, OTHER, Span, classify, span_of
from goodgain.pipeline.convert.importing.tools import Tools
from goodgain.pipeline.convert.importing.turns import TurnOfTrace, turns_of_trace
from goodgain.pipeline.convert.importing.values.scalars import text
from goodgain.pipeline.convert.source_attributes import ROOT_SPAN_ID, SESSION_ID, TRACE_ID
from goodgain.pipeline.inputs import progress
from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.spool import Spool
from goodgain.transforms.core.records.parsing import parse_escaped_mapping
from goodgain.transforms.core.records.search_call import CITE, OPEN, SEARCH, USAGES

_INPUT_BYTES_PER_PART = 8 * 2**20
_MOST_PARTS = 256
# Gemini's grounding gives each result a URL with a token of its own, which never repeats.
_REDIRECT = "vertexaisearch.cloud.google.com/grounding-api-redirect/"
Record = dict[str, Any]


def import_traces(
    files: Sequence[InputFile],
    format: Format,
    mapping: MappingFile,
    counts: ImportCounts,
    keep_apart: bool = False,
) -> Iterator[Record]:
    """Trace records (SPEC 2), checked by the reader of traces.

    Records are grouped on disk; only one trace and one conversation are in memory at a time. The
    records of a conversation are consecutive and in order.

    Args:
      counts: updated while the records are read.

    Raises:
      UsageError: a file cannot be read.
    """
    parts = min(_MOST_PARTS, max(1, ceil(sum(file.size for file in files) / _INPUT_BYTES_PER_PART)))
    records = _decode(files, format, mapping, counts)
    if mapping.unit == "span":
        yield from _from_spans(records, mapping, parts, counts, keep_apart)
    else:
        yield from _from_rows(records, mapping, parts, counts)


def _decode(
    files: Sequence[InputFile], format: Format, mapping: MappingFile, counts: ImportCounts
) -> Iterator[PositionedRecord]:
    decode = format.decoder()
    for file in files:
        records = read_raw_records(file.path, mapping.records, format, counts)
        for position, raw in format.gather(file.path, records) if format.gather else records:
            progress.advance({"records.read": 1})
            for record in decode(raw, partial(counts.skip, example=position)):
                has_members = False
                for member in mapping.members(record):
                    has_members = True
                    yield position, member
                counts.without_members += not has_members


def _from_spans(
    records: Iterator[PositionedRecord],
    mapping: MappingFile,
    parts: int,
    counts: ImportCounts,
    keep_apart: bool,
) -> Iterator[Record]:
    tools = Tools(mapping.search_tools, mapping.open_tools)
    with Spool(parts, Span) as by_trace, Spool(parts, TurnOfTrace) as by_conversation:
        for position, record in records:
            span = span_of(record, mapping, position, counts)
            if span is None:
                continue
            counts.records += bool(span.span_id)
            if span.kind == OTHER and span.span_id:
                counts.note_other(text(mapping.part("tool", record)))
            if span.answer is not None:
                for tool in {span.tool or "", tool_of(span.tool or "")}:
                    tools.add(tool, span.answer)
            for call in span.provider_calls:
                tools.add(call.tool, call.answer)
            by_trace.add(span.trace_id, span)
        counts.unmatched_patterns = tools.find_unmatched()
        for _, spans in by_trace.groups():
            spans = join_events(with_provider_calls(spans))
            _count_tools(spans, tools, counts)
            spans = [classify(span, tools) for span in spans]
            for turn in turns_of_trace(spans, counts, keep_apart):
                by_conversation.add(turn.conversation, turn)
        for conversation, turns in by_conversation.groups():
            turns.sort(key=lambda turn: turn.order)
            yield from _check(_turn_records(conversation, turns, counts), counts)


def _count_tools(spans: Sequence[Span], tools: Tools, counts: ImportCounts) -> None:
    """Count the calls of each tool; a span that was exported twice counts once."""
    for span in {span.span_id: span for span in spans}.values():
        tool = span.tool or ""
        if span.answer is not None and (span.kind != FUNCTION or tools.finds(tool)):
            verdict = tools.verdict(tool)
            counted = counts.tools.setdefault(
                tool, ToolCount(action=verdict.action, why=verdict.why)
            )
            counted.add(span.answer)


def _turn_records(
    conversation: str, turns: Sequence[TurnOfTrace], counts: ImportCounts
) -> Iterator[Record]:
    if not any(call.kind not in USAGES for turn in turns for _, call in turn.calls):
        counts.without_search += 1
        return
    searched = any(call.kind not in USAGES for _, call in turns[-1].calls)
    counts.last_turn_without_search += not searched
    counts.from_trace_ids += turns[0].session is None
    for number, turn in enumerate(turns, 1):
        ids = {TRACE_ID: turn.trace_id, ROOT_SPAN_ID: turn.root_id}
        if turn.session not in (None, turn.trace_id):
            ids[SESSION_ID] = str(turn.session)
        outcomes = {"outcomes": turn.outcomes} if turn.outcomes else {}
        in_iteration: Counter[int] = Counter()
        for iteration, call in turn.calls:
            yield {
                "conversation_id": conversation,
                "turn": number,
                "iteration": iteration,
                "call": in_iteration[iteration],
                "record_id": f"{turn.trace_id}/{call.span_id}",
                "timestamp": call.time,
                "query": call.query,
                "tool": call.tool,
                "turn_count": len(turns),
                "action": call.kind if call.kind in USAGES else SEARCH,
                "error": call.error,
                "attributes": {**call.attributes, **ids},
                "costs": call.costs,
                **outcomes,
                "results": call.results,
            }
            in_iteration[iteration] += 1


def _from_rows(
    records: Iterator[PositionedRecord], mapping: MappingFile, parts: int, counts: ImportCounts
) -> Iterator[Record]:
    with Spool(parts, Row) as spool:
        for at, (position, record) in enumerate(records):
            counts.records += 1
            counts.unread.update(mapping.find_unread(record))
            row = row_of(record, mapping, at, position, counts)
            if row is not None:
                spool.add(row.conversation_id, row)
        for _, rows in spool.groups():
            calls = calls_of_rows(rows, mapping.unit)
            calls.sort(key=lambda call: (call.turn, call.iteration, call.call, call.at))
            yield from _check(map(Row.record, calls), counts)


def _check(records: Iterator[Record], counts: ImportCounts) -> Iterator[Record]:
    """The records of a conversation, counted, without those that the reader of traces rejects."""
    turns: set[int] = set()
    iterations: set[tuple[int, int]] = set()
    for record in records:
        results = record["results"]
        record["results"] = results or []
        for result in record["results"]:
            if _REDIRECT in result.get("url", ""):
                counts.redirects += 1
                del result["url"]
        try:
            parse_escaped_mapping(record)
        except RecordError as error:
            reason = f"a call that no reader accepts: {error.reason}"
            counts.skip(reason, record["conversation_id"])
            continue
        action = record.get("action", SEARCH)
        counts.conversations += not turns
        turn, iteration = record["turn"], record["iteration"]
        counts.turns += turn not in turns
        turns.add(turn)
        if action == SEARCH:
            counts.calls += 1
            counts.failed += record.get("error") is not None
            counts.found_nothing += results == [] and record.get("error") is None
            counts.documents_not_recorded += results is None
            counts.iterations += (turn, iteration) not in iterations
            iterations.add((turn, iteration))
        else:
            counts.opens += action == OPEN
            counts.cites += action == CITE
        counts.without_identity += sum(not has_identity(result) for result in record["results"])
        counts.results += len(record["results"])
        counts.labelled += sum("gain" in result for result in record["results"])
        counts.costs.update(record["costs"].keys())
        yield record
