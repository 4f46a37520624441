"""Reads times as Python 3.11's `datetime.fromisoformat` does, in every version of Python.

Later versions also read 24:00, and refuse some of what 3.11 takes, such as the space in front of
the offset in `2024-03-01T10:00:00 +02:00`. Digests and rejections must not depend on that.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

from msgspec import Struct

# Most times; all versions read these alike.
_PLAIN = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?"
    r"(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?",
    re.ASCII,
)
_CALENDAR_DATE = re.compile(r"(\d{4})(-?)(\d\d)\2(\d\d)", re.ASCII)
# The weekday may be missing. Of digits after it, the first is what separates date and time.
_WEEK_DATE = re.compile(
    r"(\d{4})(?:-W(\d\d)(?:-(\d)(?!\d))?|W(\d\d)(?:(\d)(?!(?:\d\d)+(?!\d)))?)", re.ASCII
)
_SIGN = re.compile("([+Z-])")  # of the offset
_CLOCK = re.compile(r"(\d\d)(?:(:?)(\d\d)(?:\2(\d\d))?)?", re.ASCII)
_DECIMALS = re.compile(r"(\d{6})\d*|(\d{1,5})\Z", re.ASCII)


def parse_time(text: str) -> datetime | None:
    """The time in a text, in UTC if it has no offset; None if it is not one.

    White space around it is ignored, and a final `z` is read as `Z`.
    """
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text) if _PLAIN.fullmatch(text) else _moment(text)
    except ValueError:  # there is no such day, hour or offset
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


class _Clock(Struct, frozen=True):
    """A time of day or an offset, and what follows it."""

    hours: int
    minutes: int
    seconds: int
    microseconds: int
    rest: str


def _moment(text: str) -> datetime | None:
    """A time in any form; None if it has no such form.

    Raises:
      ValueError: there is no such day, time of day or offset.
    """
    if text[-1:] in ("Z", "z"):
        text = text[:-1] + "+00:00"
    found = _day(text)
    if found is None:
        return None
    day, length = found
    if len(text) == length:
        return datetime(day.year, day.month, day.day)
    # Any character separates date and time.
    written, *offset = _SIGN.split(text[length + 1 :], maxsplit=1)
    clock = _clock(written)
    zone = _zone(*offset) if offset else None
    if clock is None or (zone is None if offset else clock.rest):
        return None
    of_day = clock.hours, clock.minutes, clock.seconds, clock.microseconds
    return datetime(day.year, day.month, day.day, *of_day, zone)


def _day(text: str) -> tuple[date, int] | None:
    """The date at the start of a text, and its length."""
    if match := _CALENDAR_DATE.match(text):
        year, _, month, day = match.groups()
        return date(int(year), int(month), int(day)), match.end()
    if match := _WEEK_DATE.match(text):
        year, *parts = match.groups()
        week, weekday = parts[:2] if parts[0] else parts[2:]
        return date.fromisocalendar(int(year), int(week), int(weekday or 1)), match.end()
    return None


def _zone(sign: str, text: str) -> timezone | None:
    """The time zone of an offset, from its sign or Z and what follows."""
    if sign == "Z":
        return None if text else UTC
    offset = _clock(text)
    if offset is None or offset.rest:
        return None
    elapsed = timedelta(hours=offset.hours, minutes=offset.minutes, seconds=offset.seconds)
    if elapsed:
        elapsed += timedelta(microseconds=offset.microseconds)
    return timezone(-elapsed if sign == "-" else elapsed)


def _clock(text: str) -> _Clock | None:
    """The clock that a text begins with; None if it has none, or another rest than is allowed.

    The rest may be one ASCII character, or anything after six decimals.
    """
    match = _CLOCK.match(text)
    if match is None:
        return None
    hour, colon, minute, second = match.groups()
    whole = int(hour), int(minute or 0), int(second or 0)
    rest = text[match.end() :]
    if not rest[1:] and rest.isascii():
        return _Clock(*whole, 0, rest)
    if rest[0] in ".," or (second and rest[0] == colon):
        rest = rest[1:]
    elif colon or not second:
        return None
    decimals = _DECIMALS.match(rest)
    if decimals is None:
        return None
    digits = decimals[1] or decimals[2]
    return _Clock(*whole, int(digits.ljust(6, "0")), rest[decimals.end() :])
