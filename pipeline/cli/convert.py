"""`goodgain convert`: imports other tools' traces and TREC files; exports traces to TREC."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.convert_config import ConvertConfig
from goodgain.pipeline.settings.option_fields import FROM_TREC, TO_TREC, flag_of, metadata
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.option import SCORING

NAME = "convert"
HELP = "import traces of other tools and TREC files; export traces to TREC"
EXAMPLE = "goodgain convert --from otlp 'spans/*.jsonl' --output traces.parquet"


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
    add_config_options(parser, ConvertConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Convert in the direction that the options name, and print counts."""
    config = read_options(args, ConvertConfig)
    if config.source is not None or config.inputs or config.mapping or config.show_mapping:
        return _import(args, config)
    if config.output is not None:
        raise UsageError("--output needs --from FORMAT; to TREC files, see --to-run.")
    # Imported here to keep --help fast.
    from goodgain.pipeline.document.console import print_json, result_console

    counts = _convert_trec(config, args.quiet)
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


def _import(args: argparse.Namespace, config: ConvertConfig) -> int:
    # Imported here to keep --help fast.
    from goodgain.pipeline.convert.importing.formats.catalog import FORMATS
    from goodgain.pipeline.convert.importing.import_files import import_files
    from goodgain.pipeline.convert.importing.mapping_file import read_shipped_mapping
    from goodgain.pipeline.document.console import message_console, print_json, result_console
    from goodgain.pipeline.document.terminal import show
    from goodgain.pipeline.views.import_summary import (
        import_document,
        skipped_document,
        unconverted_document,
    )

    _refuse_both(["--from"], _used_options(config, (*_TO_TRACES, *_TO_TREC)))
    if config.source is None or config.source not in FORMATS:
        problem = "is missing" if config.source is None else f"is {config.source!r}"
        raise UsageError(f"--from {problem}; it must be one of {', '.join(FORMATS)}.")
    console = result_console()
    if config.show_mapping:
        console.print(read_shipped_mapping(config.source), end="", soft_wrap=True)
        return 0
    if not config.inputs or config.output is None:
        raise UsageError("Give the files to import and --output FILE.")
    counts = import_files(
        config.inputs,
        config.source,
        config.mapping,
        config.output,
        quiet=args.quiet,
        keep_apart=config.conversation_of == "span",
        renames=config.renames,
        label_map=config.label_scale,
    )
    if args.json:
        print_json(counts)
    elif not args.quiet:
        show(import_document(config.output, counts), console)
    messages = message_console()
    if args.quiet:
        show(skipped_document(counts), messages)
    if not counts.unconverted or config.allow_unconverted:
        return ExitCode.DONE
    show(unconverted_document(config.source, counts), messages)
    return ExitCode.DATA_QUALITY


_TO_TRACES, _TO_TREC = (FROM_TREC,), (TO_TREC, SCORING)


def _used_options(config: ConvertConfig, groups: Sequence[str]) -> list[str]:
    """The options of some groups that were given."""
    return [
        flag_of(name, field)
        for name, field in ConvertConfig.model_fields.items()
        if name in config.model_fields_set and metadata(field)["group"] in groups
    ]


def _refuse_both(options: Sequence[str], others: Sequence[str]) -> None:
    if options and others:
        raise UsageError(
            f"{options[0]} and {others[0]} belong to different directions; see "
            "`goodgain convert --help`."
        )


def _convert_trec(config: ConvertConfig, quiet: bool) -> dict[str, Any]:
    """Convert from or to TREC, whichever the options name."""
    _refuse_both(_used_options(config, _TO_TRACES), _used_options(config, _TO_TREC))
    if config.from_traces and not (config.to_run or config.to_qrels):
        raise UsageError("--from-traces needs --to-run, --to-qrels or both.")
    if not config.from_traces and (config.from_run is None or config.to_traces is None):
        raise UsageError(
            "Give --from and --output, --from-run and --to-traces, or --from-traces and --to-run; "
            "see `goodgain convert --help`."
        )
    if "iteration_pattern" in config.model_fields_set and config.iteration_from is None:
        raise UsageError("--iteration-pattern needs --iteration-from tag or q0.")
    if config.to_run is not None and config.to_run == config.to_qrels:
        raise UsageError("--to-run and --to-qrels must be two files.")
    if len(config.tag.split()) != 1:
        raise UsageError("--tag must be one word.")
    if config.from_run is None or config.to_traces is None:
        return _to_trec(config, quiet)
    return _to_traces(config, config.from_run, config.to_traces, quiet)


def _to_traces(config: ConvertConfig, from_run: str, to_traces: str, quiet: bool) -> dict[str, Any]:
    from msgspec.structs import asdict

    from goodgain.pipeline.convert.outputs import check_outputs
    from goodgain.pipeline.convert.to_traces import (
        IterationSource,
        TraceCounts,
        compile_pattern,
        trace_records,
    )
    from goodgain.pipeline.convert.trec_file import TrecFile
    from goodgain.pipeline.inputs import progress
    from goodgain.pipeline.results.trace_files import write_traces

    counts = TraceCounts()
    iterations = IterationSource(config.iteration_from, compile_pattern(config.iteration_pattern))
    paths = [path for path in (from_run, config.from_qrels) if path is not None]
    check_outputs([to_traces], paths)
    size = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    with progress.show_progress(size, quiet=quiet):
        trec_run = TrecFile(from_run)
        qrels = TrecFile(config.from_qrels, config.label_scale) if config.from_qrels else None
        write_traces(trace_records(trec_run, qrels, iterations, counts), to_traces)
    return asdict(counts)


def _to_trec(config: ConvertConfig, quiet: bool) -> dict[str, Any]:
    from msgspec.structs import asdict

    from goodgain.pipeline.convert.outputs import check_outputs
    from goodgain.pipeline.convert.to_trec import write_trec
    from goodgain.pipeline.inputs import progress
    from goodgain.pipeline.inputs.local_files import find_local_files
    from goodgain.transforms.core.config_text import load_rules
    from goodgain.transforms.core.dedup.rule_compiler import compile_rules

    files = find_local_files(config.from_traces)
    check_outputs([config.to_run, config.to_qrels], (file.path for file in files))
    rules = compile_rules(load_rules(config.rules), config.unit)
    with progress.show_progress(sum(file.size for file in files), quiet=quiet):
        counts = write_trec(
            files,
            rules,
            config.id,
            config.tag,
            config.to_run,
            config.to_qrels,
            config.label_map,
        )
    return asdict(counts)
