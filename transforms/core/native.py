"""The optional native part: reading, fingerprints and folds in Rust, with equal results.

`goodgain_native` is built from the folder `native` of the repository.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.search_call import Result, SearchCall

# Increased together with `FORMAT` in native/src/lib.rs if the bytes or the functions change.
FORMAT = 29
SWITCH = "GOODGAIN_NATIVE"
_OFF = ("0", "false", "off", "no")
_ON = ("", "1", "true", "on", "yes")
_MODULE = "goodgain_native"


def native_module() -> Any | None:
    """The native part; None if it is missing, built for another version, or turned off.

    Raises:
      UsageError: see `is_off`.
    """
    return None if is_off() else _compatible()


def is_off() -> bool:
    """Whether the environment turns the native part off.

    Raises:
      UsageError: the variable is neither on nor off.
    """
    written = os.environ.get(SWITCH, "")
    word = written.strip().lower()
    if word in _OFF or word in _ON:
        return word in _OFF
    raise UsageError(
        f"The environment variable {SWITCH} is {written!r}: use 0, false, off or no to read in "
        "Python, 1, true, on or yes to read natively."
    )


def active_path() -> str:
    """Which code reads and fingerprints, for people: `native`, or `python` with the reason.

    Raises:
      UsageError: see `is_off`.
    """
    if is_off():
        return f"python ({SWITCH}={os.environ[SWITCH]})"
    if _compatible() is not None:
        return "native"
    return (
        "python (goodgain-native is built for another version)" if _import_installed() else "python"
    )


@cache
def _compatible() -> Any | None:
    module = _import_installed()
    if module is None or getattr(module, "FORMAT", None) != FORMAT:
        return None
    known = [list(struct.__struct_fields__) for struct in (SearchCall, Result)]
    return module if known == [module.CALL_FIELDS, module.RESULT_FIELDS] else None


@cache
def _import_installed() -> Any | None:
    try:
        return importlib.import_module(_MODULE)
    except ImportError:
        return None
