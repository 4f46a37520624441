"""`goodgain sample`: generate realistic traces (SPEC 2)."""

from __future__ import annotations

import argparse

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.settings.sample_config import SampleFileConfig
from goodgain.transforms.core.wording import format_count

NAME = "sample"
HELP = "generate realistic traces for trials, tests and benchmarks"
EXAMPLE = "goodgain sample --output traces.avro --conversations 100"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a sample, and the file to write."""
    add_config_options(parser, SampleFileConfig)
    add_output_options(parser, "counts, format and size")


def run(args: argparse.Namespace) -> int:
    """Write the sample, and print what it contains: counts, format and size."""
    # Imported here to keep --help fast.
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.results.suffixes import format_of
    from goodgain.pipeline.results.trace_files import TRACE_FORMATS
    from goodgain.pipeline.sample.writers import write_sample

    options = read_options(args, SampleFileConfig)
    format = format_of(options.output, TRACE_FORMATS)
    written = write_sample(options, options.output)
    if args.json:
        print_json(
            {
                "output": options.output,
                "format": format.name,
                "codec": format.codec,
                "bytes": written.size,
                "seed": options.seed,
                "conversations": options.conversations,
                "records": written.records,
                "results": written.results,
                "broken_lines": written.broken_lines,
            }
        )
        return 0
    broken = (
        f", {format_count(written.broken_lines, 'broken line')}" if written.broken_lines else ""
    )
    result_console(args.quiet).print(
        f"{options.output}: {format_count(options.conversations, 'conversation')}, "
        f"{format_count(written.records, 'record')}, "
        f"{format_count(written.results, 'result')}{broken}\n{format.name}, {format.codec}, "
        f"{written.size:,} bytes; seed {options.seed}",
        soft_wrap=True,
    )
    return 0
