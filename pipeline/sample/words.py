"""The vocabulary of sample texts, from `configs/data/sample_words.yaml`."""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct


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
    import yaml  # only when a sample is made

    path = resources.files("goodgain.configs").joinpath("data/sample_words.yaml")
    return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Words)
