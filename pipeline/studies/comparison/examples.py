"""The conversations on which the arms differ most, each with the command that explains it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.run.plan.first_queries import find_queries_of_run
from goodgain.pipeline.settings.explain_command import are_explained_alike, explain_command
from goodgain.pipeline.studies.comparison.matching import Grouped, Matched, sample
from goodgain.pipeline.studies.comparison.measures import CONTEXT, Measure
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.transforms.core.comparison.samples import round_differences
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.headline import headline


class Example(Struct, frozen=True):
    """One pair.

    Attributes:
      base_numbers, candidate_numbers: further metrics at N, in each arm.
      base_conversation, candidate_conversation: the first conversation of the pair in each arm.
      commands: one `goodgain explain` that shows both side by side; or one for each, the base's
        first, where they have different ids or were read by different options. Only one, too, if
        they are the same conversation of the same traces, or if the other arm has none: it would
        be too long, or something of the run was in memory.
      query: the first query of the candidate, or else of the base; None if not known.
    """

    key: str
    metric: str
    base_value: float
    candidate_value: float
    difference: float
    base_numbers: Mapping[str, float | None]
    candidate_numbers: Mapping[str, float | None]
    base_conversation: str
    candidate_conversation: str
    commands: tuple[str, ...]
    query: str | None = None


class Examples(Struct, frozen=True):
    """The largest wins and losses of the candidate, the largest first."""

    metric: str
    wins: tuple[Example, ...]
    losses: tuple[Example, ...]


def example_metric(arms: Arms, requested: str | None) -> str | None:
    """The metric at N by which examples are chosen; None if no compared metric is suitable."""
    names = [requested] if requested else [*arms.measures.declared, *headline("comparison")]
    for name in names:
        if name in arms.measures.at_end and metric_by_name(name).direction != "neither":
            return name
    return None


def examples(arms: Arms, matched: Matched, measure: Measure, most: int) -> Examples:
    """The `most` largest wins and losses, ties by key; pairs without a difference are neither."""
    metric = measure.metric
    values = sample(matched, measure)
    differences = round_differences(values.base, values.candidate)
    gains = differences if metric_by_name(metric).direction == "higher" else -differences
    # Keys ascend and the sort is stable, so ties are in order of key.
    best = [int(at) for at in np.argsort(-gains, kind="stable")[:most] if gains[at] > 0]
    worst = [int(at) for at in np.argsort(gains, kind="stable")[:most] if gains[at] < 0]

    base_firsts, candidate_firsts = matched.base.first_rows(), matched.candidate.first_rows()

    def example(at: int) -> Example:
        shared = int(values.shared[at])
        base_index = int(matched.base_indexes[shared])
        candidate_index = int(matched.candidate_indexes[shared])
        ids = (
            matched.base.arm.ids[base_firsts[base_index]],
            matched.candidate.arm.ids[candidate_firsts[candidate_index]],
        )
        return Example(
            key=matched.keys[shared],
            metric=metric,
            base_value=float(values.base[at]),
            candidate_value=float(values.candidate[at]),
            difference=float(differences[at]),
            base_numbers=_numbers(matched.base, base_index),
            candidate_numbers=_numbers(matched.candidate, candidate_index),
            base_conversation=ids[0],
            candidate_conversation=ids[1],
            commands=_commands(arms, *ids),
        )

    return Examples(metric, tuple(map(example, best)), tuple(map(example, worst)))


def _commands(arms: Arms, base_id: str, candidate_id: str) -> tuple[str, ...]:
    sources = (arms.base_source, arms.candidate_source)
    base, candidate = (source.manifest.parameters for source in sources)
    files = [{file.path for file in source.manifest.inputs} for source in sources]
    same_conversation = base_id == candidate_id and files[0].isdisjoint(files[1])
    if same_conversation and base.get("input") and are_explained_alike(base, candidate):
        commands = [explain_command(candidate_id, candidate, against=base["input"])]
    else:
        commands = [explain_command(base_id, base), explain_command(candidate_id, candidate)]
    return tuple(dict.fromkeys(filter(None, commands)))


def _numbers(grouped: Grouped, index: int) -> dict[str, float | None]:
    numbers: dict[str, float | None] = {}
    for name in CONTEXT:
        value = float(grouped.values(Measure(name, None, "all"))[0][index])
        numbers[name] = None if np.isnan(value) else value
    return numbers


def add_queries(examples: Examples, arms: Arms) -> Examples:
    """The examples with the first query of the candidate, or else of the base, as far as known.

    Unknown are those of files that are large, gone or not as they were when they were scored.
    """
    both = (*examples.wins, *examples.losses)
    of_candidate = find_queries_of_run(
        arms.candidate_source.manifest, {example.candidate_conversation for example in both}
    )
    others = {
        example.base_conversation
        for example in both
        if example.candidate_conversation not in of_candidate
    }
    of_base = find_queries_of_run(arms.base_source.manifest, others)

    def add_query(example: Example) -> Example:
        query = of_candidate.get(example.candidate_conversation)
        return replace(example, query=query or of_base.get(example.base_conversation))

    return replace(
        examples,
        wins=tuple(map(add_query, examples.wins)),
        losses=tuple(map(add_query, examples.losses)),
    )
