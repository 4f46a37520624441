"""Duplicates by entity type and by deciding step, from the counts of the manifest (SPEC 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

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


class TypeCount(Struct, frozen=True):
    """Results of one entity type.

    Attributes:
      duplicates: number of results that repeat an earlier one.
    """

    name: str
    results: int
    duplicates: int


class StepCount(Struct, frozen=True):
    """The number of pairs of results that one step decided.

    Attributes:
      name: name of the step.
      meaning: the reason for its decision.
    """

    name: str
    meaning: str
    pairs: int


class DuplicateCounts(Struct, frozen=True):
    """Duplicates of a run.

    Attributes:
      types: most frequent first; rare types share the last entry.
      duplicates, near_misses: for each step, number of pairs that are the same document, and of
        pairs that share a key but are not; most frequent first.
    """

    types: tuple[TypeCount, ...]
    duplicates: tuple[StepCount, ...]
    near_misses: tuple[StepCount, ...]


def duplicate_counts(results: Mapping[str, Any]) -> DuplicateCounts:
    """Arrange the counts of the part `results` of a manifest."""
    copies = results.get("duplicates_by_type", {})
    types = [
        TypeCount(_type_name(name), total, copies.get(name, 0))
        for name, total in results.get("results_by_type", {}).items()
    ]
    types.sort(key=lambda one: (-one.results, one.name))
    rare = types[_MOST_TYPES:]
    if rare:
        rest = TypeCount(
            f"{len(rare):,} other types",
            sum(one.results for one in rare),
            sum(one.duplicates for one in rare),
        )
        types[_MOST_TYPES:] = [rest]
    return DuplicateCounts(
        tuple(types),
        _steps(results.get("duplicates_by_step", {}), 0),
        _steps(results.get("near_misses_by_step", {}), 1),
    )


def _type_name(name: str) -> str:
    return "(no type)" if name == UNTYPED else shortened(name, _LONGEST_NAME)


def _steps(pairs: Mapping[str, int], outcome: int) -> tuple[StepCount, ...]:
    meanings = {step.value: words[outcome] for step, words in _STEPS.items()}
    counts = [
        StepCount(name.replace("_", " "), meanings.get(name, ""), count)
        for name, count in pairs.items()
    ]
    return tuple(sorted(counts, key=lambda one: (-one.pairs, one.name)))
