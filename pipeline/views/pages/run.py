"""The report of a run, from its outputs to HTML (SPEC 6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.model import TableBlock
from goodgain.pipeline.document.numbers import count_text, number, value_text
from goodgain.pipeline.document.page import Menu, Page
from goodgain.pipeline.document.report import Report
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.datasets import OUTCOME_RELATIONS, REJECTED
from goodgain.pipeline.results.finished_run import read_dataset, read_run, read_with_columns
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.wanted_means import read_means
from goodgain.pipeline.run.plan.first_queries import find_queries_of_run
from goodgain.pipeline.studies.validation.survey import Rejection, Rejections
from goodgain.pipeline.views.noteworthy import (
    each_once,
    highlights_part,
    known_lists,
    noteworthy,
)
from goodgain.pipeline.views.outcomes import OutcomeView, outcome_views
from goodgain.pipeline.views.pages.data.definitions import Definition, glossary_of
from goodgain.pipeline.views.pages.data.histograms import Histograms
from goodgain.pipeline.views.pages.data.outcome_slices import slice_tables
from goodgain.pipeline.views.pages.data.slice_numbers import slice_data
from goodgain.pipeline.views.pages.data.slices import SliceMeans, Slices, read_slices
from goodgain.pipeline.views.pages.data.texts import MEAN_TEXTS, bin_texts
from goodgain.pipeline.views.pages.render import render_page
from goodgain.pipeline.views.pages.sections.charts import (
    costs_section,
    distributions_section,
    iterations_section,
    pool_section,
    slices_section,
)
from goodgain.pipeline.views.pages.sections.conversations import conversations_section
from goodgain.pipeline.views.pages.sections.duplicates import (
    duplicates_section,
    type_counts,
    type_texts,
)
from goodgain.pipeline.views.pages.sections.means import headline_section, ranking_section
from goodgain.pipeline.views.pages.sections.outcomes import (
    outcomes_section,
    repeats_section,
    way_section,
)
from goodgain.pipeline.views.pages.sections.quality import manifest_section, quality_section
from goodgain.pipeline.views.pages.sections.section_parts import (
    definitions_section,
    warnings_section,
)
from goodgain.pipeline.views.run import warnings_part
from goodgain.pipeline.views.way import WaySums, losses
from goodgain.transforms.core.metrics.budgets import budget_of
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.costs import COST, COSTS
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.wording import format_count

_SCRIPTS = ("plots.js", "costs.js", "report.js")
_LONGEST_DIMENSION = 60
_LONGEST_PATH = 120
_NO_SEARCH = "No conversation that searched could be evaluated."
_Row = Mapping[str, Any]
QueriesOf = Callable[[Collection[str]], Mapping[str, str]]


def build_report(
    folder: str, manifest: RunManifest | None = None, queries: QueriesOf | None = None
) -> Report:
    """Build the report of a run from its outputs; the page is one file that loads nothing.

    Each dataset is read in one pass, but `means`, from which only some rows are read at a time.

    Args:
      manifest: by default the one in the folder.
      queries: returns the first queries of conversations; by default from the run's files.

    Raises:
      UsageError: the folder is not the output of a run.
    """
    manifest = read_run(folder) if manifest is None else manifest
    columns, conversations = read_with_columns(folder, "conversations")
    glossary = glossary_of(manifest, columns)
    slices = read_slices(lambda wanted: _clip(read_means(folder, wanted)), manifest.options.slice)
    metrics = [
        definition.metric for definition in glossary.measures + glossary.ranking_of_conversations
    ]
    histograms = Histograms(metrics, slices.shown)
    way = WaySums([dict(slice_.attributes) for slice_ in slices.shown])
    everything = slices.everything
    rows = everything.at_end if everything else {}
    lists = known_lists(noteworthy(), rows)
    for row in conversations:
        if row["N"] and not row["rejected_records"]:
            histograms.add(row)
            way.add(row)
            for list_ in lists:
                list_.add(row)
    lists = each_once(lists)
    identities = {row["conversation_id"] for list_ in lists for row in list_.rows}
    iterations: dict[str, list[_Row]] = {identity: [] for identity in identities}
    for row in read_dataset(folder, "iterations", identities):
        iterations[row["conversation_id"]].append(row)
    asked = find_queries_of_run(manifest, identities) if queries is None else queries(identities)
    costs = _costs(rows)
    outcomes = outcome_views(folder, rows, manifest)
    ways = way.ways()
    page = Page(
        title=_title(everything),
        heading="Search agent report",
        answers=(answer(rows), *map(losses, ways[:1]), *(outcome.sentence for outcome in outcomes)),
        lead="How much good, new material each iteration of a search agent added, and how much it "
        "repeated.",
        origin=_origin(manifest),
        slices=_slice_menu(slices),
        follows="the headline, iterations, distributions and ranking",
        sections=(
            *warnings_section(warnings_part(manifest)),
            *outcomes_section(outcomes, _outcomes_by_slice(folder, outcomes, slices.shown[1:])),
            *repeats_section(rows, slices.shown[1:], manifest),
            headline_section(everything, glossary, manifest),
            iterations_section(slices, glossary),
            *([pool_section(everything, manifest.pool)] if manifest.pool else []),
            *way_section(ways),
            *([costs_section(slices, *costs, manifest)] if costs else []),
            distributions_section(everything, glossary),
            slices_section(slices, glossary),
            ranking_section(everything, glossary, manifest),
            conversations_section(lists, iterations, asked, manifest, everything is not None),
            duplicates_section(manifest, rows["SRR"]["mean"] if "SRR" in rows else None),
            quality_section(manifest, _rejections(folder), way.calls()),
            definitions_section(glossary, str(manifest.options.good_gain_threshold)),
            manifest_section(manifest),
        ),
    )
    # The data of the plots, small enough for a page.
    data = {
        "slices": [  # the first has all conversations
            slice_data(slice_, histograms.of_slice(index), costs[0] if costs else ())
            for index, slice_ in enumerate(slices.shown)
        ],
        "dimensions": [  # for each combination of slice attributes, the indexes of its slices
            {
                "label": ", ".join(shorten(name, _LONGEST_DIMENSION) for name in names),
                "slices": positions,
            }
            for names, positions in slices.dimensions.items()
        ],
        "metrics": {
            "end": {definition.metric.name: definition.menu for definition in glossary.at_end},
            "iteration": {
                definition.metric.name: definition.menu for definition in glossary.by_iteration
            },
        },
        "bins": {
            name: [
                bins.start,
                bins.width,
                bins.count,
                bin_texts(name, bins.start, bins.width, bins.count, bins.single),
            ]
            for name, bins in histograms.bins.items()
        },
        "types": [
            [name, total, copies, type_texts(total, copies)]
            for name, total, copies in type_counts(
                manifest.results.results_by_type, manifest.results.duplicates_by_type
            )
        ],
        "texts": MEAN_TEXTS,
        "mean_texts": MEAN_TEXTS,
    }
    searched = everything.n if everything else 0
    highlights = tuple(highlights_part(lists, searched, asked, manifest.parameters))
    return Report(render_page(page, data, _SCRIPTS), highlights)


def _outcomes_by_slice(
    folder: str, outcomes: Sequence[OutcomeView], slices: Sequence[SliceMeans]
) -> dict[str, TableBlock]:
    if not outcomes or not slices:
        return {}
    return slice_tables(outcomes, read_dataset(folder, OUTCOME_RELATIONS.name), slices)


def _title(everything: SliceMeans | None) -> str:
    return "Good Gain report" + (
        f": {format_count(everything.n, 'conversation')}" if everything else ""
    )


def _origin(manifest: RunManifest) -> str:
    """Which run it is: its input, when it finished, and with which version."""
    inputs = manifest.inputs
    words = [shorten(inputs[0].path, _LONGEST_PATH)] if inputs else []
    if len(inputs) > 1:
        words[0] += f" and {count_text(len(inputs) - 1)} more"
    words.append(f"finished {manifest.finished:%Y-%m-%d %H:%M} UTC")
    return " · ".join([*words, f"goodgain {manifest.versions['goodgain']}"])


def _slice_menu(slices: Slices[SliceMeans]) -> Menu | None:
    if len(slices.shown) < 2:
        return None

    def option(at: int) -> tuple[str, str]:
        return str(at), f"{slices.shown[at].label} (n = {count_text(slices.shown[at].n)})"

    groups = tuple(
        (shorten(", ".join(names), _LONGEST_DIMENSION), tuple(map(option, positions)))
        for names, positions in slices.dimensions.items()
    )
    return Menu("slice", "Show", (("", (option(0),)), *groups))


def answer(means: Mapping[str, _Row]) -> str:
    """Say how much was good, new and repeated, and how much gain came from how many iterations."""
    by_metric = {name: row["mean"] for name, row in means.items()}
    repeated, iterations = by_metric.get("SRR"), by_metric.get("N")
    if repeated is None or iterations is None:
        return _NO_SEARCH
    good, gain = by_metric.get("SRE"), by_metric.get("CG")
    in_iterations = f"in {number(iterations)} iterations"
    repeated_share = value_text("SRR", repeated)
    if good is None or gain is None:
        return (
            f"On average {repeated_share} of a conversation's results repeated earlier ones. An "
            f"agent searched {in_iterations}; without labels its gain is unknown."
        )
    return (
        f"On average {value_text('SRE', good)} of a conversation's results were good and new; "
        f"{repeated_share} repeated earlier ones. An agent gathered {number(gain)} units of gain "
        f"{in_iterations}."
    )


def _costs(rows: Mapping[str, _Row]) -> tuple[list[str], list[tuple[Definition, _Row]]] | None:
    """The costs to show; None if no conversation in the means reported any.

    Returns:
      The names of the costs, and each metric with its row, cost by cost, then those within
      budgets, like CG@tokens<=3000.
    """
    names = [name for name in sorted(COSTS.names_in(rows)) if rows[COST + name]["n"]]
    if not names:
        return None
    metrics = [metric for name in names for metric in COSTS.of(name).metrics]
    metrics += [metric_by_name(name) for name in rows if budget_of(name) is not None]
    return names, [
        (Definition(metric), rows[metric.name]) for metric in metrics if metric.name in rows
    ]


def _clip(means: Iterable[_Row]) -> Iterator[_Row]:
    """Rows of `means` with intervals clipped to the range of their metric."""
    for row in means:
        if row["ci_low"] is None:
            yield row
        else:
            clip = metric_by_name(row["metric"]).clip
            yield {**row, **{end: clip(row[end]) for end in ("ci_low", "ci_high")}}


def _rejections(folder: str) -> list[Rejection]:
    rejections = Rejections()
    for row in read_dataset(folder, REJECTED.name):
        rejections.add(RejectedRecord(**row))
    return list(rejections.by_frequency())
