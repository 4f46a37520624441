"""Counts in sentences."""

from __future__ import annotations


def counted(number: int, one: str, more: str | None = None) -> str:
    """A count with its noun, and with a verb that depends on the count.

    Args:
      one: the words after 1, like "document stays".
      more: the words after any other count; None = `one` with an s.

    Example:
      >>> counted(1, "document stays", "documents stay"), counted(2000, "topic")
      ('1 document stays', '2,000 topics')
    """
    return f"{number:,} {pluralize(number, one, f'{one}s' if more is None else more)}"


def pluralize(number: int, one: str, more: str) -> str:
    """The words that agree with a count: `one` for 1, else `more`."""
    return one if number == 1 else more
