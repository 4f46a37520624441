"""In what the evidence of two results agrees or differs (SPEC 4.3, 4.4)."""

from __future__ import annotations

from goodgain.transforms.core.dedup.evidence import Evidence, Value, have_common_value
from goodgain.transforms.core.dedup.rules import (
    CONTENT,
    GENERIC_ID,
    SNIPPET,
    TITLE,
    URL,
    RuleTable,
    is_field,
    is_named_id,
)

Values = dict[int, Value]


def are_two_passages(mine: Values, theirs: Values, passage_ids: tuple[int, ...]) -> bool:
    """Whether two results are different passages, be it of one document (SPEC 4.4)."""
    for attribute in passage_ids:
        one, other = mine.get(attribute), theirs.get(attribute)
        if one is not None and other is not None and not have_common_value(one, other):
            return True
    return contents_differ(mine, theirs)


def contents_differ(mine: Values, theirs: Values) -> bool:
    """Whether the contents differ or, where not both have one, the snippets."""
    text = CONTENT if CONTENT in mine and CONTENT in theirs else SNIPPET
    return text in mine and text in theirs and mine[text] != theirs[text]


def texts_differ(first: Evidence, second: Evidence) -> bool | None:
    """Whether both URL and title differ; None if one of them cannot be compared."""
    mine, theirs = first.values, second.values
    for attribute in (URL, TITLE):
        if attribute not in mine or attribute not in theirs:
            return None
    return mine[URL] != theirs[URL] and mine[TITLE] != theirs[TITLE]


def count_equal(mine: Values, theirs: Values, attributes: tuple[int, ...]) -> int:
    """In how many of the attributes both agree."""
    equal = 0
    for attribute in attributes:
        one, other = mine.get(attribute), theirs.get(attribute)
        if one is None or other is None:
            continue
        if one == other or (is_named_id(attribute) and have_common_value(one, other)):
            equal += 1
    return equal


def generic_id_agrees(mine: Values, theirs: Values) -> bool:
    """Whether both have the same generic id."""
    return GENERIC_ID in mine and mine[GENERIC_ID] == theirs.get(GENERIC_ID)


def some_named_id_agrees(mine: Values, theirs: Values, rules: RuleTable) -> bool:
    """Whether a named id that no type lists as a container has a value in common."""
    return any(
        attribute in theirs and have_common_value(mine[attribute], theirs[attribute])
        for attribute in mine
        if is_named_id(attribute) and attribute not in rules.containers
    )


def attribute_conflicts(mine: Values, theirs: Values) -> bool:
    """Whether both have some named id or field, with different values."""
    for attribute in mine:
        if attribute not in theirs:
            continue
        if is_named_id(attribute):
            if not have_common_value(mine[attribute], theirs[attribute]):
                return True
        elif is_field(attribute) and mine[attribute] != theirs[attribute]:
            return True
    return False
