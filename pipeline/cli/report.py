"""`goodgain report`: build `report.html` again from a folder of outputs (SPEC 6)."""

from __future__ import annotations

import argparse
from pathlib import Path

from goodgain.pipeline.cli.shared_options import add_quiet_option

NAME = "report"
HELP = "rebuild report.html of a run, a comparison or the nightly job"
EXAMPLE = "goodgain report out"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where the outputs are."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        help="output folder of a run, of a comparison or of the nightly job",
    )
    add_quiet_option(parser)


def run(args: argparse.Namespace) -> int:
    """Build the report and put it into the folder."""
    # Imported here to keep --help fast.
    from goodgain.pipeline.outputs.folder import REPORT, write_file
    from goodgain.pipeline.terminal.console import result_console

    content = _built(args.folder)
    write_file(args.folder, REPORT, content)
    line = f"Report: {args.folder}/{REPORT} ({len(content) / 1e6:.1f} MB)"
    result_console(args.quiet).print(line, soft_wrap=True)
    return 0


def _built(folder: str) -> bytes:
    from goodgain.pipeline.comparison.report.build import build_comparison_report
    from goodgain.pipeline.nightly.days.history import HISTORY, read_history
    from goodgain.pipeline.nightly.report.build import build_nights_report
    from goodgain.pipeline.outputs.datasets import COMPARISON
    from goodgain.pipeline.outputs.folder import read_manifest
    from goodgain.pipeline.report import build_report

    if (Path(folder) / HISTORY).exists():
        return build_nights_report(read_history(Path(folder)))
    manifest = read_manifest(folder)
    build = build_comparison_report if manifest.get("kind") == COMPARISON.name else build_report
    return build(folder, manifest)
