"""The rules for duplicates as plain data for native code."""

from __future__ import annotations

from typing import Any

from goodgain.transforms.core.dedup.evidence import layout_of
from goodgain.transforms.core.dedup.keys import (
    KINDS_OF_KEYS,
    TEXT_KEYS,
    ids_that_hide_the_generic_id,
    is_keyed_by_value,
)
from goodgain.transforms.core.dedup.rules import (
    DEFAULT_TYPE,
    KEY,
    NO_TYPE,
    UNKNOWN_TYPE,
    Confidence,
    RuleTable,
    TypeRules,
)
from goodgain.transforms.core.dedup.url_rules import ParameterNames
from goodgain.transforms.core.scoring.data_counts import identifies
from goodgain.transforms.core.scoring.duplicate_rows import UNTYPED


def describe_scoring_rules(rules: RuleTable) -> dict[str, Any]:
    """The rules as plain data for native code; types by number, with `default` at 0."""
    return {
        "types": [_plain_type(type_) for type_ in (rules.default, *rules.types)],
        "containers": sorted(rules.containers),
        "url_parameters": list(rules.url_parameters.values()),
        "max_candidates": rules.max_candidates,
        "policy": rules.policy,
        "passage_ids": rules.passage_ids,
        "ids": [(number, name) for name, number in rules.ids.items()],
        "kinds_of_keys": list(KINDS_OF_KEYS.items()),
    }


def _plain_type(rules: TypeRules) -> tuple[Any, ...]:
    return (
        [(number, number in rules.definitive) for number in rules.ids],
        rules.reject_on,
        [[(need.at_least, need.of) for need in clause] for clause in rules.clauses],
        None if rules.confidence is None else _plain_confidence(rules.confidence),
        rules.name == DEFAULT_TYPE,
    )


def _plain_confidence(points: Confidence) -> tuple[Any, ...]:
    named = list(points.points.items())
    return named, points.other, points.needed, points.needed_with_context


def describe_layout(rules: RuleTable, codes: bytes) -> tuple[Any, ...]:
    """The layout of fingerprints with these codes, cached."""
    layout = layout_of(codes)
    positions = [position for _, position in (*layout.keys, *layout.values)]
    return (
        layout.type_number,
        _type_name(rules, codes[0]),
        layout.values,
        layout.keys,
        layout.start_and_end,
        layout.identifies_alone,
        identifies(layout, rules),
        max(positions, default=-1) + 1,
    )


def _type_name(rules: RuleTable, number: int) -> str | None:
    """The name of a type in counts; None if it is only in the calls."""
    if number == NO_TYPE:
        return UNTYPED
    return None if number == UNKNOWN_TYPE else rules.types[number - 1].name


def describe_packing_rules(rules: RuleTable) -> dict[str, Any]:
    """The rules for packing as plain data for native code."""
    return {
        "type_numbers": list(rules.type_numbers.items()),
        "definitive": [
            sorted(ids_that_hide_the_generic_id(rules, number))
            for number in range(len(rules.types) + 1)
        ],
        "fields": _of_one_byte(rules.fields),
        "ids": _of_one_byte(rules.ids),
        "ignored": _plain_names(rules.urls.ignored),
        "ignored_on": [
            (domain.removeprefix("."), _plain_names(names))
            for domain, names in rules.urls.ignored_on
        ],
        "url_needles": list(rules.urls.needles),
        "stripped": sorted(rules.stripped),
        "url_parameters": list(rules.url_parameters.items()),
        "time_fields": sorted(rules.time_fields),
        "text_keys": [
            (attribute, key.prefix, key.prefix + 1 if is_keyed_by_value(attribute) else key.least)
            for attribute, key in TEXT_KEYS.items()
        ],
    }


def _plain_names(names: ParameterNames) -> tuple[list[str], list[str]]:
    return sorted(names.names), list(names.prefixes)


def _of_one_byte(numbers: dict[str, int]) -> list[tuple[str, int]]:
    """The names with one-byte numbers; the others are treated as unknown."""
    return [(name, number) for name, number in numbers.items() if number < KEY]
