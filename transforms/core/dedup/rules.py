"""The rule table: a rules file in attribute numbers, to compare pairs without strings."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import xxhash
from msgspec import Struct

from goodgain.transforms.core.dedup.rules_file import Policy
from goodgain.transforms.core.dedup.url_rules import UrlRules
from goodgain.transforms.core.option import SCORING, Option, Options

# Attribute numbers. In a fingerprint, one byte represents an attribute (see `fingerprint`). A name
# that the rules do not know is UNKNOWN_FIELD or UNKNOWN_ID followed by the digest of the name; its
# number combines byte and digest.
GENERIC_ID = 1
GENERIC_ID_NAME = "id"
URL = 2
URL_QUERY = 3
URL_PARAMETERS = range(4, 32)
FIELDS = range(32, 96)
IDS = range(96, 126)
UNKNOWN_FIELD = 126
UNKNOWN_ID = 127
# Set on an attribute's byte to mark the digest of its key, if that differs from its value's.
KEY = 0x80
TITLE, SNIPPET, CONTENT, SUBJECT, FILE_NAME, DISPLAY_NAME, START, END = FIELDS[:8]
# Always compared as times; a rules file can add more (SPEC 4.1).
TIME_FIELDS = frozenset(("start", "end", "date_time_received", "last_modified_time"))
NO_TYPE = 0
UNKNOWN_TYPE = 255
UNKNOWN_BYTES = 9  # of an unknown number: its byte and the digest of its name
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
    return attribute in FIELDS or attribute >> 64 == UNKNOWN_FIELD


def is_named_id(attribute: int) -> bool:
    """Whether an attribute number is that of a domain-specific id."""
    return attribute in IDS or attribute >> 64 == UNKNOWN_ID


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
