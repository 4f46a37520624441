"""Building Prism, Beam's local streaming engine, and Beam's other Go programs from source."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from goodgain.transforms.core.errors import GoodGainError, UsageError

_MODULE = "github.com/apache/beam/sdks/v2"
_NEEDED_GO = "Go 1.26 or newer"
_SHOWN_LINES = 3


def _nothing(_: str) -> None:
    """Say nothing."""


def _folder() -> Path:
    """The checkout's ignored `.cache` folder; without a checkout, the user's cache folder."""
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "pyproject.toml").is_file():
        return checkout / ".cache" / "engines"
    caches = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(caches) / "goodgain"


BUILT_PRISM = _folder() / f"prism-{version('apache-beam')}" / "prism"


def build_prism(target: Path = BUILT_PRISM, say: Callable[[str], None] = _nothing) -> Path:
    """Build Prism in the version of the installed Beam, if needed; takes two to three minutes.

    Args:
      say: told before it is built, if that is needed and Go is there.

    Raises:
      UsageError: Go is not installed.
      GoodGainError: it cannot be built; the message contains the end of Go's output.
    """
    otherwise = ", or, if you have a Prism, use `goodgain stream --prism_location=PATH`"
    return build_program("Prism", "go/cmd/prism", target, otherwise, say)


def build_program(
    name: str,
    package: str,
    target: Path,
    otherwise: str = "",
    say: Callable[[str], None] = _nothing,
) -> Path:
    """Build a program of Beam's Go module in the version of the installed Beam, if needed.

    Args:
      name: its name for messages.
      package: its folder in the module.
      target: where to put it; the last part is the last part of `package`.
      otherwise: what else to do without Go, for the message.

    Raises:
      UsageError: Go is not installed.
      GoodGainError: it cannot be built; the message contains the end of Go's output.
    """
    if target.is_file():
        return target
    go = shutil.which("go")
    if go is None:
        raise UsageError(
            f"{name} is built with {_NEEDED_GO}, and there is no `go` on the PATH: install it and "
            f"try again{otherwise}."
        )
    say(f"goodgain: building {name} with Go; this takes a few minutes.")
    target.parent.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent.parent) as folder:
        built = subprocess.run(
            [go, "install", f"{_MODULE}/{package}@v{version('apache-beam')}"],
            env=os.environ | {"GOBIN": folder},
            capture_output=True,
            text=True,
            errors="replace",
        )
        if built.returncode != 0:
            end_of_output = " / ".join(built.stderr.strip().splitlines()[-_SHOWN_LINES:])
            raise GoodGainError(f"{name} could not be built (needs {_NEEDED_GO}): {end_of_output}")
        target.parent.mkdir(exist_ok=True)
        (Path(folder) / target.name).replace(target)  # atomic
    return target
