"""Options shared by the commands that read traces without a run."""

from __future__ import annotations

import argparse


def add_rules_option(parser: argparse.ArgumentParser) -> None:
    """Declare `--rules`."""
    parser.add_argument(
        "--rules",
        metavar="FILE",
        help="rules that decide what is a duplicate, instead of those built in",
    )


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Declare `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
