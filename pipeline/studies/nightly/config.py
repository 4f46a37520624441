"""The configuration of the nightly job: every option with its type and default."""

from __future__ import annotations

import re
import shlex
from datetime import date
from typing import Annotated, Any

from msgspec import Struct
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    WithJsonSchema,
    field_validator,
)

from goodgain.pipeline.settings.option_types import Patterns, Text
from goodgain.pipeline.studies.nightly.days.days import check_pattern
from goodgain.transforms.core.config_text import config_text, describe_mistake, describe_unknown
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.number import Number
from goodgain.transforms.core.yaml_text import parse_yaml
from goodgain.transforms.filesystems import is_local

_FILES = {"run": "the options", "gate": "the rules"}  # by key, what the file holds
_PREVIOUS_GOOD = "previous_good"
_MEAN_OF_LAST = re.compile(r"mean of last ([1-9][0-9]{0,2})")


class BaselineChoice(Struct, frozen=True):
    """The baseline that days are compared with.

    Attributes:
      days: number of good days before the compared day; the baseline is all of their conversations,
        each with the same weight.
      pinned: a fixed day that is the baseline instead.
    """

    days: int = 1
    pinned: date | None = None

    @classmethod
    def parse(cls, value: Any) -> BaselineChoice:
        """Read `previous_good`, `mean of last 7` or a day.

        Raises:
          ValueError: it is none of these.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, date):  # YAML parses dates
            return cls(pinned=date(value.year, value.month, value.day))
        text = str(value).strip()
        if text == _PREVIOUS_GOOD:
            return cls()
        if match := _MEAN_OF_LAST.fullmatch(text):
            return cls(days=int(match[1]))
        try:
            return cls(pinned=date.fromisoformat(text))
        except ValueError:
            raise ValueError(
                f"must be {_PREVIOUS_GOOD}, `mean of last N` or a day like 2025-03-01, not {text!r}"
            ) from None

    def __str__(self) -> str:
        if self.pinned is not None:
            return self.pinned.isoformat()
        return _PREVIOUS_GOOD if self.days == 1 else f"mean of last {self.days}"


def _words(command: Any) -> tuple[str, ...]:
    """The words of a command, as a shell would split them."""
    try:
        words = tuple(shlex.split(command)) if isinstance(command, str) else ()
    except ValueError as error:
        raise ValueError(f"is not a command: {error}") from None
    if not words:
        raise ValueError("must be a command, like `mail -s 'Good Gain' team@example.org`")
    return words


Choice = Annotated[
    BaselineChoice,
    BeforeValidator(BaselineChoice.parse),
    PlainSerializer(str),
    WithJsonSchema({"type": "string"}),
]
Command = Annotated[
    tuple[Text, ...],
    BeforeValidator(_words),
    PlainSerializer(shlex.join),
    WithJsonSchema({"type": "string", "minLength": 1}),
]


class NightlyConfig(BaseModel):
    """The options of the nightly job."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, validate_default=True
    )

    input: Patterns = Field(
        description="a day's trace files, with {date}, or {year}, {month} and {day}"
    )
    output: Text = Field(
        description="folder on a local disk for the history and a folder date=D/ for each day"
    )
    scratch: Text | None = Field(
        None,
        description="folder to which workers that cannot see `output` write; each day is copied "
        "from there",
    )
    run: Text | None = Field(
        None, description="file with options of `goodgain run`; without it their defaults"
    )
    runner: Text | None = Field(None, description="engine; that of `run` by default")
    engine_options: tuple[Text, ...] = Field(
        (), description="options of Beam, like --job_endpoint=HOST:8099"
    )
    baseline: Choice = Field(
        BaselineChoice(),
        description="what to compare a day with: previous_good, `mean of last 7`, or a day",
    )
    gate: Text | None = Field(
        None, description="file with rules of `goodgain gate`; without it only bad data fail a day"
    )
    late_days: Number = Field(
        7, ge=0, description="how many days back to look for files that arrived late"
    )
    notify: Command | None = Field(
        None,
        description="command that gets JSON on its standard input when a day does not pass, or "
        "passes after one that did not",
    )
    _places: dict[str, str] = PrivateAttr(default_factory=dict)  # by key, `FILE:LINE: `

    @field_validator("input")
    @classmethod
    def _input_names_the_day(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            check_pattern(pattern)
        return patterns

    @field_validator("output")
    @classmethod
    def _output_lies_on_a_disk(cls, output: str) -> str:
        if not is_local(output):
            raise ValueError(
                "must be a folder on a disk, where a rename is atomic and a lock holds, "
                f"not {output!r}; copy finished days to an object store, manifest.json last"
            )
        return output

    def check_files(self) -> None:
        """Check that the files with the run's options and the gate's rules can be read.

        Raises:
          UsageError: one cannot; the message says which key, in which line, names it.
        """
        for key in _FILES:
            path = getattr(self, key)
            try:
                if path is not None:
                    config_text(path, _FILES[key])
            except UsageError as error:
                raise UsageError(f"{self._places.get(key, '')}{key}: {error}") from None


def load_nightly_config(path: str) -> NightlyConfig:
    """Read the configuration of the nightly job.

    Raises:
      UsageError: it cannot be read, or contains mistakes; the message lists every one.
    """
    file = parse_yaml(config_text(path, "the options"), path)
    config = file.read(NightlyConfig, "The configuration", _mistake)
    config._places.update((key, f"{file.place(key)}: ") for key in _FILES)
    return config


def _mistake(error: Any) -> str:
    field = str(error["loc"][0]) if error["loc"] else "the file"
    if error["type"] == "extra_forbidden":
        return describe_unknown(field, NightlyConfig.model_fields)
    return f"{field} {describe_mistake(error)}"
