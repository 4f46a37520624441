"""Days in options, input patterns and folder names of the nightly job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from string import Formatter

from goodgain.transforms.core.errors import UsageError

_PLACEHOLDERS = ("date", "year", "month", "day")
_WHOLE_DAYS = ({"date"}, {"year", "month", "day"})
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_day(written: str) -> date:
    """Parse a day like 2025-03-01.

    Raises:
      UsageError: it is not a day.
    """
    try:
        if _ISO_DAY.fullmatch(written):
            return date.fromisoformat(written)
    except ValueError:
        pass  # like 2025-02-30; the message is the same
    raise UsageError(f"{written!r} is not a day; write it like 2025-03-01.")


def days_between(first: date, last: date) -> Iterator[date]:
    """Every day from the first to the last, inclusive."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def days_text(days: Sequence[str]) -> str:
    """Days in a few words: the only day, or their number with the first and the last."""
    if len(days) <= 1:
        return "".join(days)
    return f"{len(days)} days, {days[0]} to {days[-1]}"


def check_pattern(pattern: str) -> None:
    """Make sure that an input pattern selects a single day.

    Raises:
      ValueError: it has an unknown placeholder, or does not determine a day.
    """
    try:
        names = {name for _, name, _, _ in Formatter().parse(pattern) if name is not None}
    except ValueError as error:
        raise ValueError(f"cannot be filled in: {error}") from None
    if unknown := names.difference(_PLACEHOLDERS):
        raise ValueError(
            f"has the unknown placeholder {{{min(unknown)}}}; known are {{date}}, {{year}}, "
            "{month} and {day}"
        )
    if not any(whole <= names for whole in _WHOLE_DAYS):
        raise ValueError(
            f"does not name a day: {pattern!r} needs {{date}}, or {{year}}, {{month}} and {{day}}"
        )


def patterns_of(patterns: Sequence[str], day: date) -> list[str]:
    """The patterns of one day's input: `{date}` is 2025-03-01, `{day}` 01."""
    return [
        pattern.format(date=day.isoformat(), year=f"{day:%Y}", month=f"{day:%m}", day=f"{day:%d}")
        for pattern in patterns
    ]
