"""Duplicates by entity type and by deciding step, from the counts of the manifest (SPEC 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goodgain.pipeline.terminal.safe_text import shortened
from goodgain.transforms.core.dedup.verification import Step
from goodgain.transforms.core.scoring.duplicate_rows import UNTYPED

_LONGEST_NAME = 40
_MOST_TYPES = 30

# For each step of SPEC 4.3, why two results are the same document, and why they are not.
_STEPS: Mapping[Step, tuple[str, str]] = {
    Step.TYPE: ("", "their types differ"),
    Step.IDS: ("an id that identifies the document is the same", "an id differs"),
    Step.URL: ("the URL is the same", "host or path of the URL differs"),
    Step.URL_IDENTITY: ("", "a query parameter that names the document differs"),
    Step.URL_TEXT: (
        "the URL without its query is the same, and so is the text",
        "the URL without its query is the same, but the text differs",
    ),
    Step.FIELDS: ("enough fields of its type agree", "a field of its type differs"),
    Step.GENERIC_ID: ("the generic id is the same and nothing contradicts it", ""),
    Step.NAMED_ID: ("another id is the same and nothing contradicts it", ""),
    Step.IDENTICAL: ("all known fields are the same", ""),
    Step.INCONCLUSIVE: ("", "too few fields are known to decide"),
}


def type_counts(results: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    """Entity types with their results and duplicates, most frequent first.

    Rare types share the last entry.

    Args:
      results: the part `results` of a manifest.
    """
    copies = results.get("duplicates_by_type", {})
    types = [
        (_type_name(name), total, copies.get(name, 0))
        for name, total in results.get("results_by_type", {}).items()
    ]
    types.sort(key=lambda one: (-one[1], one[0]))
    if rare := types[_MOST_TYPES:]:
        _, totals, duplicates = zip(*rare, strict=True)
        types[_MOST_TYPES:] = [(f"{len(rare):,} other types", sum(totals), sum(duplicates))]
    return types


def _type_name(name: str) -> str:
    return "(no type)" if name == UNTYPED else shortened(name, _LONGEST_NAME)


def step_counts(pairs: Mapping[str, int], same: bool) -> list[tuple[str, str, int]]:
    """Steps with the reason for their decision and the number of pairs, most frequent first.

    Args:
      pairs: number of pairs of results that each step decided.
      same: whether it decided that they are the same document.
    """
    meanings = {step.value: words[0 if same else 1] for step, words in _STEPS.items()}
    counts = [
        (name.replace("_", " "), meanings.get(name, ""), count) for name, count in pairs.items()
    ]
    return sorted(counts, key=lambda one: (-one[2], one[0]))
