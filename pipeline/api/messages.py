"""Messages of the Python functions: those of the commands, phrased for Python, as warnings."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from goodgain.transforms.core.errors import GoodGainError

# Commands to run stay as they are; only options outside of them are arguments.
_COMMAND = re.compile(r"(`goodgain [^`]*`)")
_MAP = re.compile(r"--map ([^\s,;]+=[^\s,;]+?(?:,[^\s,;]+=[^\s,;]+?)*)(?=[.;]?(?:\s|$))")
_WITH_VALUE = re.compile(r"\(--([a-z-]+) ([^\s)]+)\)")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)(?: ([A-Z]+|[0-9]+)\b)?")
_FLAGS = frozenset(("allow_unlabelled", "allow_no_good", "bounds", "force", "unpaired"))
_OTHER_NAMES = {"input": "traces", "map": "mapping", "slice": "slices", "tolerance": "tolerances"}


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


@contextmanager
def phrased_for_python() -> Iterator[None]:
    """Rephrases the messages of errors that are raised inside."""
    try:
        yield
    except GoodGainError as error:
        error.args = (for_python(str(error)),)
        raise


def for_python(text: str) -> str:
    """A message of a command, with its options as keyword arguments."""
    return "".join(
        part if _COMMAND.fullmatch(part) else _rephrased(part) for part in _COMMAND.split(text)
    )


def _rephrased(text: str) -> str:
    text = _MAP.sub(_mapping, text)
    text = _WITH_VALUE.sub(lambda found: f'({_argument(found[1])}="{found[2]}")', text)
    return _OPTION.sub(_option, text)


def _mapping(found: re.Match[str]) -> str:
    pairs = (pair.split("=", 1) for pair in found[1].split(","))
    entries = ", ".join(f'"{target}": "{name}"' for target, name in pairs)
    return f"mapping={{{entries}}}"


def _option(found: re.Match[str]) -> str:
    name = _argument(found[1])
    value = found[2] or ("True" if name in _FLAGS else "")
    return f"{name}={value}" if value else name


def _argument(option: str) -> str:
    return _OTHER_NAMES.get(option) or option.replace("-", "_")
