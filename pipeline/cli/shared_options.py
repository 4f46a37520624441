"""Options shared by commands that have no configuration file."""

from __future__ import annotations

import argparse


def add_rules_option(parser: argparse.ArgumentParser) -> None:
    """Declare `--rules`."""
    parser.add_argument(
        "--rules",
        metavar="FILE",
        help="rules that decide what is a duplicate, instead of the built-in ones",
    )


def add_threshold_option(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Declare `--good-gain-threshold`, whose values are the labels above 0."""
    parser.add_argument(
        "--good-gain-threshold",
        type=int,
        choices=range(1, 5),
        default=2,
        metavar="GAIN",
        help=meaning,
    )


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Declare `--map` and `--iteration-base`, as `goodgain run` has them."""
    parser.add_argument(
        "--map",
        dest="mapping",
        nargs="+",
        action="extend",
        default=[],
        metavar="FIELD=NAME",
        help="read fields that have other names, like gain=relevance,ids.doc_id=document_id",
    )
    parser.add_argument(
        "--iteration-base",
        type=int,
        choices=(0, 1),
        default=1,
        help="number of the first iteration of a turn in the traces (default: 1)",
    )


def renames(args: argparse.Namespace) -> list[str]:
    """The entries of `--map`, one for each field."""
    return [rename for option in args.mapping for rename in option.split(",") if rename.strip()]


def add_json_option(parser: argparse._ActionsContainer, what: str = "") -> None:
    """Declare `--json`; `what` names the content, if it is not what people see."""
    text = f"print {what} as JSON" if what else "print JSON"
    parser.add_argument("--json", action="store_true", help=f"{text}, for programs")


def add_quiet_option(parser: argparse._ActionsContainer) -> None:
    """Declare `--quiet`, for commands that print progress or a summary."""
    parser.add_argument(
        "--quiet", action="store_true", help="print nothing unless something is wrong"
    )
