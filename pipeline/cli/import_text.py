"""The summary of an import, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.terminal.words import printable
from goodgain.transforms.core.wording import counted


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
    for reason, skipped in sorted(counts.skipped.items()):
        first = printable(skipped.example)
        console.print(
            f"{skipped.count:>12,}  skipped: {printable(reason)} (first: {first})", soft_wrap=True
        )


def _notes(counts: ImportCounts) -> Iterator[tuple[int, str]]:
    yield counts.found_nothing, "calls found nothing"
    yield counts.documents_not_recorded, "calls do not record their results: counted as none"
    yield counts.without_identity, "results have no id, address or text: each is a new document"
    yield counts.from_trace_ids, "conversations are single traces, which name no session"
    yield (
        counts.last_turn_without_search,
        "conversations did not search in their last turn, which alone is measured",
    )
    yield counts.without_search, "sessions or traces never searched: not written"
    yield counts.repeated, "spans were in the input again: counted once"
    yield counts.counted_once, "searches lay within another span of the same search: counted once"
    yield counts.parent_missing, "spans have a parent that is not in the input"
    yield counts.cut_off, "answers are cut off: read up to there"
    yield counts.search_tools.total(), f"calls of tools that search: {_named(counts.search_tools)}"
    yield counts.other_tools.total(), f"calls of tools that do not: {_named(counts.other_tools)}"
    for name, number in sorted(counts.costs.items()):
        yield number, f"calls report their {name}"


def _named(tools: Mapping[str, int], most: int = 8) -> str:
    greatest = sorted(tools.items(), key=lambda one: (-one[1], one[0]))
    named = ", ".join(
        f"{printable(name) or '(no name)'} {number:,}" for name, number in greatest[:most]
    )
    return named + (", ..." if len(greatest) > most else "")
