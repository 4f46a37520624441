"""What the conversations of wins and losses asked, looked up in the traces of the arms."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from goodgain.pipeline.run.plan.first_queries import find_queries_of_run
from goodgain.pipeline.studies.comparison.examples import Example, Examples
from goodgain.pipeline.studies.comparison.sources import Arms


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

    def with_queries(found: tuple[Example, ...]) -> tuple[Example, ...]:
        return tuple(_with_query(example, of_candidate, of_base) for example in found)

    return replace(examples, wins=with_queries(examples.wins), losses=with_queries(examples.losses))


def _with_query(
    example: Example, of_candidate: Mapping[str, str], of_base: Mapping[str, str]
) -> Example:
    query = of_candidate.get(example.candidate_conversation)
    return replace(example, query=query or of_base.get(example.base_conversation))
