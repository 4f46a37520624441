"""The version of Good Gain."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def goodgain_version() -> str:
    """The version of the installed package; `0+uninstalled` in a bare source tree."""
    try:
        return version("goodgain")
    except PackageNotFoundError:
        return "0+uninstalled"
