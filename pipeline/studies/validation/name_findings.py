"""Entity types, ids and fields of traces that the rules for duplicates do not know (SPEC 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from goodgain.transforms.core.dedup.normalise import normalise_type
from goodgain.transforms.core.dedup.rules import DEFAULT_TYPE, NO_TYPE, RuleTable, TypeRules
from goodgain.transforms.core.records.search_call import TEXTS
from goodgain.transforms.core.records.similar_names import find_similar_name

_ID_EFFECT = "counts only for results without a known type"
NameKind = Literal["id", "field"]


class TypeFinding(Struct, frozen=True):
    """An entity type that occurs.

    Attributes:
      name: as written in the traces; "" for results without a type.
      rules: the type whose rules apply.
      likely: the known name that was probably meant, if the rules do not know this one.
    """

    name: str
    results: int
    rules: str
    likely: str | None


class NameFinding(Struct, frozen=True):
    """A named id or field that no rule uses.

    Attributes:
      name: as written in the traces.
    """

    kind: NameKind
    name: str
    results: int
    likely: str | None
    effect: str


def findings_about_types(types: Mapping[str, int], rules: RuleTable) -> list[TypeFinding]:
    """Every type that occurs, the most frequent first."""
    known = [entry.name for entry in rules.types if entry.name != DEFAULT_TYPE]
    findings = []
    for name, results in types.items():
        applicable = _rules_for(name, rules)
        is_unknown = name != "" and applicable.name == DEFAULT_TYPE
        near = find_similar_name(name, known) if is_unknown else None
        findings.append(TypeFinding(name, results, applicable.name, near))
    return sorted(findings, key=lambda finding: (-finding.results, finding.name))


def findings_about_ids(ids: Mapping[str, int], rules: RuleTable) -> list[NameFinding]:
    """Every named id that no rule mentions, the most frequent first."""
    findings = [
        NameFinding("id", name, results, find_similar_name(name, rules.ids), _ID_EFFECT)
        for name, results in ids.items()
        if name not in rules.ids
    ]
    return sorted(findings, key=_by_frequency)


def findings_about_fields(
    fields: Mapping[str, int], types_of: Mapping[str, Iterable[str]], rules: RuleTable
) -> list[NameFinding]:
    """Every field that no rule uses, the most frequent first.

    If the rules use every field, even those that they do not mention, a field is listed only if its
    name looks misspelt.

    Args:
      types_of: for each name of a field, the types that it occurs with; "" for none.
    """
    findings = []
    for name, results in fields.items():
        if name in TEXTS:
            effect = "ignored: it belongs next to `fields`, not inside"
            findings.append(NameFinding("field", name, results, name, effect))
        elif name not in rules.fields:
            near = find_similar_name(name, rules.fields)
            applicable = [_rules_for(type_, rules) for type_ in types_of[name]]
            compared = all(entry.reject_on is None for entry in applicable)
            if near is not None or not compared:
                effect = "compared like any other field" if compared else "no rule compares it"
                findings.append(NameFinding("field", name, results, near, effect))
    return sorted(findings, key=_by_frequency)


def _by_frequency(finding: NameFinding) -> tuple[int, str]:
    return -finding.results, finding.name


def _rules_for(type_name: str, rules: RuleTable) -> TypeRules:
    return rules.of_type(rules.type_numbers.get(normalise_type(type_name), NO_TYPE))
