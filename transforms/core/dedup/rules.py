"""The rule table: a rules file compiled to attribute numbers, to compare pairs without strings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal

import xxhash
from msgspec import Struct

from goodgain.transforms.core.dedup.normalise import normalise_type
from goodgain.transforms.core.dedup.rules_file import Points, Policy, RulesFile, TypeEntry
from goodgain.transforms.core.dedup.url_rules import (
    ParameterNames,
    UrlAlias,
    UrlRules,
    with_aliases,
)
from goodgain.transforms.core.errors import RulesError
from goodgain.transforms.core.option import SCORING, Option, Options
from goodgain.transforms.core.unicode_14 import casefold

# Attribute numbers. In a fingerprint, one byte represents an attribute (see `fingerprint`). A name
# that the rules do not know is UNKNOWN_FIELD or UNKNOWN_ID followed by the digest of the name; its
# number combines byte and digest.
GENERIC_ID = 1
GENERIC_ID_NAME = "id"
URL = 2
URL_QUERY = 3
_URL_PARAMETERS = range(4, 32)
_FIELDS = range(32, 96)
_IDS = range(96, 126)
UNKNOWN_FIELD = 126
UNKNOWN_ID = 127
# Set on an attribute's byte to mark the digest of its key, if that differs from its value's.
KEY = 0x80
TITLE, SNIPPET, CONTENT, SUBJECT, FILE_NAME, DISPLAY_NAME, START, END = _FIELDS[:8]
_TEXTS = {"title": TITLE, "snippet": SNIPPET, "content": CONTENT}
_KEYED_FIELDS = {
    "subject": SUBJECT,
    "file_name": FILE_NAME,
    "display_name": DISPLAY_NAME,
    "start": START,
    "end": END,
}
# Always compared as times; a rules file can add more (SPEC 4.1).
TIME_FIELDS = frozenset(("start", "end", "date_time_received", "last_modified_time"))
NO_TYPE = 0
UNKNOWN_TYPE = 255
UNKNOWN_BYTES = 9  # of an unknown number: its byte and the digest of its name
_MOST_TYPES = 254
DEFAULT_TYPE = "default"
Unit = Literal["document", "passage"]


def digest(text: str) -> bytes:
    """The 64-bit digest of a normalised text, id or name (SPEC 4)."""
    return xxhash.xxh3_64_digest(text.encode())


def number_of_unknown(byte: int, name_digest: int) -> int:
    """The number of an attribute or type that the rules do not know."""
    return byte << 64 | name_digest


def is_field(attribute: int) -> bool:
    """Whether an attribute number is that of a field, including title, snippet and content."""
    return attribute in _FIELDS or attribute >> 64 == UNKNOWN_FIELD


def is_named_id(attribute: int) -> bool:
    """Whether an attribute number is that of a domain-specific id."""
    return attribute in _IDS or attribute >> 64 == UNKNOWN_ID


class Need(Struct, frozen=True):
    """Part of a clause: at least `at_least` of the attributes must be equal."""

    at_least: int
    of: tuple[int, ...]


class Confidence(Struct, frozen=True):
    """Points for equal fields (SPEC 4.3, `default`)."""

    points: dict[int, int]
    other: int
    needed: int
    needed_with_context: int


class TypeRules(Struct, frozen=True):
    """The rules for pairs of one entity type (SPEC 4.3).

    Attributes:
      ids: numbers of the definitive and the container ids.
      reject_on: numbers of the fields whose difference decides; None for all fields.
      clauses: the `duplicate if` lines; each applies if all of its needs are met.
    """

    name: str
    definitive: frozenset[int]
    ids: tuple[int, ...]
    reject_on: tuple[int, ...] | None
    clauses: tuple[tuple[Need, ...], ...]
    confidence: Confidence | None


class DuplicateOptions(Options, frozen=True, kw_only=True):
    """What two results are compared as."""

    unit: Annotated[
        Unit,
        Option(
            SCORING,
            "WHAT",
            "what a result is: a document, or a passage, so that another text of a document is "
            "another result",
        ),
    ] = "document"


class RuleTable(DuplicateOptions, frozen=True):
    """Compiled rules for fingerprinting and verification.

    Attributes:
      type_numbers: number by casefolded type name or alias.
      types: rules by type number - 1.
      default: the rules of results without a known type.
      fields, ids: attribute numbers by name, for every name that the rules mention.
      containers: ids that any type lists as container.
      urls: which URLs name the same document.
      stripped: by name of an id, the pattern of what is removed from its values.
      url_parameters: attribute number by name of an identifying parameter.
      time_fields: names of the fields compared as times.
      max_candidates: most candidates per key.
      policy: which rules apply: `full`, only those on `ids`, or `none`.
      passage_ids: numbers of the ids that tell passages apart; None if results are documents.

    Example:
      >>> from goodgain import RuleTable, Scoring
      >>> rules: RuleTable = Scoring.default().rules
      >>> rules.max_candidates
      256
    """

    type_numbers: dict[str, int]
    types: tuple[TypeRules, ...]
    default: TypeRules
    fields: dict[str, int]
    ids: dict[str, int]
    containers: frozenset[int]
    urls: UrlRules
    stripped: dict[str, re.Pattern[str]]
    url_parameters: dict[str, int]
    time_fields: frozenset[str]
    max_candidates: int
    policy: Policy
    passage_ids: tuple[int, ...] | None = None

    def of_type(self, number: int) -> TypeRules:
        """The rules for a type number; those of `default` if it is not in the table."""
        if NO_TYPE < number < UNKNOWN_TYPE:
            return self.types[number - 1]
        return self.default


def compile_rules(rules: RulesFile, unit: Unit = "document") -> RuleTable:
    """Compile checked rules.

    Args:
      unit: what a result is: a document, or a passage of one (SPEC 4.4).

    Raises:
      RulesError: there are more types or identifying parameters than numbers.
    """
    if len(rules.types) > _MOST_TYPES:
        raise RulesError(
            f"The rules have {len(rules.types)} types; at most {_MOST_TYPES} are possible."
        )
    identity_parameters = [casefold(name) for name in rules.url.identity_parameters]
    if len(identity_parameters) > len(_URL_PARAMETERS):
        raise RulesError(
            f"The rules have {len(identity_parameters)} identity parameters; at most "
            f"{len(_URL_PARAMETERS)} are possible."
        )
    numbers = _AttributeNumbers(rules)
    types = tuple(_compile_type(name, entry, numbers) for name, entry in rules.types.items())
    # After the others, so that these have the same numbers with either unit.
    passage_ids = tuple(map(numbers.id, rules.passage_ids)) if unit == "passage" else None
    names = list(rules.types)
    type_numbers = {normalise_type(name): index + 1 for index, name in enumerate(names)}
    for alias, target in rules.aliases.items():
        type_numbers[normalise_type(alias)] = names.index(target) + 1
    return RuleTable(
        type_numbers=type_numbers,
        types=types,
        default=types[names.index(DEFAULT_TYPE)],
        fields=numbers.fields,
        ids=numbers.ids,
        containers=frozenset(
            numbers.ids[name] for entry in rules.types.values() for name in entry.container
        ),
        urls=_compile_urls(rules),
        stripped={name: re.compile(pattern) for name, pattern in rules.strip.items()},
        url_parameters=dict(zip(identity_parameters, _URL_PARAMETERS, strict=False)),
        time_fields=TIME_FIELDS.union(rules.time_fields),
        max_candidates=rules.max_candidates,
        policy=rules.policy,
        passage_ids=passage_ids,
        unit=unit,
    )


def _compile_urls(rules: RulesFile) -> UrlRules:
    ignored_on = tuple(
        (f".{casefold(host)}", ParameterNames.of(entry.parameters))
        for entry in rules.url.ignored_parameters_by_host
        for host in entry.hosts
    )
    urls = UrlRules(ParameterNames.of(rules.url.ignored_parameters), ignored_on)
    return with_aliases(
        urls,
        # In ASCII, a pattern that ignores case matches no other characters.
        (
            UrlAlias(re.compile(pattern, re.ASCII), alias.to, alias.casefold)
            for pattern, alias in rules.url_aliases.items()
        ),
    )


class _AttributeNumbers:
    """Assigns an attribute number to each name in the rules, in order of first mention."""

    def __init__(self, rules: RulesFile) -> None:
        self.fields = {**_TEXTS, **_KEYED_FIELDS}
        self.ids: dict[str, int] = {}
        for name in rules.time_fields:
            self.field(name)
        for entry in rules.types.values():
            for name in (*entry.definitive, *entry.container):
                self.id(name)
            if entry.reject_on != "all":
                for name in entry.reject_on:
                    self.field(name)
            for clause in entry.duplicate_if:
                for requirement in clause:
                    self.attributes(requirement.of)

    def field(self, name: str) -> int:
        return _number(self.fields, name, _FIELDS, UNKNOWN_FIELD)

    def id(self, name: str) -> int:
        return _number(self.ids, name, _IDS, UNKNOWN_ID)

    def attributes(self, names: Iterable[str]) -> tuple[int, ...]:
        return tuple(
            self.id(name.removeprefix("ids.")) if name.startswith("ids.") else self.field(name)
            for name in names
        )


def _number(known: dict[str, int], name: str, room: range, unknown: int) -> int:
    """The number of a name; if there is no room, that of an unknown name."""
    if name not in known:
        if len(known) < len(room):
            known[name] = room[len(known)]
        else:
            known[name] = number_of_unknown(unknown, int.from_bytes(digest(name)))
    return known[name]


def _compile_type(name: str, entry: TypeEntry, numbers: _AttributeNumbers) -> TypeRules:
    definitive = tuple(numbers.id(id_name) for id_name in entry.definitive)
    container = tuple(numbers.id(id_name) for id_name in entry.container)
    return TypeRules(
        name=name,
        definitive=frozenset(definitive),
        ids=definitive + container,
        reject_on=None
        if entry.reject_on == "all"
        else tuple(numbers.field(field) for field in entry.reject_on),
        clauses=tuple(
            tuple(Need(part.at_least, numbers.attributes(part.of)) for part in clause)
            for clause in entry.duplicate_if
        ),
        confidence=None if entry.points is None else _compile_points(entry.points, numbers),
    )


def _compile_points(points: Points, numbers: _AttributeNumbers) -> Confidence:
    named: dict[str, int] = points.model_extra or {}
    return Confidence(
        points={numbers.field(name): worth for name, worth in named.items()},
        other=points.other,
        needed=points.needed,
        needed_with_context=points.needed_with_context,
    )
