"""The vocabulary of samples, from `configs/data/sample_words.yaml`, and the texts made of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

import msgspec
from msgspec import Struct

from goodgain.pipeline.sample.draw import Draw

_ENGLISH = "en-US"


class Language(Struct, frozen=True):
    """The parts of simple sentences, and the pattern that orders them."""

    subjects: tuple[str, ...]
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    adjuncts: tuple[str, ...]
    pattern: str


class Words(Struct, frozen=True):
    """The whole vocabulary.

    Attributes:
      languages: by market.
      mail_names: how letters are spelled in addresses.
      plugins: name, type and title of each.
    """

    languages: dict[str, Language]
    adjectives: tuple[str, ...]
    topics: tuple[str, ...]
    kinds: tuple[str, ...]
    asks: tuple[str, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    mail_names: dict[str, str]
    departments: tuple[str, ...]
    offices: tuple[str, ...]
    tenants: tuple[str, ...]
    sites: tuple[str, ...]
    web_hosts: tuple[str, ...]
    web_sections: tuple[str, ...]
    plugins: tuple[tuple[str, str, str], ...]


@cache
def words() -> Words:
    """The vocabulary."""
    # Only when a sample is made, since YAML takes long to import.
    from goodgain.transforms.core.yaml_text import parse_yaml

    path = resources.files("goodgain.configs").joinpath("data/sample_words.yaml")
    file = parse_yaml(path.read_text(encoding="utf-8"), path.name)
    return msgspec.convert(file.content, Words)


@dataclass(frozen=True)
class Person:
    """A person who writes, organizes or is found."""

    first: str
    last: str
    domain: str

    @cached_property
    def name(self) -> str:
        """Given name and family name."""
        return f"{self.first} {self.last}"

    @cached_property
    def alias(self) -> str:
        """Login name in ASCII."""
        letters = (self.first[:3] + self.last).lower()
        return "".join(words().mail_names.get(letter, letter) for letter in letters)

    @cached_property
    def email(self) -> str:
        """E-mail address."""
        return f"{self.alias}@{self.domain}"


@dataclass(frozen=True)
class Author:
    """Writes about one topic, in English and sometimes in the language of the market."""

    draw: Draw
    topic: str
    market: str

    def title(self) -> str:
        """A title of 30 to 80 characters."""
        draw = self.draw
        title = f"{draw.pick(words().adjectives)} {self.topic} {draw.pick(words().kinds)}"
        roll = draw.random()
        if roll < 0.3:
            title += f" {draw.between(2019, 2026)} - Version {draw.between(1, 9)}"
        elif roll < 0.7:
            title += f" for {draw.pick(words().departments)}, Part {draw.between(1, 40)}"
        else:
            title += f" ({draw.pick(words().last_names)}, {draw.digits(4)})"
        return title[:80].rstrip()

    def snippet(self) -> str:
        """A snippet of 150 to 300 characters, sometimes truncated with an ellipsis."""
        length = self.draw.between(150, 290)
        return self._prose(length)[:length].rstrip() + "…"

    def content(self) -> str:
        """A content of 600 to 1,500 characters."""
        length = self.draw.between(600, 1_500)
        return self._prose(length)[:length].rstrip()

    def _prose(self, length: int) -> str:
        sentences: list[str] = []
        missing = length
        while missing > 0:
            sentence = self._sentence()
            sentences.append(sentence)
            missing -= len(sentence)
        return "".join(sentences)

    def _sentence(self) -> str:
        draw = self.draw
        languages = words().languages
        language = languages[_ENGLISH]
        if self.market != _ENGLISH and self.market in languages and draw.random() < 0.3:
            language = languages[self.market]
        roll = draw.random()
        if roll < 0.12:
            return f"{self.topic}: see {draw.pick(words().kinds).lower()} {draw.digits(5)}. "
        if roll < 0.2:
            amount = f"{draw.between(2, 990)}.{draw.digits(3)}"
            return f"{draw.pick(words().last_names)} estimates {amount} EUR a year. "
        return language.pattern.format(
            draw.pick(language.subjects),
            draw.pick(language.verbs),
            draw.pick(language.objects),
            draw.pick(language.adjuncts),
        )
