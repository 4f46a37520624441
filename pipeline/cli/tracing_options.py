"""Options shared by the commands that read traces without a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from transforms.core.errors import RulesError, UsageError
from transforms.core.rules import RuleTable, compile_rules
from transforms.core.rules_file import SHIPPED_RULES, read_rules, shipped_rules_text


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


def load_rules(path: str | None) -> RuleTable:
    """The rules of a file, or those built in.

    Raises:
      UsageError: the file cannot be read.
      RulesError: it holds no usable rules; with every mistake and its line.
    """
    if path is None:
        return compile_rules(read_rules(shipped_rules_text(), SHIPPED_RULES))
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The rules in {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise RulesError(f"{path} is not text in UTF-8; write the rules in YAML.") from None
    return compile_rules(read_rules(text, path))
