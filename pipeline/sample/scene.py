"""What one conversation is about: its company, people, sites, topic and times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from goodgain.pipeline.sample.draw import Draw
from goodgain.pipeline.sample.text import Author, Person, words
from goodgain.transforms.core.records.epoch import moment_of_millis

_MARKETS = ((0.66, "en-US"), (0.08, "en-GB"), (0.12, "de-DE"), (0.08, "ja-JP"), (0.06, "fr-FR"))
_HOUR_SECONDS = 3_600
_DAY_SECONDS = 24 * _HOUR_SECONDS
_QUARTER_HOUR = 900_000  # ms
_QUARTERS_PER_DAY = 96
_OFFSETS = {
    minutes: timezone(timedelta(minutes=minutes)) for minutes in (-480, -300, 60, 120, 330, 540)
}
OFFSETS = tuple(_OFFSETS)


@dataclass(frozen=True)
class Site:
    """A collaboration site and the ids of its containers."""

    name: str
    site_id: str
    web_id: str
    list_id: str


@dataclass(frozen=True)
class Scene:
    """What the documents of one conversation have in common.

    Attributes:
      begins: start of the conversation, in ms since 1970.
    """

    draw: Draw
    author: Author
    tenant: str
    tenant_id: str
    sites: tuple[Site, ...]
    people: tuple[Person, ...]
    market: str
    begins: int

    def person(self) -> Person:
        """One of the people around the conversation."""
        return self.draw.pick(self.people)

    def addresses(self, most: int) -> str | list[str]:
        """One address as a plain string, several as a list."""
        count = self.draw.between(1, most)
        if count == 1:
            return self.person().email
        return [self.person().email for _ in range(count)]

    def past_time(self, days: int) -> str:
        """A time before the conversation, by at least an hour and less than `days` more, in whole
        seconds.
        """
        seconds = self.begins // 1000 - _HOUR_SECONDS - self.draw.below(days * _DAY_SECONDS)
        return iso(seconds * 1000)

    def slot(self, days: int) -> tuple[str, str]:
        """Start and end of a meeting at most `days` before or after the conversation."""
        most = _QUARTERS_PER_DAY * days
        quarter = self.begins // _QUARTER_HOUR + self.draw.between(-most, most)
        length = self.draw.between(1, 6)
        return iso(quarter * _QUARTER_HOUR), iso((quarter + length) * _QUARTER_HOUR)


def make_scene(draw: Draw, begins: int) -> Scene:
    """The scene of a conversation that begins at this time (milliseconds since 1970 UTC)."""
    tenant = draw.pick(words().tenants)
    market = draw.pick_weighted(_MARKETS)
    sites = tuple(
        Site(draw.pick(words().sites), draw.guid(), draw.guid(), draw.guid()) for _ in range(3)
    )
    domain = f"{tenant}.example"
    people = tuple(
        Person(draw.pick(words().first_names), draw.pick(words().last_names), domain)
        for _ in range(14)
    )
    author = Author(draw, draw.pick(words().topics), market)
    return Scene(draw, author, tenant, draw.guid(), sites, people, market, begins)


def iso(millis: int) -> str:
    """ISO 8601 in UTC with a final Z, whole seconds unless there are milliseconds."""
    moment = moment_of_millis(millis)
    if millis % 1000:
        return moment.isoformat(timespec="milliseconds")[:-6] + "Z"
    return moment.isoformat()[:-6] + "Z"


def in_offset(text: str, minutes: int) -> str:
    """A time from `iso`, in another offset (one of `OFFSETS`)."""
    return datetime.fromisoformat(text).astimezone(_OFFSETS[minutes]).isoformat()
