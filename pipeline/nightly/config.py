"""The configuration of the nightly job: every option with its type and default."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from goodgain.pipeline.nightly.baseline_choice import BaselineChoice
from goodgain.pipeline.nightly.dates import check_pattern
from goodgain.pipeline.nightly.pool_choice import PoolChoice
from goodgain.pipeline.options.option_types import Patterns, Text
from goodgain.transforms.filesystems import is_local

_GREATEST_ATTEMPTS = 10
_WEB = ("http://", "https://")
_FROM_ENVIRONMENT = "$"
_OF_A_RUN = ("run", "runner", "engine_options", "scratch", "pool")

Choice = Annotated[
    BaselineChoice,
    BeforeValidator(BaselineChoice.parse),
    PlainSerializer(str),
    WithJsonSchema({"type": "string"}),
]
Pool = Annotated[
    PoolChoice,
    BeforeValidator(PoolChoice.parse),
    PlainSerializer(msgspec.structs.asdict),
    WithJsonSchema({"type": "object"}),
]
Words = Annotated[tuple[Text, ...], Field(min_length=1)]


class NightlyConfig(BaseModel):
    """The options of the nightly job.

    Attributes:
      input: patterns of a day's trace files, with `{date}`, or `{year}`, `{month}` and `{day}`.
      output: folder on a local disk for the history and a folder `date=D/` per day.
      scratch: folder on any of Beam's filesystems for engines whose workers cannot write to
        `output`; each day is copied from there.
      run: file with options of `goodgain run`; None = defaults.
      runner: the engine; by default that of `run`.
      pool: pool to score every night with; updated each night, or pinned to a state.
      engine_options: options for Beam, like `--flink_master=...`.
      scored: folder of a day's finished outputs, with placeholders as in `input`, if days are
        scored elsewhere, for example by a Dataflow template; the job then does not score.
      baseline: what a day is compared with.
      gate: file with the rules of `goodgain gate`; without it only bad data fail a day.
      late_days: how many days back the job looks for files that arrived late.
      webhook: URL to which a JSON document is sent for each day that did not pass; `$NAME` is read
        from the environment.
      command: words of a command that gets the same document on stdin.
      attempts: number of attempts for webhook and command.
      backoff_seconds: pause before the second attempt; doubled before each further one.
      timeout_seconds: time limit of one attempt.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, validate_default=True
    )

    input: Patterns
    output: Text
    scratch: Text | None = None
    run: Text | None = None
    runner: Text | None = None
    engine_options: tuple[Text, ...] = ()
    pool: Pool | None = None
    scored: Text | None = None
    baseline: Choice = BaselineChoice()
    gate: Text | None = None
    late_days: int = Field(7, ge=0)
    webhook: Text | None = None
    command: Words | None = None
    attempts: int = Field(4, ge=1, le=_GREATEST_ATTEMPTS)
    backoff_seconds: float = Field(2.0, ge=0)
    timeout_seconds: float = Field(10.0, gt=0)

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
            if given := [name for name in _OF_A_RUN if info.data.get(name)]:
                raise ValueError(
                    f"uses outputs that were made elsewhere, so it excludes {given[0]}, which "
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
