"""Names that occur in traces against the names that the rules know: what is likely misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

from transforms.core.rules import DEFAULT_TYPE, RuleTable

NameKind = Literal["id", "field"]
_TOP_LEVEL = ("title", "snippet", "content")  # inside `fields` they are ignored (SPEC 2)


class TypeFinding(Struct, frozen=True):
    """An entity type that occurs.

    Attributes:
      name: as written in the traces; "" for results without a type.
      results: how many have it.
      rules: the type whose rules apply.
      likely: the known name that is likely meant, when the rules don't know it.
    """

    name: str
    results: int
    rules: str
    likely: str | None


class NameFinding(Struct, frozen=True):
    """A named id or field that no rule mentions.

    Attributes:
      kind: whether it stands in `ids` or in `fields`.
      name: as written in the traces.
      results: how many have it.
      likely: the known name that is likely meant.
      effect: what it does in spite of that.
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
        number = rules.type_numbers.get(name.strip().casefold())
        applicable = rules.default if number is None else rules.of_type(number)
        likely = _likely(name, known) if name and number is None else None
        findings.append(TypeFinding(name, results, applicable.name, likely))
    return sorted(findings, key=lambda finding: (-finding.results, finding.name))


def findings_about_names(
    ids: Mapping[str, int], fields: Mapping[str, int], rules: RuleTable
) -> list[NameFinding]:
    """Every id and field that no rule mentions, the most frequent first."""
    findings = [
        NameFinding("id", name, results, _likely(name, rules.ids), "only proposes candidates")
        for name, results in ids.items()
        if name not in rules.ids
    ]
    findings += [
        NameFinding("field", name, results, name, "ignored: it counts beside `fields`, not inside")
        if name in _TOP_LEVEL
        else NameFinding("field", name, results, _likely(name, rules.fields), _effect(rules))
        for name, results in fields.items()
        if name in _TOP_LEVEL or name not in rules.fields
    ]
    return sorted(findings, key=lambda finding: (-finding.results, finding.kind, finding.name))


def _effect(rules: RuleTable) -> str:
    if rules.default.reject_on is None:
        return f"counts only where the rules of {DEFAULT_TYPE} apply"
    return "only counts where all evidence is equal"


def _likely(name: str, known: Iterable[str]) -> str | None:
    folded = {one.casefold(): one for one in known}
    near = get_close_matches(name.strip().casefold(), folded, n=1)
    return folded[near[0]] if near else None
