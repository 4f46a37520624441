"""Converts files of another tool to trace records, conversation by conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.formats.catalog import FORMATS
from goodgain.pipeline.convert.importing.imported_traces import Record, import_traces
from goodgain.pipeline.convert.importing.mapping_file import (
    parse_mapping_file,
    read_shipped_mapping,
)
from goodgain.pipeline.convert.importing.renamed_fields import with_renamed_fields
from goodgain.pipeline.convert.outputs import check_outputs
from goodgain.pipeline.inputs import progress
from goodgain.pipeline.inputs.local_files import find_local_files
from goodgain.pipeline.results.trace_files import write_traces
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.wording import format_count, pluralize
from goodgain.transforms.core.yaml_text import read_text

_MOST_NAMES = 8


def import_files(
    patterns: Sequence[str],
    format: str,
    mapping_path: str | None,
    output: str,
    quiet: bool = False,
    keep_apart: bool = False,
    renames: Sequence[str] = (),
    label_map: LabelMap | None = None,
) -> ImportCounts:
    """Convert files to one file of traces, completely or not at all.

    Args:
      format: a key of FORMATS.
      mapping_path: a mapping to use instead of the shipped one.
      keep_apart: whether a sub-agent with a conversation id of its own is a conversation.
      renames: `--map`; see `with_renamed_fields`.
      label_map: the gains of labels on another scale; None = labels are gains.

    Raises:
      UsageError: the mapping is wrong, a file cannot be read or written, or no search is found.
    """
    counts = ImportCounts()
    if mapping_path is not None:
        mapping = parse_mapping_file(read_text(mapping_path, "a mapping"), mapping_path, counts)
    elif format == "custom":
        raise UsageError(
            "--from custom needs --mapping FILE; `goodgain convert --from custom --show-mapping` "
            "prints one to start from."
        )
    else:
        mapping = parse_mapping_file(read_shipped_mapping(format), f"{format}.yaml", counts)
    mapping = with_renamed_fields(mapping, renames).with_labels(label_map)
    files = find_local_files(patterns)
    check_outputs([output], (file.path for file in files))
    records = import_traces(files, FORMATS[format], mapping, counts, keep_apart)
    with progress.show_progress(sum(file.size for file in files), quiet=quiet):
        write_traces(_at_least_one(records, counts), output)
    return counts


def _at_least_one(records: Iterator[Record], counts: ImportCounts) -> Iterator[Record]:
    yield from records
    if not counts.calls:
        raise UsageError(f"Nothing was converted: {_why_nothing(counts)}")


def _why_nothing(counts: ImportCounts) -> str:
    if counts.skipped:
        reason, skipped = max(counts.skipped.items(), key=lambda item: item[1].count)
        proposed = counts.proposed_map
        why = f"{format_count(skipped.count, 'time')} {reason} (first: {skipped.example})."
        if proposed is not None:
            why += " If its columns have other names, add " + proposed + "."
        return why
    if counts.tools:
        names = ", ".join(
            f"{name or '(no name)'}: {tool.why}" for name, tool in sorted(counts.tools.items())
        )
        return (
            f"none of the tools called searches ({names}); name those that do under search_tools "
            "in a mapping, and what they answered counts as results."
        )
    if counts.records:
        read = format_count(
            counts.records,
            "record was read, which is no search",
            "records were read, none of which is a search",
        )
        return (
            f"{read} by the mapping; see its keys `search` and "
            f"`tool_call`.{_names_of_others(counts)}"
        )
    if counts.without_members:
        were = pluralize(counts.without_members, "record was", "records were")
        return f"{counts.without_members:,} {were} read; `each` found nothing in them."
    return "the files hold no records."


def _names_of_others(counts: ImportCounts) -> str:
    most = counts.others.most_common(_MOST_NAMES)
    return f" Most are named {', '.join(f'{name} ({n:,})' for name, n in most)}." if most else ""
