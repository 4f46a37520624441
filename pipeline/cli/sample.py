"""`goodgain sample`: generate realistic traces (SPEC 2)."""

from __future__ import annotations

import argparse
from dataclasses import fields
from datetime import datetime

from goodgain.pipeline.cli.shared_options import add_json_option, add_quiet_option
from goodgain.pipeline.sample.options import SampleOptions
from goodgain.pipeline.sample.writers import CODECS, resolve_format, write_sample
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.wording import counted

NAME = "sample"
HELP = "generate realistic traces for trials, tests and benchmarks"
EXAMPLE = "goodgain sample --output traces.avro --conversations 100"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `goodgain sample`; defaults are those of `SampleOptions`."""
    default = SampleOptions()
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="file to write; .avro, .jsonl (also .jsonl.gz, .bz2, .zst) or .parquet",
    )
    parser.add_argument(
        "--format", choices=sorted(CODECS), help="file format; by default from the suffix of FILE"
    )
    parser.add_argument(
        "--codec",
        help="compression; by default deflate for Avro, snappy for Parquet, by suffix for JSONL",
    )
    numbers = (
        ("seed", "random seed; the same seed gives the same traces"),
        ("conversations", "number of conversations"),
        ("iterations", "mean number of iterations of a conversation"),
        ("results", "number of results of a search call"),
    )
    for name, meaning in numbers:
        value = getattr(default, name)
        parser.add_argument(
            f"--{name}", type=int, default=value, metavar="N", help=f"{meaning} (default: {value})"
        )
    parser.add_argument(
        "--fixed-iterations",
        action="store_true",
        help="give every conversation exactly --iterations iterations",
    )
    shares = (
        ("turns", "conversations with several turns"),
        ("duplicate", "results that repeat an earlier one of their turn"),
        ("unlabelled", "documents without a label"),
        ("bad", "records that cannot be used"),
    )
    for name, meaning in shares:
        value = getattr(default, f"{name}_share")
        parser.add_argument(
            f"--{name}-share",
            type=float,
            default=value,
            metavar="SHARE",
            help=f"share of {meaning}, 0 to 1 (default: {value})",
        )
    start = default.start.isoformat()
    parser.add_argument(
        "--start",
        default=start,
        metavar="TIME",
        help=f"when the first conversation begins, ISO 8601 (default: {start})",
    )
    parser.add_argument(
        "--conversations-per-hour",
        type=float,
        default=default.conversations_per_hour,
        metavar="N",
        help=f"mean number of conversations per hour (default: {default.conversations_per_hour:g})",
    )
    add_json_option(parser, "counts, format and size")
    add_quiet_option(parser)


def run(args: argparse.Namespace) -> int:
    """Write the sample, and print what it contains: counts, format and size."""
    from goodgain.pipeline.terminal.console import print_json, result_console  # imports rich

    options = _options(args)
    format, codec = resolve_format(args.output, args.format, args.codec)
    written = write_sample(options, args.output, format, codec)
    if args.json:
        print_json(
            {
                "output": args.output,
                "format": format,
                "codec": codec,
                "bytes": written.size,
                "seed": options.seed,
                "conversations": options.conversations,
                "records": written.records,
                "results": written.results,
                "broken_lines": written.broken_lines,
            }
        )
        return 0
    broken = f", {counted(written.broken_lines, 'broken line')}" if written.broken_lines else ""
    result_console(args.quiet).print(
        f"{args.output}: {counted(options.conversations, 'conversation')}, "
        f"{counted(written.records, 'record')}, {counted(written.results, 'result')}{broken}\n"
        f"{format}, {codec}, {written.size:,} bytes; seed {options.seed}",
        soft_wrap=True,
    )
    return 0


def _options(args: argparse.Namespace) -> SampleOptions:
    try:
        start = datetime.fromisoformat(args.start)
    except ValueError as error:
        raise UsageError(
            f"--start {args.start} is not a time; write it like 2025-03-03T06:00:00+00:00."
        ) from error
    values = {field.name: getattr(args, field.name) for field in fields(SampleOptions)}
    return SampleOptions(**{**values, "start": start})
