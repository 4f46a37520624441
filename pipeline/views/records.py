"""What became of the records of a run, and of labels and judgments given beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from msgspec import UNSET
from msgspec.structs import asdict

from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.results.balance import describe_excess
from goodgain.pipeline.results.datasets import REJECTED
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.manifest_counts import ExcludedCounts, FileOfRun, JudgmentCounts
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.views.outcomes import outcome_rows_text
from goodgain.transforms.core.wording import format_count, pluralize

_BEFORE_SINCE = "before_since"
_OUTCOMES = {
    "scored": "scored",
    "earlier_turn": "of earlier turns",
    "redelivered": "delivered again",
    "rejected": "rejected",
    "late": "late",
    "open": "still open",
    _BEFORE_SINCE: "of windows before --since",
}
_SHOWN_REASONS = 3
_SHOWN_CHANGED = 3
_MORE_CHANGED = ("more file has", "more files have")


def records_part(manifest: RunManifest) -> Iterator[Sentence]:
    """What became of conversations, records and results."""
    conversations, results = manifest.conversations, manifest.results
    yield Sentence(
        f"Conversations: {conversations.total:,}, of which {conversations.in_means:,} in "
        f"the means; excluded: {conversations.without_search:,} without search, "
        f"{conversations.with_rejected_records:,} with rejected records.",
        apart=True,
    )
    yield balance_sentence(asdict(manifest.records))
    yield Sentence(
        f"Results: {results.total:,}, of which "
        f"{format_count(results.duplicates, 'is a duplicate', 'are duplicates')} and "
        f"{format_count(results.unlabelled, 'is unlabelled', 'are unlabelled')}."
    )


def balance_sentence(records: Mapping[str, int]) -> Sentence:
    """The records that were read, and what became of them."""
    parts = [
        f"{records[name]:,} {words}"
        for name, words in _OUTCOMES.items()
        if name in records and (records[name] or name != _BEFORE_SINCE)
    ]
    return Sentence(f"Records: {records['read']:,} read = {' + '.join(parts)}.")


def given_part(manifest: RunManifest) -> Iterator[Sentence]:
    """What became of labels, outcomes, judgments and exclusions, of those that were given."""
    if labels := manifest.labels:
        yield Sentence(
            f"Labels: {labels.read:,} read = {labels.joined:,} joined + "
            f"{labels.repeated:,} repeated + {labels.empty:,} empty + "
            f"{labels.rejected:,} rejected; "
            f"{format_count(labels.replaced, 'replaces', 'replace')} another of the traces."
        )
    if manifest.outcome_rows:
        yield Sentence(outcome_rows_text(manifest.outcome_rows))
    if manifest.qrels:
        yield from _judgments_part(manifest.qrels)
    if manifest.exclude:
        yield Sentence(f"Excluded (--exclude): {exclusions_text(manifest.exclude)}.")


def exclusions_text(excluded: ExcludedCounts) -> str:
    """How many results and judgments were left out, by how many documents."""
    return (
        f"{format_count(excluded.results, 'result')} and "
        f"{format_count(excluded.judgments, 'judgment')}, by "
        f"{format_count(excluded.pairs, 'document')} of "
        f"{format_count(excluded.topics, 'topic')}"
    )


def _judgments_part(qrels: JudgmentCounts) -> Iterator[Sentence]:
    without_judgment = qrels.results_without_judgment
    without_judgments = qrels.topics_without_judgments
    yield Sentence(
        f"Judgments: {format_count(qrels.judgments, 'document')}, of which "
        f"{format_count(qrels.never_retrieved, 'was', 'were')} never retrieved; "
        f"{format_count(without_judgment, 'result has', 'results have')} no judgment."
    )
    yield Sentence(
        f"Topics: {qrels.topics:,} with judgments, of which "
        f"{qrels.topics_without_conversation:,} without conversation; "
        f"{without_judgments:,} of conversations "
        f"{pluralize(without_judgments, 'has', 'have')} no judgments."
    )
    if without_id := qrels.results_without_id:
        results_without_id = format_count(without_id, "result")
        yield Sentence(f"Not joined: {results_without_id} without the id that --qrels-id names.")


def rejected_part(folder: str, manifest: RunManifest) -> Iterator[Sentence]:
    """How many records were rejected, and the first of them."""
    records = manifest.records
    if not records.rejected:
        return
    limit = f"--max-rejected {manifest.options.max_rejected}"
    limit = f"; {describe_excess(records.unknown_losses, limit)}, so the exit code is 3"
    yield Sentence(
        f"Rejected: {records.rejected:,} of {format_count(records.read, 'record')}, all in "
        f"the dataset `{REJECTED.name}`{limit if records.too_many_rejected else ''}:"
    )
    rows = list(islice(read_dataset(folder, REJECTED.name), _SHOWN_REASONS + 1))
    for row in rows[:_SHOWN_REASONS]:
        yield Sentence(f"{row['source']}, {row['position']}: {row['reason']}", indent=1)
    if len(rows) > _SHOWN_REASONS:
        yield Sentence("...", indent=1)


def changed_part(inputs: Iterable[FileOfRun]) -> Iterator[Sentence]:
    """The files whose size has changed since the run began."""
    changed = [file for file in inputs if file.size_after is not UNSET]
    for file in changed[:_SHOWN_CHANGED]:
        after = "is gone" if file.size_after is None else f"has {file.size_after:,}"
        yield Sentence(
            f"Note: {file.path} had {file.size:,} bytes before the run and {after} now; run "
            "again once nothing writes to it."
        )
    if len(changed) > _SHOWN_CHANGED:
        more = format_count(len(changed) - _SHOWN_CHANGED, *_MORE_CHANGED)
        yield Sentence(f"Note: {more} changed.")
