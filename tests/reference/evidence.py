"""The evidence of a result, and the keys by which candidates are found (SPEC 4.1, 4.2)."""

from dataclasses import dataclass

from tests.reference import normalisation
from tests.reference.newer_characters import casefold
from tests.reference.rules import RULES, canonical_type, rule_name_of

TOP_LEVEL_FIELDS = ("title", "snippet", "content")


@dataclass(frozen=True)
class Evidence:
    """Canonical type (or None), named ids and fields as sets of normal forms, generic id, URL."""

    type: str | None
    ids: dict
    generic_id: str | None
    url: tuple | None
    fields: dict

    def attribute_count(self):
        singles = (self.generic_id is not None) + (self.url is not None)
        return len(self.ids) + len(self.fields) + singles


def present(sets):
    return {name: values for name, values in sets.items() if values}


def evidence_of(result):
    """The evidence of a JSON result."""
    entity_type = canonical_type(result.get("entity_type"))
    ids = {
        name: frozenset(map(normalisation.identifier, normalisation.as_list(value))) - {""}
        for name, value in (result.get("ids") or {}).items()
    }
    ids = present(ids)
    generic_id = normalisation.identifier(result.get("id")) or None
    if any(name in ids for name in RULES[rule_name_of(entity_type)]["definitive"]):
        generic_id = None
    return Evidence(
        entity_type, ids, generic_id, normalisation.url(result.get("url")), fields_of(result)
    )


def fields_of(result):
    """Field name to the set of its normal forms; title, snippet and content are fields too."""
    raw = {
        name: value
        for name, value in (result.get("fields") or {}).items()
        if name not in TOP_LEVEL_FIELDS
    }
    raw.update({name: result.get(name) for name in TOP_LEVEL_FIELDS})
    return present(
        {
            name: frozenset(
                normalisation.field_value(name, part) for part in normalisation.as_list(value)
            )
            - {""}
            for name, value in raw.items()
        }
    )


def keys_of(evidence):
    """All (kind, value) keys in canonical order (SPEC 4.2)."""
    keys = [
        (f"id:{name}", value)
        for name in sorted(evidence.ids)
        for value in sorted({casefold(value) for value in evidence.ids[name]})
    ]
    if evidence.generic_id is not None:
        keys.append(("id", casefold(evidence.generic_id)))
    if evidence.url is not None:
        host, path, _ = evidence.url
        keys.append(("url", (host, path)))
    fields = evidence.fields
    for name, least, most in (("snippet", 50, 100), ("content", 50, 500), ("title", 1, 100)):
        for value in fields.get(name, ()):
            if len(value) >= least:
                keys.append((name, value[:most]))
    for name in ("subject", "file_name", "display_name"):
        if name in fields:
            keys.append((name, fields[name]))
    if "start" in fields and "end" in fields:
        keys.append(("start+end", (fields["start"], fields["end"])))
    if evidence.attribute_count() >= 2:
        keys.append(("evidence", evidence))
    return keys
