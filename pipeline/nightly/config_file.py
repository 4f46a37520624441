"""Reading the configuration of the nightly job: every mistake at once, each with its line."""

from __future__ import annotations

from typing import Any

from goodgain.pipeline.nightly.config import NightlyConfig
from goodgain.pipeline.options.yaml_model import config_text, read_model, reason, unknown


def load_nightly_config(path: str) -> NightlyConfig:
    """Read the configuration of the nightly job.

    Raises:
      UsageError: it cannot be read, or contains mistakes; the message lists every one.
    """
    text = config_text(path, "the options")
    return read_model(NightlyConfig, text, path, "The configuration", _mistake)


def _mistake(error: Any) -> str:
    field = str(error["loc"][0]) if error["loc"] else "the file"
    if error["type"] == "extra_forbidden":
        return unknown(field, NightlyConfig.model_fields)
    return f"{field} {reason(error)}"
