"""Values in the rules of a gate file: bounds, confidences and slices."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from msgspec import Struct
from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema

_AMOUNT = re.compile(r"(?P<number>-?[0-9]+(?:\.[0-9]+)?)\s*(?P<percent>%)?")


class Amount(Struct, frozen=True):
    """The amount of a bound: a number in the unit of the metric, or a percentage.

    Attributes:
      value: a share if it was written in percent, so 2 % is 0.02.
    """

    value: float
    percent: bool

    @classmethod
    def parse(cls, written: Any) -> Amount:
        """Read `0.2`, `2 %` or `"2%"`.

        Raises:
          ValueError: it is neither.
        """
        if isinstance(written, Amount):
            return written
        match = None if isinstance(written, bool) else _AMOUNT.fullmatch(str(written).strip())
        if match is None:
            points = "; in points 2 pp is written 0.02" if "pp" in str(written) else ""
            raise ValueError(
                f"must be a number like 0.2 or a percentage like 2 %, not {written!r}{points}"
            )
        value = float(match["number"])
        percent = match["percent"] is not None
        return cls(value / 100 if percent else value, percent)

    def __str__(self) -> str:
        return f"{self.value * 100:g} %" if self.percent else f"{self.value:g}"


def _confidence(written: Any) -> Any:
    amount = Amount.parse(written)
    if not 0.5 <= amount.value < 1:
        raise ValueError(f"must be from 50 % to below 100 %, not {written!r}")
    return amount.value


def _slice(written: Any) -> Any:
    """Names, in one string with commas or as a list; or a mapping of names to values."""
    if isinstance(written, str):
        written = [name.strip() for name in written.split(",")]
    if isinstance(written, list):
        return dict.fromkeys(written)
    return written


# The types of these values in a file, for editors.
_AMOUNT_SCHEMA = WithJsonSchema({"type": ["number", "string"]})
_SLICE_SCHEMA = WithJsonSchema({"type": ["string", "array", "object"], "items": {"type": "string"}})
Bound = Annotated[Amount, BeforeValidator(Amount.parse), PlainSerializer(str), _AMOUNT_SCHEMA]
Confidence = Annotated[float, BeforeValidator(_confidence), _AMOUNT_SCHEMA]
Slice = Annotated[dict[str, str | None], BeforeValidator(_slice), _SLICE_SCHEMA]


Share = Literal[
    "rejected", "late", "redelivered", "unlabelled", "undefined", "without_search",
    "with_rejected_records",
]  # fmt: skip


Count = Literal["conversations", "records", "results"]


Proof = Literal["none", "of_compliance", "of_breach"]


Side = Literal["at least", "at most"]


class StrictModel(BaseModel):
    """A part of a gate file, in which unknown names are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
