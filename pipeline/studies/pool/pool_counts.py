"""What the pipeline of a pool counts."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.results.sinks import WrittenFile
from goodgain.pipeline.run.hosts.counts import Counts
from goodgain.transforms.core.judgments.judgment import QrelsProblem
from goodgain.transforms.core.pool.agreement import label_spans
from goodgain.transforms.core.pool.document_rows import document_digest
from goodgain.transforms.core.pool_building.building import BuiltTopic
from goodgain.transforms.core.pool_building.contribution import Contribution
from goodgain.transforms.core.scoring.id_checks import ContradictedId


class BuiltFacts(Struct, frozen=True):
    """The facts that the pipeline returns at its end.

    Attributes:
      counts: of the pool, by dotted name.
      refused: runs and conversations that the pool has already.
      counts_of_runs: of reading and scoring, by name of the run and dotted name.
      contradicted_ids: examples for a warning, by name of the run.
      qrels_problems: problems with the judgments; if there are any, nothing may be used.
    """

    files: list[WrittenFile]
    counts: Counts
    refused: list[tuple[str, str]]
    counts_of_runs: dict[str, Counts]
    contradicted_ids: dict[str, list[ContradictedId]]
    qrels_problems: list[QrelsProblem]


def contribution_counts(contribution: Contribution) -> Counts:
    """The counts of what one conversation contributes, by dotted name."""
    return {
        "pool.conversations_without_topic": int(contribution.topic.value is None),
        "pool.conversations": 1,
    }


def topic_counts(built: BuiltTopic) -> Counts:
    """The counts of the documents of a topic, by dotted name."""
    counts = Counter(built.counts)
    counts["pool.topics"] = 1
    counts["pool.digest"] = sum(map(document_digest, built.documents))
    counts["pool.documents"] = len(built.documents)
    runs: dict[str, set[str]] = {}
    for document in built.documents:
        counts["pool.places"] += len(document.places)
        counts["pool.evidence"] += len(document.evidence)
        counts["pool.judged_for_aspects"] += document.covered_aspects() is not None
        seen = {place.run for place in document.places}
        counts.update(f"documents.{run}" for run in seen)
        if len(seen) == 1:
            counts.update(f"only.{run}" for run in seen)
        for place in document.places:
            runs.setdefault(place.run, set()).add(place.conversation_id)
        for id_name, apart in label_spans(document):
            counts.update([f"voted.{id_name}", *([f"apart.{id_name}"] if apart else ())])
    for run, conversations in runs.items():
        counts[f"conversations.{run}"] = len(conversations)
    return dict(counts)


def drop_counts(built: BuiltTopic) -> BuiltTopic:
    """The topic without its counts, which are counted already."""
    return replace(built, counts={})
