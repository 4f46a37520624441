"""Loading the rules for duplicates."""

from __future__ import annotations

from goodgain.pipeline.options.yaml_model import config_text
from goodgain.transforms.core.dedup.rules_file import RulesFile, read_rules, shipped_rules


def load_rules(path: str | None) -> RulesFile:
    """Read a rules file, by default the shipped one.

    Raises:
      UsageError: the file cannot be read.
      RulesError: it contains mistakes.
    """
    if path is None:
        return shipped_rules()
    return read_rules(config_text(path, "the rules"), path)
