"""YAML that a user writes: read and parsed with messages that name file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from transforms.core.errors import UsageError


def read_text(path: str, what: str) -> str:
    """The text of a file.

    Args:
      path: of a local file.
      what: what it is to hold, for the message.

    Raises:
      UsageError: it cannot be read, or is not text.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8; write {what} in YAML.") from None


def parse_yaml(
    text: str, name: str, error_type: type[UsageError] = UsageError
) -> tuple[yaml.Node | None, Any]:
    """The nodes of a text, which know their lines, and the content they stand for.

    Args:
      text: YAML.
      name: what messages call the file.
      error_type: what is raised.

    Raises:
      UsageError: not YAML; of the type asked for.
    """
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + 1}" if mark else name
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise error_type(f"{where}: not valid YAML: {problem}.") from None
