"""The optional native part: reading, fingerprints and folds in Rust, with equal results.

`goodgain_native` is built from the folder `native` of the repository.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any

from msgspec.structs import fields

from goodgain.transforms.core.records.search_call import Result, SearchCall

# Increased together with `FORMAT` in native/src/lib.rs whenever the bytes of either change.
FORMAT = 6
SWITCH = "GOODGAIN_NATIVE"
_MODULE = "goodgain_native"


def native_module() -> Any | None:
    """The native part; None if it is missing, built for another version, or turned off."""
    return None if os.environ.get(SWITCH) == "0" else _compatible()


def active_path() -> str:
    """Which code reads and fingerprints, for people: `native`, or `python` with the reason."""
    if os.environ.get(SWITCH) == "0":
        return f"python ({SWITCH}=0)"
    if _compatible() is not None:
        return "native"
    return "python (goodgain-native is built for another version)" if _installed() else "python"


@cache
def _compatible() -> Any | None:
    module = _installed()
    if module is None or getattr(module, "FORMAT", None) != FORMAT:
        return None
    known = module.CALL_FIELDS, module.RESULT_FIELDS
    return module if known == (_names(SearchCall), _names(Result)) else None


@cache
def _installed() -> Any | None:
    try:
        return importlib.import_module(_MODULE)
    except ImportError:
        return None


def _names(struct: type) -> list[str]:
    return [field.name for field in fields(struct)]
