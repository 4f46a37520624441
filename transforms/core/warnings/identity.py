"""Advice on how the rules for duplicates could identify results that they cannot (SPEC 10)."""

from __future__ import annotations

from goodgain.transforms.core.dedup.rules import DEFAULT_TYPE, NO_TYPE, RuleTable
from goodgain.transforms.core.warnings.names import SeenNames

_SHOWN = 5
_WITHOUT_NAMES = (
    "Give results an id, a URL or a text; `goodgain validate` says what makes two results one "
    "document."
)


def identity_advice(seen: SeenNames, rules: RuleTable) -> tuple[list[str], str]:
    """Names in the maps of results that no rule uses, and what to do.

    If an id could be definitive, the advice has the lines for the rules file.
    """
    ids = [name for name in sorted(seen.ids) if _unused(name, seen, rules)]
    names = [f"ids.{name}" for name in ids]
    names += [f"fields.{name}" for name in sorted(seen.fields - rules.fields.keys())]
    lines = [
        f"{type_}: {{definitive: [{', '.join((*definitive, ids[0]))}]}}"
        for type_, definitive in _definitive(ids[:1], seen, rules)
    ]
    if not lines:
        return names[:_SHOWN], _WITHOUT_NAMES
    return names[:_SHOWN], (
        f"If ids.{ids[0]} identifies a document, say so under `types` in a copy of the rules for "
        f"--rules: {'; '.join(lines)}."
    )


def _unused(name: str, seen: SeenNames, rules: RuleTable) -> bool:
    """Whether the rules of some type that an id occurs with do not mention it."""
    number = rules.ids.get(name)
    return any(
        applicable.name != DEFAULT_TYPE and number not in applicable.ids
        for applicable in (rules.of_type(_number(one, rules)) for one in seen.types.get(name, ()))
    )


def _definitive(ids: list[str], seen: SeenNames, rules: RuleTable) -> list[tuple[str, list[str]]]:
    """For each type that such an id occurs with, the names of its definitive ids."""
    names = {number: name for name, number in rules.ids.items()}
    types = {
        rules.of_type(_number(one, rules)).name: rules.of_type(_number(one, rules))
        for id_name in ids
        for one in seen.types.get(id_name, ())
    }
    return [
        (name, [names[number] for number in types[name].ids if number in types[name].definitive])
        for name in sorted(types)
        if name != DEFAULT_TYPE
    ]


def _number(written: str, rules: RuleTable) -> int:
    return rules.type_numbers.get(written.strip().casefold(), NO_TYPE)
