"""Counts and reasons in sentences."""

from __future__ import annotations


def format_count(number: int, one: str, more: str | None = None) -> str:
    """A count with its noun, and with a verb that depends on the count.

    Args:
      one: the words after 1, like "document stays".
      more: the words after any other count; None = `one` with an s.

    Example:
      >>> format_count(1, "document stays", "documents stay"), format_count(2000, "topic")
      ('1 document stays', '2,000 topics')
    """
    return f"{number:,} " + pluralize(number, one, f"{one}s" if more is None else more)


def pluralize(number: int, one: str, more: str) -> str:
    """The words that agree with a count: `one` for 1, else `more`."""
    return one if number == 1 else more


def percent(share: float) -> str:
    """A share of 0 to 1 in percent, with one decimal.

    Example:
      >>> percent(0.3)
      '30.0 %'
    """
    return f"{100 * share:.1f} %"


def explain_missing_interval(note: str, of: str = "") -> str:
    """Why there is no interval, without saying twice that there is none.

    Args:
      note: why, as a sentence by itself.
      of: what has no interval.

    Example:
      >>> no_interval("no pair differs, so there is no interval", "Gain (CG)")
      'no interval: Gain (CG): no pair differs'
    """
    why = note.replace(", so there is no interval", "")
    return ": ".join(filter(None, ("" if "no interval" in why else "no interval", of, why)))
