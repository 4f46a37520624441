"""`goodgain convert`: imports other tools' traces and TREC files; exports traces to TREC."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from goodgain.pipeline.cli.config_options import add_options_of, label_map_of
from goodgain.pipeline.cli.shared_options import add_option, add_output_options
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.reading_config import ReadingConfig
from goodgain.transforms.core.errors import UsageError

if TYPE_CHECKING:
    pass

NAME = "convert"
HELP = "import traces of other tools and TREC files; export traces to TREC"
EXAMPLE = "goodgain convert --from otlp 'spans/*.jsonl' --output traces.parquet"

_LAST_NUMBER = r"(\d+)$"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the three directions."""
    from goodgain.pipeline.convert.importing.formats.catalog import FORMATS

    known = "\n".join(f"  {name:<16} {format.help}" for name, format in FORMATS.items())
    parser.description = (
        f"{parser.description}\n\nFrom other tools: a mapping says how fields are converted. Each "
        "format has one, which you\ncan copy and edit:\n"
        f"{known}\n\nFrom TREC: a topic becomes a conversation, ranked as trec_eval "
        "ranks a run (by score, then by\ndescending document id). To TREC: the ranked list of each "
        "conversation's last turn, without\nduplicates, and its labels."
    )
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="INPUT",
        help="what to import: files, folders or patterns (* and ** are wildcards)",
    )
    imported = parser.add_argument_group("from other tools")
    add_option(imported, "--from FORMAT", f"one of {', '.join(FORMATS)}", dest="from_format")
    add_option(
        imported,
        "--output FILE",
        "traces to write: .parquet, .avro or .jsonl, the last also .jsonl.gz, .bz2, .zst",
    )
    add_option(imported, "--mapping FILE", "mapping to use instead of the shipped one")
    add_option(
        imported,
        "--map FIELD=NAME",
        "read fields from other names or paths than the mapping does, like gain=relevance",
        nargs="+",
        action="extend",
        dest="renames",
        default=[],
    )
    add_option(imported, "--show-mapping", "print the shipped mapping and exit")
    add_option(
        imported,
        "--conversation-of root|span",
        "whose conversation a sub-agent with an id of its own belongs to: that of the agent which "
        "calls it (root, the default) or, with span, its own",
    )
    add_option(
        imported,
        "--allow-unconverted",
        "exit with 0 even if calls of tools that answered with lists were left out",
    )
    to_traces = parser.add_argument_group("from TREC")
    add_option(to_traces, "--from-run FILE", "run: topic Q0 docid rank score tag")
    add_option(to_traces, "--from-qrels FILE", "qrels: topic 0 docid label")
    add_option(
        to_traces,
        "--to-traces FILE",
        "traces to write: .avro, .parquet or .jsonl, the last also .jsonl.gz, .bz2, .zst",
    )
    add_option(
        to_traces,
        "--iteration-from tag|q0",
        "column of the run that holds the iteration (default: everything is one iteration)",
    )
    add_option(
        to_traces,
        "--iteration-pattern REGEX",
        f"finds the iteration in that column (default: {_LAST_NUMBER}, the number at its end)",
    )
    to_trec = parser.add_argument_group("to TREC")
    add_option(
        to_trec,
        "--from-traces PATTERN",
        "traces on this machine: files, folders or patterns (* and ** are wildcards)",
        nargs="+",
        action="extend",
    )
    add_option(to_trec, "--to-run FILE", "run to write")
    add_option(to_trec, "--to-qrels FILE", "qrels to write")
    add_option(
        to_trec,
        "--id NAME",
        "id of a result that becomes its document name; results without it, or whose id "
        "another document has, are named by their position (default: doc_id)",
    )
    add_option(to_trec, "--tag TAG", "last column of the run (default: goodgain)")
    add_options_of(parser, ReadingConfig, "rules", "unit", "label_map")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Convert in the direction that the options name, and print counts."""
    if args.from_format is not None or args.inputs or args.mapping or args.show_mapping:
        return _import(args)
    if args.output is not None:
        raise UsageError("--output needs --from FORMAT; to TREC files, see --to-run.")
    # Imported here to keep --help fast.
    from goodgain.pipeline.document.console import print_json, result_console

    _check_one_direction(args)
    counts = _to_trec(args) if args.from_traces else _to_traces(args)
    if args.json:
        print_json(counts)
        return 0
    console = result_console(args.quiet)
    for name, number in counts.items():
        console.print(f"{number:>12,}  {name.replace('_', ' ')}")
    if counts.get("never_retrieved"):
        console.print(
            "\nThe traces lack judged documents that the run did not retrieve. Pass the qrels to\n"
            "`goodgain run --qrels` too, so that recall, map, ndcg and the like count them."
        )
    return 0


def _import(args: argparse.Namespace) -> int:
    # Imported here to keep --help fast.
    from goodgain.pipeline.convert.importing.formats.catalog import FORMATS
    from goodgain.pipeline.convert.importing.import_files import import_files
    from goodgain.pipeline.convert.importing.mapping_file import shipped_mapping
    from goodgain.pipeline.document.console import message_console, print_json, result_console
    from goodgain.pipeline.document.terminal import show
    from goodgain.pipeline.views.imported import (
        import_document,
        skipped_document,
        unconverted_document,
    )

    _refuse_both(["--from"], _used_options(args, (*_TO_TRACES, *_TO_TREC)))
    if args.from_format not in FORMATS:
        problem = "is missing" if args.from_format is None else f"is {args.from_format!r}"
        raise UsageError(f"--from {problem}; it must be one of {', '.join(FORMATS)}.")
    console = result_console()
    if args.show_mapping:
        console.print(shipped_mapping(args.from_format), end="", soft_wrap=True)
        return 0
    if not args.inputs or args.output is None:
        raise UsageError("Give the files to import and --output FILE.")
    if args.conversation_of not in (None, "root", "span"):
        raise UsageError(f"--conversation-of is {args.conversation_of!r}; it must be root or span.")
    counts = import_files(
        args.inputs,
        args.from_format,
        args.mapping,
        args.output,
        quiet=args.quiet,
        keep_apart=args.conversation_of == "span",
        renames=[entry for several in args.renames for entry in several.split(",")],
        label_map=label_map_of(args),
    )
    if args.json:
        print_json(counts)
    elif not args.quiet:
        show(import_document(args.output, counts), console)
    messages = message_console()
    if args.quiet:
        show(skipped_document(counts), messages)
    if not counts.unconverted or args.allow_unconverted:
        return ExitCode.DONE
    show(unconverted_document(args.from_format, counts), messages)
    return ExitCode.DATA_QUALITY


_TO_TRACES = ("from_run", "from_qrels", "to_traces", "iteration_from", "iteration_pattern")
_TO_TREC = ("from_traces", "to_run", "to_qrels", "id", "tag", "rules", "unit")


def _used_options(args: argparse.Namespace, names: Sequence[str]) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name in names if getattr(args, name) is not None]


def _refuse_both(options: Sequence[str], others: Sequence[str]) -> None:
    if options and others:
        raise UsageError(
            f"{options[0]} and {others[0]} belong to different directions; see "
            "`goodgain convert --help`."
        )


def _check_one_direction(args: argparse.Namespace) -> None:
    _refuse_both(_used_options(args, _TO_TRACES), _used_options(args, _TO_TREC))
    if args.from_traces and not (args.to_run or args.to_qrels):
        raise UsageError("--from-traces needs --to-run, --to-qrels or both.")
    if not args.from_traces and not (args.from_run and args.to_traces):
        raise UsageError(
            "Give --from and --output, --from-run and --to-traces, or --from-traces and --to-run; "
            "see `goodgain convert --help`."
        )
    if args.iteration_pattern is not None and args.iteration_from is None:
        raise UsageError("--iteration-pattern needs --iteration-from tag or q0.")
    if args.iteration_from not in (None, "tag", "q0"):
        raise UsageError(f"--iteration-from is {args.iteration_from!r}, but must be tag or q0.")
    if args.to_run is not None and args.to_run == args.to_qrels:
        raise UsageError("--to-run and --to-qrels must be two files.")
    if args.tag is not None and len(args.tag.split()) != 1:
        raise UsageError("--tag must be one word.")


def _to_traces(args: argparse.Namespace) -> dict[str, Any]:
    from msgspec.structs import asdict

    from goodgain.pipeline.convert.to_traces import (
        IterationSource,
        TraceCounts,
        TrecFile,
        compiled,
        trace_records,
    )
    from goodgain.pipeline.convert.trace_files import write_traces
    from goodgain.pipeline.document import progress

    counts = TraceCounts()
    iterations = IterationSource(
        args.iteration_from, compiled(args.iteration_pattern or _LAST_NUMBER)
    )
    paths = filter(None, (args.from_run, args.from_qrels))
    size = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    with progress.shown(size, quiet=args.quiet):
        trec_run = TrecFile(args.from_run)
        qrels = TrecFile(args.from_qrels, label_map_of(args)) if args.from_qrels else None
        write_traces(trace_records(trec_run, qrels, iterations, counts), args.to_traces)
    return asdict(counts)


def _to_trec(args: argparse.Namespace) -> dict[str, Any]:
    from msgspec.structs import asdict

    from goodgain.pipeline.convert.to_trec import write_trec
    from goodgain.pipeline.document import progress
    from goodgain.pipeline.run.plan.local_files import local_files
    from goodgain.pipeline.settings.yaml_model import load_rules
    from goodgain.transforms.core.dedup.rules import compile_rules

    files = local_files(args.from_traces)
    rules = compile_rules(load_rules(args.rules), args.unit or "document")
    with progress.shown(sum(file.size for file in files), quiet=args.quiet):
        counts = write_trec(
            files,
            rules,
            args.id or "doc_id",
            args.tag or "goodgain",
            args.to_run,
            args.to_qrels,
            label_map_of(args),
        )
    return asdict(counts)
