"""Why two results are one document, or two."""

from __future__ import annotations

from msgspec import Struct

from goodgain.transforms.core.scoring.duplicate_rows import ResultPlace


class ComparedAttribute(Struct, frozen=True):
    """An attribute of two results.

    Attributes:
      first, second: its values, as in the trace; None if a result has none.
      agrees: whether they are equal after normalisation, for ids whether they have one in common;
        None if only one of the results has it, which decides nothing.
    """

    name: str
    first: str | None
    second: str | None
    agrees: bool | None


class StepDecision(Struct, frozen=True):
    """What one step says about a pair.

    Attributes:
      step: its name (SPEC 4.3).
      compared: the attributes that it looks at, as far as one of the results has them.
      same: whether it says that they are the same document; None if it cannot decide.
      reason: why, in words; "" if it cannot decide.
      needs: of the fields, what would make them the same document.
    """

    step: str
    compared: list[ComparedAttribute]
    same: bool | None
    reason: str
    needs: list[str]


class PairExplanation(Struct, frozen=True):
    """Why two results are one document, or two.

    Attributes:
      first, second: their places, in order.
      keys: the keys that they share; without one they are never compared.
      same: what the steps decide.
      decided_by: index in `steps` of the first that decides; None if none does.
      copy_of: what the second counts as a copy of; None if it is a first occurrence.
    """

    first: ResultPlace
    second: ResultPlace
    rules: str
    keys: list[str]
    same: bool
    decided_by: int | None
    steps: list[StepDecision]
    copy_of: ResultPlace | None
