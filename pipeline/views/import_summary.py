"""The document of an import: what it read, converted and left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.document.model import (
    Cell,
    Document,
    Sentence,
    TableBlock,
    TableColumn,
    count,
    document,
    table,
)
from goodgain.transforms.core.wording import format_count, list_first, pluralize

_NO_NAME = "(no name)"
_MOST_NAMES = 8
# What the counts of an import mean: the words after a count of one, and after several.
_NOTES = {
    "found_nothing": ("call found nothing", "calls found nothing"),
    "failed": ("search failed: it found nothing", "searches failed: they found nothing"),
    "opens": ("record of documents that were opened", "records of documents that were opened"),
    "cites": ("record of documents that were cited", "records of documents that were cited"),
    "documents_not_recorded": (
        "call does not record its results: counted as none",
        "calls do not record their results: counted as none",
    ),
    "without_members": (
        "record has nothing of what `each` of the mapping names",
        "records have nothing of what `each` of the mapping names",
    ),
    "without_identity": (
        "result has no id, address or text: it is a new document",
        "results have no id, address or text: each is a new document",
    ),
    "joined": (
        "sub-agent's conversation belongs to its caller's: --conversation-of span parts them",
        "sub-agents' conversations belong to their callers': --conversation-of span parts them",
    ),
    "split": (
        "trace holds several conversations: split",
        "traces hold several conversations: split",
    ),
    "redirects": (
        "URL is a redirect with a token of its own, which never repeats: left out",
        "URLs are redirects with tokens of their own, which never repeat: left out",
    ),
    "from_trace_ids": (
        "conversation is a single trace, which names no session",
        "conversations are single traces, which name no session",
    ),
    "last_turn_without_search": (
        "conversation did not search in its last turn, which alone is measured",
        "conversations did not search in their last turn, which alone is measured",
    ),
    "without_search": (
        "session or trace never searched: not written",
        "sessions or traces never searched: not written",
    ),
    "repeated": (
        "span was in the input again: counted once",
        "spans were in the input again: counted once",
    ),
    "counted_once": (
        "search lay within another span of the same search: counted once",
        "searches lay within another span of the same search: counted once",
    ),
    "parent_missing": (
        "span has a parent that is not in the input",
        "spans have a parent that is not in the input",
    ),
    "cut_off": ("answer is cut off: read up to there", "answers are cut off: read up to there"),
}


def import_document(output: str, counts: ImportCounts) -> Document:
    """The document of `goodgain convert --from`: what was written, left out, and found of tools."""
    notes = [(number, what) for number, what in _notes(counts) if number]
    return document(
        Sentence(
            f"{output}: {format_count(counts.conversations, 'conversation')}, "
            f"{format_count(counts.turns, 'turn')}, "
            f"{format_count(counts.iterations, 'iteration')}, "
            f"{format_count(counts.calls, 'call')}, {format_count(counts.results, 'result')}",
            whole=True,
        ),
        Sentence(
            f"of {format_count(counts.records, 'record')} read; "
            f"{format_count(counts.labelled, 'result has', 'results have')} a label.",
            whole=True,
        ),
        _count_table([*notes, *_count_skipped(counts)]),
        _tools(counts),
    )


def skipped_document(counts: ImportCounts) -> Document:
    """What could not be read, by reason."""
    return document(_count_table(_count_skipped(counts)))


def unconverted_document(format: str, counts: ImportCounts) -> Document:
    """Which tools were left out although they answered with lists, and what to do."""
    calls = sum(tool.calls for tool in counts.unconverted.values())
    listed = ", ".join(sorted(counts.unconverted))
    return document(
        Sentence(
            f"goodgain: {format_count(calls, 'call')} of tools that answered with lists "
            f"{pluralize(calls, 'was', 'were')} left out ({listed}). If they search, name "
            f"them in a mapping, `search_tools: [{listed}]` (goodgain convert --from "
            f"{format} --show-mapping prints the one to edit, --mapping FILE uses it): what they "
            "listed then counts as results. If they do not, --allow-unconverted.",
            whole=True,
        )
    )


def _count_table(lines: Iterable[tuple[int, str]]) -> TableBlock | None:
    """Counts, each with the words after it; None without any."""
    rows = [(count(number), what) for number, what in lines]
    return table((TableColumn("", right=True), TableColumn("")), rows) if rows else None


def _tools(counts: ImportCounts) -> TableBlock | None:
    """Each tool with its calls, its answers, how it is classified, and why."""
    numbers = ("calls", "documents", "empty", "failed", "other")
    columns = ("tool", *numbers, TableColumn("counts as"), TableColumn("since"))
    by_calls = sorted(counts.tools.items(), key=lambda item: (-item[1].calls, item[0]))
    rows: list[tuple[Cell | str, ...]] = [
        (
            name or _NO_NAME,
            *map(count, (tool.calls, tool.with_documents, tool.empty, tool.failed, tool.others)),
            tool.action,
            tool.why,
        )
        for name, tool in by_calls
    ]
    return table(columns, rows) if rows else None


def _count_skipped(counts: ImportCounts) -> Iterator[tuple[int, str]]:
    for reason, skipped in sorted(counts.skipped.items()):
        yield skipped.count, f"skipped: {reason} (first: {skipped.example})"


def _notes(counts: ImportCounts) -> Iterator[tuple[int, str]]:
    """Each count, including zeros, with the words after it."""
    for name, words in _NOTES.items():
        number = getattr(counts, name)
        yield number, pluralize(number, *words)
    patterns = counts.unmatched_patterns
    yield (
        len(patterns),
        f"{pluralize(len(patterns), 'pattern matches', 'patterns match')} no tool: "
        + ", ".join(patterns),
    )
    proposed = ""
    if "results" in counts.unread:
        proposed = "; if these are traces, `goodgain run` reads them as they are"
    elif counts.proposed_map:
        proposed = f"; to read what is like a field, add {counts.proposed_map}"
    yield (
        len(counts.unread),
        pluralize(
            len(counts.unread),
            "column is not in the mapping, so it is not read: "
            f"{_list_names(counts.unread)}{proposed}",
            "columns are not in the mapping, so they are not read: "
            f"{_list_names(counts.unread)}{proposed}",
        ),
    )
    for name, number in sorted(counts.costs.items()):
        yield number, pluralize(number, f"call reports its {name}", f"calls report their {name}")


def _list_names(tools: Mapping[str, int]) -> str:
    greatest = sorted(tools.items(), key=lambda item: (-item[1], item[0]))
    return list_first([f"{name or _NO_NAME} {number:,}" for name, number in greatest], _MOST_NAMES)
