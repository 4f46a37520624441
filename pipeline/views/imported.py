"""Prints what an import read, converted and left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.document.console import plain_table, print_line
from goodgain.pipeline.document.safe_text import printable
from goodgain.transforms.core.wording import counted, pluralize

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


def print_import(console: Console, output: str, counts: ImportCounts) -> None:
    """Print the counts of `goodgain convert --from`."""
    console.print(
        f"{output}: {counted(counts.conversations, 'conversation')}, "
        f"{counted(counts.turns, 'turn')}, {counted(counts.iterations, 'iteration')}, "
        f"{counted(counts.calls, 'call')}, {counted(counts.results, 'result')}\n"
        f"of {counted(counts.records, 'record')} read; "
        f"{counted(counts.labelled, 'result has', 'results have')} a label.\n",
        soft_wrap=True,
    )
    for number, what in _notes(counts):
        if number:
            console.print(f"{number:>12,}  {what}", soft_wrap=True)
    print_skipped(console, counts)
    if counts.tools:
        console.print()
        print_tools(console, counts)


def print_tools(console: Console, counts: ImportCounts) -> None:
    """Print each tool with its calls, its answers, how it is classified, and why."""
    headings = ("tool", "calls", "documents", "empty", "failed", "other", "counts as", "since")
    table = plain_table(*headings)
    for at in (6, 7):
        table.columns[at].justify = "left"
    for name, tool in sorted(counts.tools.items(), key=lambda one: (-one[1].calls, one[0])):
        numbers = (tool.calls, tool.with_documents, tool.empty, tool.failed, tool.others)
        table.add_row(
            printable(name) or "(no name)",
            *(f"{number:,}" for number in numbers),
            tool.action,
            printable(tool.why),
        )
    console.print(table)


def print_unconverted(console: Console, format: str, counts: ImportCounts) -> None:
    """Print which tools were left out although they answered with lists, and what to do."""
    calls = sum(tool.calls for tool in counts.unconverted.values())
    listed = ", ".join(sorted(counts.unconverted))
    print_line(
        console,
        f"goodgain: {counted(calls, 'call')} of tools that answered with lists "
        f"{pluralize(calls, 'was', 'were')} left out ({printable(listed)}). If they search, name "
        f"them in a mapping, `search_tools: [{printable(listed)}]` (goodgain convert --from "
        f"{format} --show-mapping prints the one to edit, --mapping FILE uses it): what they "
        "listed then counts as results. If they do not, --allow-unconverted.",
    )


def print_skipped(console: Console, counts: ImportCounts) -> None:
    """Print what could not be read, by reason."""
    for reason, skipped in sorted(counts.skipped.items()):
        first = printable(skipped.example)
        skips = f"{skipped.count:>12,}  skipped: {printable(reason)} (first: {first})"
        console.print(skips, soft_wrap=True)


def _notes(counts: ImportCounts) -> Iterator[tuple[int, str]]:
    """Each count, including zeros, with the words after it."""
    for name, words in _NOTES.items():
        number = getattr(counts, name)
        yield number, pluralize(number, *words)
    patterns = counts.unmatched_patterns
    yield (
        len(patterns),
        f"{pluralize(len(patterns), 'pattern matches', 'patterns match')} no tool: "
        + ", ".join(map(printable, patterns)),
    )
    proposed = f"; to read what is like a field, add {counts.proposed_map}" * bool(
        counts.proposed_map
    )
    yield (
        len(counts.unread),
        pluralize(
            len(counts.unread),
            f"column is not in the mapping, so it is not read: {_named(counts.unread)}{proposed}",
            "columns are not in the mapping, so they are not read: "
            f"{_named(counts.unread)}{proposed}",
        ),
    )
    for name, number in sorted(counts.costs.items()):
        yield number, pluralize(number, f"call reports its {name}", f"calls report their {name}")


def _named(tools: Mapping[str, int], most: int = 8) -> str:
    greatest = sorted(tools.items(), key=lambda one: (-one[1], one[0]))
    named = ", ".join(
        f"{printable(name) or '(no name)'} {number:,}" for name, number in greatest[:most]
    )
    return named + (", ..." if len(greatest) > most else "")
