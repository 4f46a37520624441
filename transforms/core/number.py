"""Numbers that users write, where `true` and `yes` are mistakes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator


def refuse_boolean(value: Any) -> Any:
    """The value of a number; in Python `True` is 1, but who writes `true` means something else.

    Raises:
      ValueError: it is true or false.
    """
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


Number = Annotated[int, BeforeValidator(refuse_boolean)]
RealNumber = Annotated[float, BeforeValidator(refuse_boolean)]
