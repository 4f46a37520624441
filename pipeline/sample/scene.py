"""The setting of one conversation: its company, people, sites, topic and time."""

from __future__ import annotations

from dataclasses import dataclass

from goodgain.pipeline.sample import words
from goodgain.pipeline.sample.draw import Draw
from goodgain.pipeline.sample.text import Author, Person
from goodgain.pipeline.sample.times import iso

_MARKETS = (
    (0.66, "en-US"),
    (0.08, "en-GB"),
    (0.12, "de-DE"),
    (0.08, "ja-JP"),
    (0.06, "fr-FR"),
)
_DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Site:
    """A collaboration site and the ids of its containers."""

    name: str
    site_id: str
    web_id: str
    list_id: str


@dataclass(frozen=True)
class Scene:
    """What the documents of one conversation have in common."""

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

    def past(self, days: int) -> str:
        """A time at most `days` before the conversation, to the second."""
        seconds = self.begins // 1000 - 3600 - self.draw.below(days * _DAY_SECONDS)
        return iso(seconds * 1000)

    def slot(self, days: int) -> tuple[str, str]:
        """Start and end of a meeting at most `days` before or after the conversation."""
        quarter = self.begins // 900_000 + self.draw.between(-96 * days, 96 * days)
        length = self.draw.between(1, 6)
        return iso(quarter * 900_000), iso((quarter + length) * 900_000)


def make_scene(draw: Draw, begins: int) -> Scene:
    """The scene of a conversation that begins at this time (milliseconds since 1970 UTC)."""
    tenant = draw.pick(words.TENANTS)
    market = draw.weighted(_MARKETS)
    sites = tuple(
        Site(draw.pick(words.SITES), draw.guid(), draw.guid(), draw.guid()) for _ in range(3)
    )
    domain = f"{tenant}.example"
    people = tuple(
        Person(draw.pick(words.FIRST_NAMES), draw.pick(words.LAST_NAMES), domain) for _ in range(14)
    )
    author = Author(draw, draw.pick(words.TOPICS), market)
    return Scene(draw, author, tenant, draw.guid(), sites, people, market, begins)
