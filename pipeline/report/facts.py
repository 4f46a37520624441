"""The content of the report, read from a run's datasets in one pass each (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from goodgain.pipeline.outputs.datasets import REJECTED
from goodgain.pipeline.outputs.folder import read_dataset
from goodgain.pipeline.outputs.means_reader import read_means
from goodgain.pipeline.outputs.selected_iterations import read_iterations
from goodgain.pipeline.report.definitions import Glossary, glossary_of
from goodgain.pipeline.report.duplicate_counts import DuplicateCounts, duplicate_counts
from goodgain.pipeline.report.histograms import Histograms
from goodgain.pipeline.report.noteworthy import REASONS, ConversationList, Noteworthy, lists_of
from goodgain.pipeline.report.slices import Slices, read_slices
from goodgain.pipeline.report.timelines import read_timelines
from goodgain.pipeline.survey.rejections import Rejection, Rejections
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.costs import cost_metric

_CONVERSATIONS = "conversations"


class Facts(Struct, frozen=True):
    """The content of a run's report."""

    manifest: Mapping[str, Any]
    glossary: Glossary
    slices: Slices
    histograms: Histograms
    lists: tuple[ConversationList, ...]
    duplicate_counts: DuplicateCounts
    rejections: tuple[Rejection, ...]


def read_facts(folder: str, manifest: Mapping[str, Any]) -> Facts:
    """Read the outputs of a run in one pass over each dataset."""
    parameters = manifest["parameters"]
    glossary = glossary_of(manifest)
    slices = read_slices(
        lambda wanted: _clipped(read_means(folder, wanted), glossary), parameters.get("slice", ())
    )
    metrics = [one.metric for one in glossary.measures + glossary.ranking_of_conversations]
    histograms = Histograms(metrics, slices.shown)
    noteworthy = [Noteworthy(reason) for reason in REASONS]
    for row in read_dataset(folder, _CONVERSATIONS):
        if row["N"] and not row["rejected_records"]:
            histograms.add(row)
            for one in noteworthy:
                one.add(row)
    identities = {row["conversation_id"] for one in noteworthy for row in one.rows}
    timelines = read_timelines(read_iterations(folder, identities), identities)
    return Facts(
        manifest=manifest,
        glossary=glossary,
        slices=slices,
        histograms=histograms,
        lists=lists_of(noteworthy, timelines, parameters),
        duplicate_counts=duplicate_counts(manifest["results"]),
        rejections=_rejections(folder),
    )


def _clipped(means: Iterable[Mapping[str, Any]], glossary: Glossary) -> Iterator[Mapping[str, Any]]:
    """Rows of `means` with intervals clipped to the range of their metric."""
    metrics = {one.metric.name: one.metric for one in (*glossary.at_end, *glossary.by_iteration)}
    for row in means:
        metric = metrics.get(row["metric"]) or cost_metric(row["metric"])
        if metric is None or row["ci_low"] is None:
            yield row
        else:
            yield {**row, **{end: metric.within(row[end]) for end in ("ci_low", "ci_high")}}


def _rejections(folder: str) -> tuple[Rejection, ...]:
    rejections = Rejections()
    for row in read_dataset(folder, REJECTED.name):
        rejections.add(RejectedRecord(**row))
    return tuple(rejections.by_frequency())
