"""The attributes that steps compare, and what a trace has for them."""

from __future__ import annotations

from collections.abc import Iterable

from goodgain.pipeline.studies.explanation.reasons import agree, attribute_names, names_of_unknown
from goodgain.transforms.core.dedup.evidence import Evidence
from goodgain.transforms.core.dedup.normalise import normalise_url
from goodgain.transforms.core.dedup.rules import (
    CONTENT,
    GENERIC_ID,
    SNIPPET,
    TITLE,
    URL,
    URL_QUERY,
    RuleTable,
    TypeRules,
    is_field,
    is_named_id,
)
from goodgain.transforms.core.dedup.verification import Step
from goodgain.transforms.core.records.search_call import TEXTS, Result

TYPE = "entity_type"


def attributes_of(
    step: Step, one: Evidence, other: Evidence, applicable: TypeRules, rules: RuleTable
) -> Iterable[int]:
    """The numbers of the attributes that a step looks at."""
    present = sorted({*one.values, *other.values})
    if step is Step.PASSAGE:
        content = CONTENT in one.values and CONTENT in other.values
        return (*(rules.passage_ids or ()), CONTENT if content else SNIPPET)
    if step is Step.IDS:
        return applicable.ids
    if step is Step.URL:
        texts = (SNIPPET, CONTENT) if agree(one, other, URL) else ()
        return (*(number for number in present if URL <= number < TITLE), *texts)
    if step is Step.FIELDS:
        return (number for number in present if is_field(number))
    if step is Step.GENERIC_ID:
        return (GENERIC_ID, *(number for number in present if is_named_id(number)))
    return ()


def texts_of(result: Result, rules: RuleTable) -> dict[int, str]:
    """What the trace has for each attribute of a result, by number."""
    numbers = {name: number for number, name in names_of_unknown(result).items()}
    numbers |= {name: number for number, name in attribute_names(rules).items()}
    named = {
        "id": result.id,
        **result.fields,
        **{name: getattr(result, name) for name in TEXTS},
        **{f"ids.{name}": value for name, value in result.ids.items()},
    }
    texts = {
        numbers[name]: value if isinstance(value, str) else ", ".join(value)
        for name, value in named.items()
        if value is not None and name in numbers
    }
    url = normalise_url(result.url or "", rules.urls)
    if url is not None:
        texts[URL] = f"{url.host}{url.path}"
        texts[URL_QUERY] = "&".join(f"{name}={value}" for name, value in url.query)
        texts |= {
            number: ", ".join(value for own, value in url.query if own == name)
            for name, number in rules.url_parameters.items()
        }
    return texts
