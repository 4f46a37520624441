"""The options of `goodgain convert`, in its three directions."""

from __future__ import annotations

from typing import Literal

from goodgain.pipeline.settings.catalogue import Rules
from goodgain.pipeline.settings.option_fields import FROM_TREC, IMPORT, TO_TREC, argument, option
from goodgain.pipeline.settings.option_types import FilePatterns, Mapping, Text
from goodgain.pipeline.settings.reading_config import LabelScaleConfig
from goodgain.pipeline.settings.struct_options import options_of
from goodgain.transforms.core.dedup.rules import DuplicateOptions, Unit

_LAST_NUMBER = r"(\d+)$"
_COMPRESSED = "the last also .jsonl.gz, .bz2, .zst"


@options_of(DuplicateOptions)
class ConvertConfig(LabelScaleConfig):
    """What is read and what is written; the options of one direction apply.

    Attributes:
      source: the tool whose traces are imported; `--from` on the command line.
      renames: `--map` on the command line.
    """

    inputs: FilePatterns = argument(
        "INPUT", "what to import: files, folders or patterns (* and ** are wildcards)", ()
    )
    source: Text | None = option(
        IMPORT, "FORMAT", "tool or format of the traces, as listed above", None, flag="from"
    )
    output: Text | None = option(
        IMPORT, "FILE", f"traces to write: .parquet, .avro or .jsonl, {_COMPRESSED}", None
    )
    mapping: Text | None = option(IMPORT, "FILE", "mapping to use instead of the shipped one", None)
    renames: Mapping = option(
        IMPORT,
        "FIELD=NAME",
        "read fields from other names or paths than the mapping does, like gain=relevance",
        (),
        flag="map",
    )
    show_mapping: bool = option(IMPORT, "", "print the shipped mapping and exit", False)
    conversation_of: Literal["root", "span"] = option(
        IMPORT,
        "",
        "whose conversation a sub-agent with an id of its own belongs to: that of the agent which "
        "calls it or, with span, its own",
        "root",
    )
    allow_unconverted: bool = option(
        IMPORT,
        "",
        "exit with 0 even if calls of tools that answered with lists were left out",
        False,
    )
    from_run: Text | None = option(FROM_TREC, "FILE", "run: topic Q0 docid rank score tag", None)
    from_qrels: Text | None = option(FROM_TREC, "FILE", "qrels: topic 0 docid label", None)
    to_traces: Text | None = option(
        FROM_TREC, "FILE", f"traces to write: .avro, .parquet or .jsonl, {_COMPRESSED}", None
    )
    iteration_from: Literal["tag", "q0"] | None = option(
        FROM_TREC,
        "tag|q0",
        "column of the run that holds the iteration (default: everything is one iteration)",
        None,
    )
    iteration_pattern: Text = option(
        FROM_TREC,
        "REGEX",
        f"finds the iteration in that column (default: {_LAST_NUMBER}, the number at its end)",
        _LAST_NUMBER,
    )
    from_traces: FilePatterns = option(
        TO_TREC,
        "PATTERN",
        "traces on this machine: files, folders or patterns (* and ** are wildcards)",
        (),
    )
    to_run: Text | None = option(TO_TREC, "FILE", "run to write", None)
    to_qrels: Text | None = option(TO_TREC, "FILE", "qrels to write", None)
    id: Text = option(
        TO_TREC,
        "NAME",
        "id of a result that becomes its document name; results without it, or whose id another "
        "document has, are named by their position",
        "doc_id",
    )
    tag: Text = option(TO_TREC, "TAG", "last column of the run", "goodgain")
    rules: Rules
    unit: Unit
