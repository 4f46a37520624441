"""Counts and reasons in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST_DECIMALS = 6  # of a percentage; a count of one in a hundred million needs them


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


def list_first(names: Sequence[str], most: int) -> str:
    """The first names in a list, which says if there are more.

    Example:
      >>> list_first(["a", "b", "c"], 2)
      'a, b, ...'
    """
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def group_by_text(said: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names of which the same is said, by what is said; both in order.

    Args:
      said: texts, each with a name.

    Example:
      >>> group_by_text([("no value", "a"), ("no interval", "b"), ("no value", "c")])
      {'no value': ['a', 'c'], 'no interval': ['b']}
    """
    names: dict[str, list[str]] = {}
    for text, name in said:
        names.setdefault(text, []).append(name)
    return names


def format_percent(share: float) -> str:
    """A share in percent: with one decimal, or as many as tell it from none and all.

    Example:
      >>> format_percent(0.3), format_percent(0.0003), format_percent(0.9996)
      ('30.0 %', '0.03 %', '99.96 %')
    """
    percentage = 100 * share
    told = (d for d in range(1, _MOST_DECIMALS + 1) if round(percentage, d) not in (0, 100))
    # What is nearer to none or all differs from it by a rounding error.
    return f"{percentage:z.{next(told, 1)}f} %"


def explain_missing_interval(note: str, of: str = "") -> str:
    """Why there is no interval, without saying twice that there is none.

    Args:
      note: why, as a sentence by itself.
      of: what has no interval.

    Example:
      >>> explain_missing_interval("no pair differs, so there is no interval", "Gain (CG)")
      'no interval: Gain (CG): no pair differs'
    """
    why = note.replace(", so there is no interval", "")
    return ": ".join(filter(None, ("" if "no interval" in why else "no interval", of, why)))
