"""Loading the rules for duplicates that a command works with."""

from __future__ import annotations

from pathlib import Path

from transforms.core.errors import UsageError
from transforms.core.rules_file import SHIPPED_RULES, RulesFile, read_rules, shipped_rules_text


def load_rules(path: str | None) -> RulesFile:
    """Read a rules file, by default the shipped one.

    Raises:
      UsageError: the file cannot be read.
      RulesError: it holds mistakes.
    """
    if path is None:
        return read_rules(shipped_rules_text(), SHIPPED_RULES)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"Rules file {path} cannot be read: {error}.") from None
    return read_rules(text, path)
