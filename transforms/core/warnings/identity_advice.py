"""What could identify the results of traces that nothing identifies (SPEC 10)."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.transforms.core.dedup.normalise import normalise_type
from goodgain.transforms.core.dedup.rules import DEFAULT_TYPE, NO_TYPE, RuleTable, TypeRules
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.warnings.field_names import SeenNames

_SHOWN = 5
_WITHOUT_NAMES = (
    "Give results an id, a URL or a text; `goodgain validate` says what makes two results one "
    "document."
)


def advise_on_identity(seen: SeenNames, rules: RuleTable) -> tuple[list[str], str]:
    """Names in the maps of results that no rule uses, and what to do.

    If an id could be definitive, the advice has the lines for the rules file.
    """
    ids = [name for name in sorted(seen.ids) if _is_unused(name, seen, rules)]
    names = [f"ids.{name}" for name in ids]
    names += [f"fields.{name}" for name in sorted(seen.fields - rules.fields.keys())]
    likely = next((name for name in ids if f"ids.{name}" not in seen.repeated), "")
    lines = [
        f"{type_}: {{definitive: [{', '.join((*definitive, likely))}]}}"
        for type_, definitive in (_definitive_ids(likely, seen, rules) if likely else ())
    ]
    if not lines:
        return names[:_SHOWN], _WITHOUT_NAMES
    return names[:_SHOWN], (
        f"If ids.{likely} identifies a document, say so under `types` in a copy of the rules for "
        + Remedy("rules")
        + f": {'; '.join(lines)}."
    )


def _is_unused(name: str, seen: SeenNames, rules: RuleTable) -> bool:
    """Whether the rules of some type that an id occurs with do not mention it."""
    number = rules.ids.get(name)
    return any(number not in type_.ids for type_ in _types_with(name, seen, rules))


def _definitive_ids(
    name: str, seen: SeenNames, rules: RuleTable
) -> Iterator[tuple[str, list[str]]]:
    """Each type that an id occurs with, and the names of its definitive ids."""
    names = {number: name for name, number in rules.ids.items()}
    for type_ in _types_with(name, seen, rules):
        yield type_.name, [names[number] for number in type_.ids if number in type_.definitive]


def _types_with(name: str, seen: SeenNames, rules: RuleTable) -> list[TypeRules]:
    """The rules of the types that an id occurs with, by name; without those of `default`."""
    written = map(normalise_type, seen.types.get(name, ()))
    types = (rules.of_type(rules.type_numbers.get(type_, NO_TYPE)) for type_ in written)
    by_name = {type_.name: type_ for type_ in types if type_.name != DEFAULT_TYPE}
    return [by_name[type_] for type_ in sorted(by_name)]
