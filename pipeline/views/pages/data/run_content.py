"""What the page of a run shows, read from its outputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from goodgain.pipeline.document.model import TableBlock
from goodgain.pipeline.document.numbers import clipped_interval
from goodgain.pipeline.results.datasets import OUTCOME_RELATIONS, REJECTED
from goodgain.pipeline.results.finished_run import read_dataset, read_with_columns
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.wanted_means import read_means
from goodgain.pipeline.run.plan.first_queries import find_queries_of_run
from goodgain.pipeline.studies.validation.survey import Rejection, Rejections
from goodgain.pipeline.views.noteworthy import Noteworthy, deal_out, keep_known_lists, noteworthy
from goodgain.pipeline.views.outcomes import OutcomeView, outcome_views
from goodgain.pipeline.views.pages.data.definitions import Definition, Glossary, glossary_of
from goodgain.pipeline.views.pages.data.histograms import Histograms
from goodgain.pipeline.views.pages.data.outcome_slices import slice_tables
from goodgain.pipeline.views.pages.data.slices import SliceMeans, Slices, read_slices
from goodgain.pipeline.views.way import Way, WaySums
from goodgain.transforms.core.metrics.budgets import budget_of
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.costs import COST, COSTS
from goodgain.transforms.core.records.rejection import RejectedRecord

_Row = Mapping[str, Any]
QueriesOf = Callable[[Collection[str]], Mapping[str, str]]


class ShownCosts(Struct, frozen=True):
    """The costs of a run.

    Attributes:
      names: those that some conversation in the means reported.
      rows: each metric with its row of `means`, cost by cost, then those within budgets, like
        CG@tokens<=3000.
    """

    names: Sequence[str]
    rows: Sequence[tuple[Definition, _Row]]


class RunContent(Struct, frozen=True):
    """What the page of a run shows.

    Attributes:
      lists: of conversations that are worth looking at, each in one of them.
      iterations: the rows of `iterations` of these conversations, by their id.
      queries: the first query of each, by id, as far as it is known.
      outcomes_by_slice: their tables; empty without slices.
      rejections: the reasons for rejecting records, most frequent first.
      costs: None if no conversation in the means reported any.
      calls_in_vain: how many calls brought nothing, in one sentence.
    """

    manifest: RunManifest
    glossary: Glossary
    slices: Slices[SliceMeans]
    histograms: Histograms
    lists: Sequence[Noteworthy]
    iterations: Mapping[str, Sequence[_Row]]
    queries: Mapping[str, str]
    outcomes: Sequence[OutcomeView]
    outcomes_by_slice: Mapping[str, TableBlock]
    rejections: Sequence[Rejection]
    costs: ShownCosts | None
    ways: Sequence[Way]
    calls_in_vain: str

    @property
    def everything(self) -> SliceMeans | None:
        """The means over all conversations; None if there are none."""
        return self.slices.everything

    @property
    def rows(self) -> Mapping[str, _Row]:
        """The rows of `means` over all conversations at N, by metric."""
        return self.everything.at_end if self.everything else {}


def read_content(folder: str, manifest: RunManifest, queries: QueriesOf | None) -> RunContent:
    """Read what the page of a run shows.

    Each dataset is read in one pass, but `means`, from which only some rows are read at a time.

    Args:
      queries: returns the first queries of conversations; None = from the run's files.

    Raises:
      UsageError: a dataset is damaged, or of another version.
    """
    columns, conversations = read_with_columns(folder, "conversations")
    glossary = glossary_of(manifest, columns)
    slices = read_slices(lambda wanted: _clip(read_means(folder, wanted)), manifest.options.slice)
    rows = slices.everything.at_end if slices.everything else {}
    shown = glossary.measures + glossary.ranking_of_conversations
    histograms = Histograms([definition.metric for definition in shown], slices.shown)
    way = WaySums([dict(slice_.attributes) for slice_ in slices.shown])
    lists = keep_known_lists(noteworthy(), rows)
    for row in conversations:
        if row["N"] and not row["rejected_records"]:
            histograms.add(row)
            way.add(row)
            for list_ in lists:
                list_.add(row)
    lists = deal_out(lists)
    listed = {row["conversation_id"] for list_ in lists for row in list_.rows}
    outcomes = outcome_views(folder, rows, manifest)
    return RunContent(
        manifest=manifest,
        glossary=glossary,
        slices=slices,
        histograms=histograms,
        lists=lists,
        iterations=_read_iterations(folder, listed),
        queries=find_queries_of_run(manifest, listed) if queries is None else queries(listed),
        outcomes=outcomes,
        outcomes_by_slice=_outcomes_by_slice(folder, outcomes, slices.shown[1:]),
        rejections=_read_rejections(folder),
        costs=_costs_in(rows),
        ways=way.ways(),
        calls_in_vain=way.calls(),
    )


def _read_iterations(folder: str, identities: Collection[str]) -> dict[str, list[_Row]]:
    iterations: dict[str, list[_Row]] = {identity: [] for identity in identities}
    for row in read_dataset(folder, "iterations", identities):
        iterations[row["conversation_id"]].append(row)
    return iterations


def _outcomes_by_slice(
    folder: str, outcomes: Sequence[OutcomeView], slices: Sequence[SliceMeans]
) -> dict[str, TableBlock]:
    if not outcomes or not slices:
        return {}
    return slice_tables(outcomes, read_dataset(folder, OUTCOME_RELATIONS.name), slices)


def _costs_in(rows: Mapping[str, _Row]) -> ShownCosts | None:
    names = [name for name in sorted(COSTS.names_in(rows)) if rows[COST + name]["n"]]
    if not names:
        return None
    metrics = [metric for name in names for metric in COSTS.of(name).metrics]
    metrics += [metric_by_name(name) for name in rows if budget_of(name) is not None]
    known = [metric for metric in metrics if metric.name in rows]
    return ShownCosts(names, [(Definition(metric), rows[metric.name]) for metric in known])


def _clip(means: Iterable[_Row]) -> Iterator[_Row]:
    """Rows of `means` with intervals clipped to the range of their metric."""
    for row in means:
        low, high = clipped_interval(row)
        yield {**row, "ci_low": low, "ci_high": high}


def _read_rejections(folder: str) -> list[Rejection]:
    rejections = Rejections()
    for row in read_dataset(folder, REJECTED.name):
        rejections.add(RejectedRecord(**row))
    return list(rejections.by_frequency())
