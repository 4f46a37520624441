"""The configuration of the nightly job: every option with its type and default."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import asdict
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from goodgain.pipeline.settings.option_types import Patterns, Text
from goodgain.pipeline.settings.yaml_model import config_text, read_model, reason, unknown
from goodgain.pipeline.studies.nightly.days.days import check_pattern
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.yaml_text import line_of, parse_yaml
from goodgain.transforms.filesystems import is_local

_GREATEST_ATTEMPTS = 10
_WEB = ("http://", "https://")
_FROM_ENVIRONMENT = "$"
_OF_A_RUN = ("run", "runner", "engine_options", "scratch", "pool")
_FILES = {"run": "the options", "gate": "the rules"}  # by key, what the file holds
_PREVIOUS_GOOD = "previous_good"
_MEAN_OF_LAST = re.compile(r"mean of last ([1-9][0-9]{0,2})")
_POOL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "description": "folder of the pool"},
        "update": {"type": "boolean", "description": "add the traces of each night first"},
        "digest": {
            "type": "string",
            "description": "digest of the pinned state, or its first digits, at least 8",
        },
        "topic": {
            "type": "string",
            "description": "attribute that holds the topic, if the first night creates the pool",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}
_POOL_DIGEST = re.compile(r"[0-9a-f]{8,32}")
_POOL_EXAMPLES = "{path: pool, update: true} or {path: pool, digest: 1f0c94ab}"


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


class PoolChoice(Struct, frozen=True):
    """The pool that every night is scored with.

    Attributes:
      digest: prefix of the digest of a pinned state; None if each night first adds its traces.
      topic: attribute that holds the topic, in case the first night creates the pool.
    """

    path: str
    digest: str | None = None
    topic: str | None = None

    @classmethod
    def parse(cls, value: Any) -> PoolChoice:
        """Read `{path: pool, update: true, topic: query_id}` or `{path: pool, digest: 1f0c94ab}`.

        Raises:
          ValueError: it is neither.
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping) or not value.get("path"):
            raise ValueError(f"must be like {_POOL_EXAMPLES}, not {value!r}")
        if unknown := sorted(set(map(str, value)) - set(_POOL_SCHEMA["properties"])):
            raise ValueError(f"has no option {unknown[0]!r}; write it like {_POOL_EXAMPLES}")
        update, digest = value.get("update", False), value.get("digest")
        if not isinstance(update, bool) or update == (digest is not None):
            raise ValueError(
                "needs either update: true (updated every night) or digest: (pinned to the state "
                "with this digest, from its manifest.json)"
            )
        if digest is not None and not _POOL_DIGEST.fullmatch(str(digest)):
            raise ValueError(
                f"digest must be 8 to 32 hexadecimal digits in quotes, not {digest!r}; "
                "`goodgain pool show POOL --json` has it"
            )
        topic = value.get("topic")
        if topic is not None and not update:
            raise ValueError("topic needs update: true; a pinned pool has its own topic")
        return cls(str(value["path"]), None if digest is None else str(digest), topic)


Choice = Annotated[
    BaselineChoice,
    BeforeValidator(BaselineChoice.parse),
    PlainSerializer(str),
    WithJsonSchema({"type": "string"}),
]
Pool = Annotated[
    PoolChoice,
    BeforeValidator(PoolChoice.parse),
    PlainSerializer(asdict),
    WithJsonSchema(_POOL_SCHEMA),
]
Words = Annotated[tuple[Text, ...], Field(min_length=1)]


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
        (), description="options of Beam, like --flink_master=HOST:8081"
    )
    pool: Pool | None = Field(
        None, description="pool to score every night with: updated each night, or pinned"
    )
    scored: Text | None = Field(
        None,
        description="folder of a day's finished outputs, with placeholders as in `input`, if days "
        "are scored elsewhere",
    )
    baseline: Choice = Field(
        BaselineChoice(),
        description="what to compare a day with: previous_good, `mean of last 7`, or a day",
    )
    gate: Text | None = Field(
        None, description="file with rules of `goodgain gate`; without it only bad data fail a day"
    )
    late_days: int = Field(
        7, ge=0, description="how many days back to look for files that arrived late"
    )
    webhook: Text | None = Field(
        None,
        description="URL to send JSON to for each day that did not pass, or $NAME of an "
        "environment variable that holds it",
    )
    command: Words | None = Field(
        None, description="command, word by word, that gets the same JSON on its standard input"
    )
    attempts: int = Field(
        4, ge=1, le=_GREATEST_ATTEMPTS, description="attempts to reach webhook and command"
    )
    backoff_seconds: float = Field(
        2.0, ge=0, description="wait before the second attempt; doubled before each further one"
    )
    timeout_seconds: float = Field(10.0, gt=0, description="time limit of one attempt")
    _places: dict[str, str] = PrivateAttr(default_factory=dict)  # by key, `FILE:LINE: `

    @field_validator("input")
    @classmethod
    def _input_names_the_day(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            check_pattern(pattern)
        return patterns

    @field_validator("scored")
    @classmethod
    def _days_are_scored_here_or_elsewhere(cls, scored: Any, info: ValidationInfo) -> Any:
        if scored is not None:
            check_pattern(scored)
            if names := [name for name in _OF_A_RUN if info.data.get(name)]:
                raise ValueError(
                    f"uses outputs that were made elsewhere, so it excludes {names[0]}, which "
                    "sets how this job runs a day"
                )
        return scored

    @field_validator("output")
    @classmethod
    def _output_lies_on_a_disk(cls, output: str) -> str:
        if not is_local(output):
            raise ValueError(
                "must be a folder on a disk, where a rename is atomic and a lock holds, "
                f"not {output!r}; copy finished days to an object store, manifest.json last"
            )
        return output

    @field_validator("webhook")
    @classmethod
    def _webhook_is_on_the_web(cls, webhook: Any) -> Any:
        if webhook is not None and not webhook.startswith((*_WEB, _FROM_ENVIRONMENT)):
            raise ValueError("must be an http or https URL, or $NAME of an environment variable")
        return webhook

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
    text = config_text(path, "the options")
    config = read_model(NightlyConfig, text, path, "The configuration", _mistake)
    tree, _ = parse_yaml(text, path)
    config._places.update((key, f"{path}:{line_of(tree, (key,))}: ") for key in _FILES)
    return config


def _mistake(error: Any) -> str:
    field = str(error["loc"][0]) if error["loc"] else "the file"
    if error["type"] == "extra_forbidden":
        return unknown(field, NightlyConfig.model_fields)
    return f"{field} {reason(error)}"
