"""The options that several commands have, each declared once as the type of a field.

`rules: Rules` in the settings of a command gives it the option with its default and help.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from goodgain.pipeline.settings.option_fields import CHECKS, ENGINE, option
from goodgain.pipeline.settings.option_types import Patterns, Text
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.number import Number
from goodgain.transforms.core.option import COMMON, LIMITS, SCORING
from goodgain.transforms.core.records.max_rejected import MaxRejected


@contextmanager
def as_value_errors() -> Iterator[None]:
    """Turn a parser's error into an error about an option's value."""
    try:
        yield
    except UsageError as error:
        raise ValueError("cannot be used: " + error.message.removesuffix(".")) from None


Traces = Annotated[
    Patterns,
    option(
        COMMON,
        "PATTERN",
        "traces to read: files, folders or patterns (* and ** are wildcards), in Avro, JSON Lines, "
        "CSV or Parquet",
        keyword="traces",
        for_workers=True,
    ),
]
OTHER_PARAMETERS = "what metrics depend on differs, like thresholds, rules, judgments or the pool"
Rules = Annotated[
    Text | None,
    option(
        SCORING, "FILE", "rules that decide what is a duplicate, instead of the built-in ones", None
    ),
]
HeldBytes = Annotated[
    Number | None,
    option(
        LIMITS,
        "N",
        "stop when one process would hold more than about this many bytes; by default "
        "536870912, and 16 for each byte of input beyond 64 MiB",
        None,
        ge=1,
    ),
]
RejectedLimit = Annotated[
    MaxRejected,
    BeforeValidator(MaxRejected.parse),
    PlainSerializer(str),
    WithJsonSchema({"type": ["integer", "string"]}),
    option(
        CHECKS,
        "LIMIT",
        "exit with 3 when more records than this are rejected: a count like 5 or a share like 2%; "
        "if it is given, also when an unknown number is lost",
        "1%",
    ),
]
Runner = Annotated[
    Text,
    option(
        ENGINE,
        "RUNNER",
        "engine that runs the pipeline; its own options follow",
        "DirectRunner",
        keyword="",
    ),
]
