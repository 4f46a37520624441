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
    from goodgain.pipeline.document.console import result_console
    from goodgain.pipeline.results.datasets import COMPARISON
    from goodgain.pipeline.results.folder import REPORT, read_manifest, write_file
    from goodgain.pipeline.studies.nightly.days.history import HISTORY, read_history
    from goodgain.pipeline.views.pages.comparison import build_comparison_report
    from goodgain.pipeline.views.pages.nights import build_nights_report
    from goodgain.pipeline.views.pages.run import build_report

    if (Path(args.folder) / HISTORY).exists():
        content = build_nights_report(read_history(Path(args.folder)))
    else:
        manifest = read_manifest(args.folder)
        is_comparison = manifest.get("kind") == COMPARISON.name
        build = build_comparison_report if is_comparison else build_report
        content = build(args.folder, manifest)
    write_file(args.folder, REPORT, content)
    line = f"Report: {args.folder}/{REPORT} ({len(content) / 1e6:.1f} MB)"
    result_console(args.quiet).print(line, soft_wrap=True)
    return 0
