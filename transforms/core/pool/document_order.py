"""The order in which documents are added to a pool: strong evidence before weak (SPEC 9)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from goodgain.transforms.core.dedup.normalise import (
    normalise_id,
    normalise_text,
    normalise_time,
    normalise_type,
    normalise_url,
)
from goodgain.transforms.core.dedup.rules import GENERIC_ID_NAME, NO_TYPE, RuleTable
from goodgain.transforms.core.records.search_call import TEXTS, OneOrMany, Result

DEFINITIVE, WITH_URL, REST = 1, 2, 3  # the three passes
_encode = msgspec.json.Encoder(order="sorted").encode

# Minus the number of attributes, the type, canonical JSON of the evidence.
Weight = tuple[int, str, bytes]
DocumentOrder = tuple[int, tuple[Weight, ...]]


def document_order(results: Sequence[Result], rules: RuleTable) -> DocumentOrder:
    """The pass in which a document is added, and its order there by evidence.

    Ties are broken by run, conversation and place.
    """
    normal = [_normal(result, rules) for result in results]
    weights = tuple(sorted(weight for _, weight in normal))
    return min(pass_ for pass_, _ in normal), weights


def _normal(result: Result, rules: RuleTable) -> tuple[int, Weight]:
    """The pass of an occurrence, and its weight."""
    written = normalise_type(result.entity_type or "")
    number = rules.type_numbers.get(written, NO_TYPE)
    definitive = rules.of_type(number).definitive
    stripped = rules.stripped
    ids = {
        name: ids for name, value in result.ids.items() if (ids := _ids(value, stripped.get(name)))
    }
    evidence: dict[str, object] = {}
    count = len(ids)
    if ids:
        evidence["ids"] = ids
    has_definitive = any(rules.ids.get(name) in definitive for name in ids)
    generic = result.id and normalise_id(result.id, stripped.get(GENERIC_ID_NAME))
    if generic and not has_definitive:
        evidence["id"] = generic
        count += 1
    url = None if result.url is None else normalise_url(result.url, rules.urls)
    if url is not None:
        evidence["url"] = (url.host, url.path, url.query)
        count += 1
    fields = _fields(result, rules)
    if fields:
        evidence["fields"] = fields
        count += len(fields)
    name = rules.types[number - 1].name if number else written
    pass_ = DEFINITIVE if has_definitive else WITH_URL if url is not None else REST
    return pass_, (-count, name, _encode(evidence))


def _ids(value: OneOrMany, stripped: re.Pattern[str] | None) -> list[str]:
    return sorted({id_ for item in _as_list(value) if (id_ := normalise_id(item, stripped))})


def _fields(result: Result, rules: RuleTable) -> dict[str, list[str]]:
    fields = {}
    for name, value in result.fields.items():
        if name not in TEXTS:
            timed = name in rules.time_fields
            fields[name] = sorted({_text(item, timed) for item in _as_list(value)} - {""})
    for name in TEXTS:
        text = getattr(result, name)
        fields[name] = [normalised] if text and (normalised := normalise_text(text)) else []
    return {name: values for name, values in fields.items() if values}


def _text(value: str, timed: bool) -> str:
    instant = normalise_time(value) if timed else None
    return normalise_text(value) if instant is None else f"instant {instant}"


def _as_list(value: OneOrMany) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value
