"""What becomes of rows that cannot be used, as `error_handling` of Beam YAML says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import apache_beam as beam

from goodgain.transforms.beam_schemas import (
    row_type,
    struct_row,
)
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.records.rejection import (
    RejectedRecord,
)

ErrorHandling = Mapping[str, str]
Rows: TypeAlias = "beam.PCollection[beam.Row]"
GOOD = "good"  # Beam YAML's name for the main output
BAD = "bad"
_OUTPUT = "output"


def with_errors(rows: Rows, rejected: Any, handling: ErrorHandling | None) -> Any:
    """The rows, and those that cannot be used in an output of their own, if one is named.

    Without one, the first row that cannot be used fails the pipeline.
    """
    if handling is None:
        _ = rejected | "NoErrors" >> beam.Map(_fail)
        return rows
    bad = rejected | "Errors" >> beam.Map(struct_row).with_output_types(row_type(RejectedRecord))
    return {GOOD: rows, handling[_OUTPUT]: bad}


def _fail(rejected: RejectedRecord) -> None:
    place = ": ".join(filter(None, (rejected.source, rejected.position)))
    raise GoodGainError(
        f"{place}: {rejected.reason} Give error_handling with an "
        "output to continue without such records."
    )
