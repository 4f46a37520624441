"""`goodgain report`: build `report.html` again from a folder of outputs (SPEC 6)."""

from __future__ import annotations

import argparse
from pathlib import Path

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_quiet_option
from goodgain.pipeline.settings.option_fields import argument
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings

NAME = "report"
HELP = "rebuild report.html of a run, a comparison or the nightly job"
EXAMPLE = "goodgain report out"


class ReportConfig(Settings):
    """Where the outputs are."""

    folder: Text = argument("DIR", "output folder of a run, of a comparison or of the nightly job")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where the outputs are."""
    add_config_options(parser, ReportConfig)
    add_quiet_option(parser)


def run(args: argparse.Namespace) -> int:
    """Build the report and put it into the folder."""
    # Imported here to keep --help fast.
    from goodgain.pipeline.document.console import result_console
    from goodgain.pipeline.results.datasets import COMPARISON
    from goodgain.pipeline.results.finished_run import read_manifest
    from goodgain.pipeline.results.folder import REPORT, write_file
    from goodgain.pipeline.results.manifest_checks import decode_manifest, run_manifest_of
    from goodgain.pipeline.studies.comparison.manifest import ComparisonManifest
    from goodgain.pipeline.studies.nightly.days.history import HISTORY, read_history
    from goodgain.pipeline.views.pages.comparison import build_comparison_report
    from goodgain.pipeline.views.pages.nights import build_nights_report
    from goodgain.pipeline.views.pages.run import build_report

    folder = read_options(args, ReportConfig).folder
    if (Path(folder) / HISTORY).exists():
        content = build_nights_report(read_history(Path(folder)))
    else:
        manifest = read_manifest(folder)
        is_comparison = manifest.get("kind") == COMPARISON.name
        content = (
            build_comparison_report(folder, decode_manifest(manifest, ComparisonManifest, folder))
            if is_comparison
            else build_report(folder, run_manifest_of(manifest, folder)).page
        )
    write_file(folder, REPORT, content)
    line = f"Report: {folder}/{REPORT} ({len(content) / 1e6:.1f} MB)"
    result_console(args.quiet).print(line, soft_wrap=True)
    return 0
