"""Makes text from traces safe for a terminal: it cannot move the cursor or change colours."""

from __future__ import annotations

_ELLIPSIS = "…"


def printable(text: str) -> str:
    r"""Text as one line: white space is folded, unprintable characters are escaped (`\x1b`)."""
    return _escape(" ".join(text.split()))


def printable_lines(text: str) -> str:
    """Like `printable`, but keeps lines and their indents."""
    return "\n".join(map(_escape, text.splitlines()))


def shorten(text: str, longest: int) -> str:
    """The text as a printable line of at most `longest` characters; ends in … if it was cut."""
    # Cut first, since a text may be megabytes long.
    line = printable(text[: 4 * longest])
    if len(line) <= longest and len(text) <= 4 * longest:
        return line
    return line[: longest - 1] + _ELLIPSIS


def _escape(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "backslashreplace").decode()
        for character in line
    )
