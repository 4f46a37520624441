"""Options that messages name to mend a problem, and how each face of the product words them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

# What `str(Remedy(...))` writes; commands to run stay as they are. A value is a placeholder, a
# number, renamed fields or, in parentheses, any word.
_PAIR = r"[^\s,;=]+=[^\s,;]*?"
_WRITTEN = re.compile(
    r"(?P<command>`goodgain [^`]*`)"
    r"|(?P<open>(?<=\())?(?<![\w-])--(?P<option>[a-z]+(?:-[a-z]+)*)"
    r"(?:[ ](?P<value>"
    r"(?(open)[^\s)]+|(?:[A-Z]+\b(?!=)|[0-9]+\b(?!=|\.\.)|"
    rf"{_PAIR}(?:,{_PAIR})*(?=[.,;:]?(?:\s|$))))"
    r"))?"
)


class Remedy(Struct, frozen=True):
    """An option, and the value to give it.

    Its text is that of the command line, also in stored messages; `reword` finds it again.

    Attributes:
      option: its key, like `max_i`.
      value: names by field for renamed fields; None if only the option is named, or takes none.
    """

    option: str
    value: str | int | Mapping[str, str] | None = None

    def __str__(self) -> str:
        """Like `--max-i 20`."""
        name = f"--{self.option.replace('_', '-')}"
        if self.value is None:
            return name
        if isinstance(self.value, Mapping):
            return f"{name} {','.join(f'{field}={other}' for field, other in self.value.items())}"
        return f"{name} {self.value}"


def reword(text: str, wording: Callable[[Remedy], str]) -> str:
    """A message with the options that it names in other words."""
    return _WRITTEN.sub(
        lambda found: found[0] if found["command"] else wording(_remedy(found)), text
    )


def _remedy(found: re.Match[str]) -> Remedy:
    option, value = found["option"].replace("-", "_"), found["value"]
    if value is None or "=" not in value:
        return Remedy(option, value)
    return Remedy(option, dict(pair.split("=", 1) for pair in value.split(",")))
