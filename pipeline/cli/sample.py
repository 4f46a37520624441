"""`goodgain sample`: generate realistic traces (SPEC 2)."""

from __future__ import annotations

import argparse
from dataclasses import fields
from datetime import datetime

from goodgain.pipeline.cli.shared_options import add_option, add_output_options
from goodgain.pipeline.sample.options import SampleOptions
from goodgain.pipeline.sample.writers import format_of, write_sample
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.wording import counted

NAME = "sample"
HELP = "generate realistic traces for trials, tests and benchmarks"
EXAMPLE = "goodgain sample --output traces.avro --conversations 100"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `goodgain sample`; defaults are those of `SampleOptions`."""
    default = SampleOptions()
    add_option(
        parser,
        "--output FILE",
        "file to write; .avro, .jsonl (also .jsonl.gz, .bz2, .zst) or .parquet",
        required=True,
    )
    numbers = (
        ("seed", "random seed; the same seed gives the same traces"),
        ("conversations", "number of conversations"),
        ("iterations", "mean number of iterations of a conversation"),
        ("results", "number of results of a search call"),
    )
    for name, meaning in numbers:
        value = getattr(default, name)
        add_option(parser, f"--{name} N", meaning, default=value)
    add_option(
        parser, "--fixed-iterations", "give every conversation exactly --iterations iterations"
    )
    shares = (
        ("turns", "conversations with several turns"),
        ("duplicate", "results that repeat an earlier one of their turn"),
        ("unlabelled", "documents without a label"),
        ("bad", "records that cannot be used"),
    )
    for name, meaning in shares:
        value = getattr(default, f"{name}_share")
        add_option(parser, f"--{name}-share SHARE", f"share of {meaning}, 0 to 1", default=value)
    start = default.start.isoformat()
    add_option(
        parser, "--start TIME", "when the first conversation begins, ISO 8601", default=start
    )
    add_option(
        parser,
        "--conversations-per-hour N",
        "mean number of conversations per hour",
        default=default.conversations_per_hour,
    )
    add_output_options(parser, "counts, format and size")


def run(args: argparse.Namespace) -> int:
    """Write the sample, and print what it contains: counts, format and size."""
    from goodgain.pipeline.document.console import print_json, result_console  # imports rich

    options = _options(args)
    format, codec = format_of(args.output)
    written = write_sample(options, args.output)
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
