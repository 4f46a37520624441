"""Names in the options of a run that its first records lack, told before minutes of work."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.metrics.budgets import parse_budgets
from goodgain.transforms.core.records.similar_names import find_similar_name
from goodgain.transforms.core.warnings.field_names import SeenNames


def describe_unseen_names(
    config: RunConfig, seen: SeenNames, outcomes: Collection[str]
) -> Iterator[str]:
    """A sentence for each name in the options that no record has that was looked at.

    Later records may have it, so it is no error yet.

    Args:
      seen: the names in the first records of each file.
      outcomes: the names of outcomes there and in the file of outcomes.
    """
    if not seen.call:
        return
    attributes = dict.fromkeys(name for names in config.slice for name in names)
    if config.cluster:
        attributes[config.cluster] = None
    if config.qrels_topic and (config.qrels or config.exclude or config.aspect_qrels):
        attributes[config.qrels_topic] = None
    of_budgets = [budget.cost for budget in parse_budgets(config.budget)]
    costs = dict.fromkeys((*(config.cost or ()), *of_budgets))
    yield from _describe("attribute", attributes, seen.attributes)
    yield from _describe("cost", costs, seen.costs)
    yield from _describe("outcome", config.outcome_names or (), outcomes)


def _describe(kind: str, names: Collection[str], known: Collection[str]) -> Iterator[str]:
    for name in names:
        if name not in known:
            meant = find_similar_name(name, known)
            hint = f"; did you mean {meant}?" if meant else "; is it misspelt?"
            yield f"The first records have no {kind} {name}{hint}"
