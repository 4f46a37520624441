"""Decides whether two results are the same document: phase 2 of de-duplication (SPEC 4.3)."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from goodgain.transforms.core.dedup.agreement import (
    Values,
    are_two_passages,
    attribute_conflicts,
    count_equal,
    generic_id_agrees,
    some_named_id_agrees,
)
from goodgain.transforms.core.dedup.evidence import Evidence, have_common_value
from goodgain.transforms.core.dedup.rules import (
    CONTENT,
    DEFAULT_TYPE,
    NO_TYPE,
    SNIPPET,
    URL,
    URL_QUERY,
    Confidence,
    RuleTable,
    TypeRules,
    is_field,
)


class Step(StrEnum):
    """The step of SPEC 4.3, or 4.4 for passages, that decided about a pair."""

    TYPE = "type"
    PASSAGE = "passage"
    IDS = "ids"
    URL = "url"
    URL_IDENTITY = "url_identity"
    URL_TEXT = "url_text"
    FIELDS = "fields"
    GENERIC_ID = "generic_id"
    NAMED_ID = "named_id"
    IDENTICAL = "identical"
    INCONCLUSIVE = "inconclusive"


class Verdict(Struct, frozen=True):
    """The decision about a pair.

    Attributes:
      clause: the `duplicate if` line that applied, from 1; for points, 1 = enough without id
        context, 2 = enough with it. None if no clause decided.
    """

    duplicate: bool
    step: Step
    clause: int | None = None


_DIFFERENT = {step: Verdict(False, step) for step in Step}
_DUPLICATE = {step: Verdict(True, step) for step in Step}


def verify(first: Evidence, second: Evidence, rules: RuleTable) -> Verdict:
    """Decide about a pair by the first step that can; symmetric in the two."""
    type_number, other = first.layout.type_number, second.layout.type_number
    if type_number != other and NO_TYPE not in (type_number, other):
        return _DIFFERENT[Step.TYPE]
    applicable = rules.of_type(type_number or other)
    mine, theirs = first.values, second.values
    if rules.passage_ids is not None and are_two_passages(mine, theirs, rules.passage_ids):
        return _DIFFERENT[Step.PASSAGE]
    if rules.policy == "ids":
        by_ids = _by_ids(mine, theirs, applicable) or _by_weak_ids(mine, theirs, applicable, rules)
        return by_ids or _DIFFERENT[Step.INCONCLUSIVE]
    return (
        _by_ids(mine, theirs, applicable)
        or _by_url(mine, theirs, rules)
        or _by_fields(mine, theirs, applicable, rules)
        or _by_weak_ids(mine, theirs, applicable, rules)
        or _by_identity(first, second)
        or _DIFFERENT[Step.INCONCLUSIVE]
    )


def find_agreeing_id(first: Evidence, second: Evidence, rules: RuleTable) -> int | None:
    """The first definitive id by which two results of one type agree."""
    mine, theirs = first.values, second.values
    applicable = rules.of_type(first.layout.type_number or second.layout.type_number)
    for attribute in applicable.ids:
        if attribute not in applicable.definitive or attribute not in mine:
            continue
        if attribute in theirs and have_common_value(mine[attribute], theirs[attribute]):
            return attribute
    return None


def list_decisions(
    first: Evidence, second: Evidence, rules: RuleTable
) -> list[tuple[Step, Verdict | None]]:
    """What each step by itself says about a pair, in order; None if it cannot decide.

    The first that can is the verdict of `verify`; the others would have decided without it.
    """
    type_number, other = first.layout.type_number, second.layout.type_number
    of_type = type_number != other and NO_TYPE not in (type_number, other)
    applicable = rules.of_type(type_number or other)
    mine, theirs = first.values, second.values
    found: list[tuple[Step, Verdict | None]]
    found = [(Step.TYPE, _DIFFERENT[Step.TYPE] if of_type else None)]
    if rules.passage_ids is not None:
        two = are_two_passages(mine, theirs, rules.passage_ids)
        found.append((Step.PASSAGE, _DIFFERENT[Step.PASSAGE] if two else None))
    found.append((Step.IDS, _by_ids(mine, theirs, applicable)))
    if rules.policy != "ids":
        found += [
            (Step.URL, _by_url(mine, theirs, rules)),
            (Step.FIELDS, _by_fields(mine, theirs, applicable, rules)),
        ]
    found.append((Step.GENERIC_ID, _by_weak_ids(mine, theirs, applicable, rules)))
    if rules.policy != "ids":
        found.append((Step.IDENTICAL, _by_identity(first, second)))
    return found


def _by_ids(mine: Values, theirs: Values, applicable: TypeRules) -> Verdict | None:
    definitive = False
    for attribute in applicable.ids:
        if attribute in mine and attribute in theirs:
            one, other = mine[attribute], theirs[attribute]
            if one != other and not have_common_value(one, other):
                return _DIFFERENT[Step.IDS]
            if attribute in applicable.definitive:
                definitive = True
    return _DUPLICATE[Step.IDS] if definitive else None


def _by_url(mine: Values, theirs: Values, rules: RuleTable) -> Verdict | None:
    one, other = mine.get(URL), theirs.get(URL)
    if one is None or other is None:
        return None
    if one != other:
        return _DIFFERENT[Step.URL]
    if mine.get(URL_QUERY) == theirs.get(URL_QUERY):
        return _DUPLICATE[Step.URL]
    for parameter in rules.url_parameters.values():
        if parameter in mine and parameter in theirs and mine[parameter] != theirs[parameter]:
            return _DIFFERENT[Step.URL_IDENTITY]
    compared = [
        mine[text] == theirs[text] for text in (SNIPPET, CONTENT) if text in mine and text in theirs
    ]
    if not compared:
        return None
    return (_DUPLICATE if all(compared) else _DIFFERENT)[Step.URL_TEXT]


def _by_fields(
    mine: Values, theirs: Values, applicable: TypeRules, rules: RuleTable
) -> Verdict | None:
    reject_on = applicable.reject_on
    for attribute in filter(is_field, mine) if reject_on is None else reject_on:
        if attribute in mine and attribute in theirs and mine[attribute] != theirs[attribute]:
            return _DIFFERENT[Step.FIELDS]
    if applicable.confidence is not None:
        return _by_points(mine, theirs, applicable.confidence, rules)
    for number, clause in enumerate(applicable.clauses, start=1):
        if all(count_equal(mine, theirs, need.of) >= need.at_least for need in clause):
            return Verdict(True, Step.FIELDS, number)
    return None


def _by_points(
    mine: Values, theirs: Values, confidence: Confidence, rules: RuleTable
) -> Verdict | None:
    points = sum(
        confidence.points.get(attribute, confidence.other)
        for attribute in mine
        if is_field(attribute) and mine[attribute] == theirs.get(attribute)
    )
    if points >= confidence.needed:
        return Verdict(True, Step.FIELDS, 1)
    if points >= confidence.needed_with_context and _id_context(mine, theirs, rules):
        return Verdict(True, Step.FIELDS, 2)
    return None


def _id_context(mine: Values, theirs: Values, rules: RuleTable) -> bool:
    """Whether the generic id, a named id that is not a container, or host and path are equal."""
    return (
        generic_id_agrees(mine, theirs)
        or some_named_id_agrees(mine, theirs, rules)
        or (URL in mine and mine[URL] == theirs.get(URL))
    )


def _by_weak_ids(
    mine: Values, theirs: Values, applicable: TypeRules, rules: RuleTable
) -> Verdict | None:
    """Decide by ids that do not identify on their own, if no other attribute conflicts."""
    if generic_id_agrees(mine, theirs):
        step = Step.GENERIC_ID
    elif applicable.name == DEFAULT_TYPE and some_named_id_agrees(mine, theirs, rules):
        step = Step.NAMED_ID
    else:
        return None
    if (URL in mine and URL in theirs) or attribute_conflicts(mine, theirs):
        return None
    return _DUPLICATE[step]


def _by_identity(first: Evidence, second: Evidence) -> Verdict | None:
    if (
        first.layout.type_number == second.layout.type_number
        and first.layout.identifies_alone
        and first.values == second.values
    ):
        return _DUPLICATE[Step.IDENTICAL]
    return None
