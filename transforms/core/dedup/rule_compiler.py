"""Compiles a rules file to the rule table."""

from __future__ import annotations

import re
from collections.abc import Iterable

from goodgain.transforms.core.dedup.normalise import normalise_type
from goodgain.transforms.core.dedup.rules import (
    CONTENT,
    DEFAULT_TYPE,
    DISPLAY_NAME,
    END,
    FIELDS,
    FILE_NAME,
    IDS,
    SNIPPET,
    START,
    SUBJECT,
    TIME_FIELDS,
    TITLE,
    UNKNOWN_FIELD,
    UNKNOWN_ID,
    URL_PARAMETERS,
    Confidence,
    Need,
    RuleTable,
    TypeRules,
    Unit,
    digest,
    number_of_unknown,
)
from goodgain.transforms.core.dedup.rules_file import Points, RulesFile, TypeEntry
from goodgain.transforms.core.dedup.url_rules import (
    ParameterNames,
    UrlAlias,
    UrlRules,
    with_aliases,
)
from goodgain.transforms.core.errors import RulesError
from goodgain.transforms.core.unicode_14 import casefold

_TEXTS = {"title": TITLE, "snippet": SNIPPET, "content": CONTENT}
_KEYED_FIELDS = {
    "subject": SUBJECT,
    "file_name": FILE_NAME,
    "display_name": DISPLAY_NAME,
    "start": START,
    "end": END,
}
_MOST_TYPES = 254


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
    if len(identity_parameters) > len(URL_PARAMETERS):
        raise RulesError(
            f"The rules have {len(identity_parameters)} identity parameters; at most "
            f"{len(URL_PARAMETERS)} are possible."
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
        url_parameters=dict(zip(identity_parameters, URL_PARAMETERS, strict=False)),
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
        return _number(self.fields, name, FIELDS, UNKNOWN_FIELD)

    def id(self, name: str) -> int:
        return _number(self.ids, name, IDS, UNKNOWN_ID)

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
