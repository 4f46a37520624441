"""Warnings of the Python functions."""

from __future__ import annotations

import sys
import warnings


class GoodGainWarning(UserWarning):
    """A finding in the data, or a likely mistake in the arguments, that makes numbers misleading.

    Example:
      >>> import goodgain as gg, warnings
      >>> with warnings.catch_warnings(record=True) as shown:
      ...     warnings.simplefilter("always")
      ...     run = gg.evaluate([{"conversation_id": "c", "iteration": 1, "results": []}])
      >>> shown[0].category is gg.GoodGainWarning, str(shown[0].message)[:11]
      (True, 'no_results:')
    """


def warn(text: str) -> None:
    """Emit a warning that points to the user's line, which called the Python functions."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("goodgain."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, GoodGainWarning, stacklevel=level)
