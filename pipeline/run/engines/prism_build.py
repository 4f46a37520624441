"""Building Prism, Beam's local streaming engine, and Beam's other Go programs from source."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from goodgain.transforms.core.errors import GoodGainError, UsageError

_MODULE = "github.com/apache/beam/sdks/v2"
_NEEDED_GO = "Go 1.26 or newer"
_SHOWN_LINES = 3
_LINES_BETWEEN = 50  # of several hundred


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
        command = [go, "install", "-v", f"{_MODULE}/{package}@v{version('apache-beam')}"]
        code, end = _run(command, os.environ | {"GOBIN": folder}, say)
        if code != 0:
            end_of_output = " / ".join(line.strip() for line in end)
            raise GoodGainError(f"{name} could not be built (needs {_NEEDED_GO}): {end_of_output}")
        target.parent.mkdir(exist_ok=True)
        (Path(folder) / target.name).replace(target)  # atomic
    return target


def _run(
    command: list[str], environment: dict[str, str], say: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Run Go, and say how far it is: it names each package that it downloads or compiles.

    Returns:
      The exit code, and the last lines of its output.
    """
    end: deque[str] = deque(maxlen=_SHOWN_LINES)
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        for count, line in enumerate(process.stderr or (), start=1):
            end.append(line)
            if count % _LINES_BETWEEN == 0:
                say(f"goodgain: {count} packages so far, now {line.strip()}")
    return process.returncode, list(end)
