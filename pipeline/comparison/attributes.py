"""Attributes that a user names: whether any conversation has them, and what was likely meant."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from goodgain.pipeline.comparison.arms import Arm
from goodgain.transforms.core.errors import UsageError

_SHOWN = 10


def values_of(attribute: str, *arms: Arm) -> list[str]:
    """The values of an attribute that occur, ascending."""
    occurring = {own.get(attribute, "") for arm in arms for own in arm.attributes}
    return sorted(occurring - {""})


def check_attribute(attribute: str, option: str, *arms: Arm) -> None:
    """Make sure that some conversation has the attribute that an option names.

    Raises:
      UsageError: none has it; the message names those that they have.
    """
    for problem in missing([attribute], option, *arms):
        raise UsageError(problem)


def missing(attributes: list[str], option: str, *arms: Arm) -> Iterator[str]:
    """A sentence for each attribute that no conversation has."""
    known = sorted(
        {name for arm in arms for own in arm.attributes for name, value in own.items() if value}
    )
    for attribute in attributes:
        if attribute in known:
            continue
        near = get_close_matches(attribute, known, n=1)
        if near:
            hint = f"did you mean {near[0]}?"
        elif known:
            hint = f"they have {', '.join(known[:_SHOWN])}{', ...' if len(known) > _SHOWN else ''}."
        else:
            hint = "they have none."
        yield f"No conversation in the means has the attribute {attribute} of {option}; {hint}"
