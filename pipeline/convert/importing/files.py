"""Converts files of another tool to one file of traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.formats import FORMATS
from goodgain.pipeline.convert.importing.mapping_file import parse_mapping_file, shipped_mapping
from goodgain.pipeline.convert.importing.run import Record, import_traces
from goodgain.pipeline.convert.trace_files import write_traces
from goodgain.pipeline.local import local_files
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.yaml_text import read_text


def import_files(
    patterns: Sequence[str],
    format: str,
    mapping_path: str | None,
    output: str,
    counts: ImportCounts,
) -> None:
    """Convert files to one file of traces, completely or not at all.

    Args:
      patterns: paths of local files, with wildcards.
      format: a key of FORMATS.
      mapping_path: a mapping to use instead of the shipped one.
      output: the file to write; its suffix determines the format.
      counts: updated.

    Raises:
      UsageError: the mapping is wrong, a file cannot be read or written, or no search is found.
    """
    if mapping_path is not None:
        mapping = parse_mapping_file(read_text(mapping_path, "a mapping"), mapping_path)
    elif format == "custom":
        raise UsageError(
            "--from custom needs --mapping FILE; `goodgain convert --from custom --show-mapping` "
            "prints one to start from."
        )
    else:
        mapping = parse_mapping_file(shipped_mapping(format), f"{format}.yaml")
    records = import_traces(local_files(patterns), FORMATS[format], mapping, counts)
    write_traces(_some(records, counts), output)


def _some(records: Iterator[Record], counts: ImportCounts) -> Iterator[Record]:
    yield from records
    if not counts.calls:
        raise UsageError(f"Nothing was converted: {_why_nothing(counts)}")


def _why_nothing(counts: ImportCounts) -> str:
    if counts.skipped:
        reason, skipped = max(counts.skipped.items(), key=lambda one: one[1].count)
        return f"{skipped.count:,} times {reason} (first: {skipped.example})."
    if counts.other_tools:
        names = ", ".join(sorted(counts.other_tools))
        return (
            f"none of the tools called returned documents ({names}); name those that search under "
            "search_tools in a mapping."
        )
    if counts.records:
        return (
            f"{counts.records:,} records were read, none of which is a search by the "
            "mapping; see its key `search`."
        )
    return "the files hold no records."
