"""The options of `goodgain init`, and the kinds of configurations that it writes."""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct
from pydantic import field_validator

from goodgain.pipeline.settings.option_fields import argument, option
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.option import COMMON
from goodgain.transforms.core.yaml_text import parse_yaml


class ConfigurationKind(Struct, frozen=True):
    """What is written for one kind of configuration.

    Attributes:
      traces: where to write example traces; None for none.
      beside: shipped files that are written unchanged.
    """

    shipped: str
    name: str
    commands: tuple[str, ...]
    traces: str | None = None
    beside: tuple[str, ...] = ()


@cache
def kinds() -> dict[str, ConfigurationKind]:
    """The kinds of configurations, by name."""
    text = resources.files("goodgain.configs").joinpath("data/init.yaml").read_text("utf-8")
    return msgspec.convert(parse_yaml(text, "init.yaml").content, dict[str, ConfigurationKind])


class InitConfig(Settings):
    """Which configuration is written, and where the files go."""

    kind: Text = argument("KIND", f"which configuration: {', '.join(kinds())}", "run")
    output: Text = option(COMMON, "DIR", "folder for the files (default: the current one)", ".")

    @field_validator("kind")
    @classmethod
    def _kind_exists(cls, kind: str) -> str:
        if kind not in kinds():
            raise ValueError(f"must be one of {', '.join(kinds())}, not {kind!r}")
        return kind
