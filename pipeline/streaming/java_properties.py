"""Reads the text of a `.properties` file as Java's `Properties.load` does."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = " \t\f"
_PARTS = re.compile(r"((?:\\.|[^\\=: \t\f])*)([ \t\f]*[=:]?[ \t\f]*)(.*)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


# The line on which it begins, from 1; name; value, None if nothing follows the name, which Java
# reads as "".
Property = tuple[int, str, str | None]


class BadEscapeError(ValueError):
    r"""A `\u` without four hexadecimal digits.

    Attributes:
      line: the line, from 1, on which its property begins.
    """

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def parse_properties(text: str) -> Iterator[Property]:
    """The properties in a text, in its order, repeated names included.

    A last line that is only a backslash is ignored; Java may make a property without a name of it.

    Raises:
      BadEscapeError: a character is wrongly escaped.
    """
    for line, logical in _logical_lines(text):
        name, separator, value = _PARTS.findall(logical)[0]
        try:
            has_value = value or separator.strip(_SPACE)
            yield line, _unescaped(name), _unescaped(value) if has_value else None
        except ValueError:
            raise BadEscapeError(line) from None


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers: no comments or blank lines, continued lines joined."""
    first, joined = 0, ""
    for number, line in enumerate(_LINE_END.split(text), start=1):
        stripped = line.lstrip(_SPACE)
        if not joined:
            first = number
            if not stripped or stripped[0] in "#!":
                continue
        # After an even number of backslashes each of them is escaped.
        continues = (len(stripped) - len(stripped.rstrip("\\"))) % 2
        joined += stripped[:-1] if continues else stripped
        if joined and not continues:
            yield first, joined
            joined = ""
    if joined:  # a backslash ended the last line
        yield first, joined


def _unescaped(text: str) -> str:
    r"""A name or value without escapes; a pair of `\u` may make one character, as in UTF-16."""
    units = _ESCAPE.sub(_character, text)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    if code == "u":
        raise ValueError("no four digits")
    return chr(int(code[1:], 16)) if code[1:] else _CONTROLS.get(code, code)
