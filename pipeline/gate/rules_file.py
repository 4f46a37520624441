"""Reading a gate file: every mistake in it at once, each with its line."""

from __future__ import annotations

from typing import Any

from goodgain.pipeline.gate.rules import GateFile, Rule
from goodgain.pipeline.options.yaml_model import config_text, read_model, reason, unknown


def load_gate(path: str) -> GateFile:
    """Read a gate file.

    Raises:
      UsageError: it cannot be read, or contains mistakes; the message lists every one.
    """
    return read_model(GateFile, config_text(path, "the rules"), path, "The gate", _mistake)


def _mistake(error: Any) -> str:
    place = error["loc"]
    rule = f"rule {int(place[1]) + 1}: " if len(place) > 1 and place[0] == "rules" else ""
    field = str(place[-1]) if place and isinstance(place[-1], str) else ""
    if error["type"] == "extra_forbidden":
        return rule + unknown(field, Rule.model_fields if rule else GateFile.model_fields)
    return f"{rule}{field + ' ' if field else ''}{reason(error)}"
