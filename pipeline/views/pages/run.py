"""The report of a run, from its outputs to HTML (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goodgain.pipeline.document.numbers import count_text, number, value_text
from goodgain.pipeline.document.page import Menu, Page, Section
from goodgain.pipeline.document.report import Report
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.views.noteworthy import highlights_part
from goodgain.pipeline.views.pages.data.run_content import QueriesOf, RunContent, read_content
from goodgain.pipeline.views.pages.data.slice_numbers import slice_data
from goodgain.pipeline.views.pages.data.slices import SliceMeans, Slices
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
from goodgain.pipeline.views.way import losses
from goodgain.transforms.core.wording import format_count

_SCRIPTS = ("plots.js", "costs.js", "report.js")
_LONGEST_DIMENSION = 60
_LONGEST_PATH = 120
_NO_SEARCH = "No conversation that searched could be evaluated."
_Row = Mapping[str, Any]


def build_report(
    folder: str, manifest: RunManifest | None = None, queries: QueriesOf | None = None
) -> Report:
    """Build the report of a run from its outputs; the page is one file that loads nothing.

    Args:
      manifest: by default the one in the folder.
      queries: returns the first queries of conversations; by default from the run's files.

    Raises:
      UsageError: the folder is not the output of a run.
    """
    content = read_content(folder, read_run(folder) if manifest is None else manifest, queries)
    searched = content.everything.n if content.everything else 0
    parameters = content.manifest.parameters
    highlights = highlights_part(content.lists, searched, content.queries, parameters)
    page = render_page(_page_of(content), _plots_of(content), _SCRIPTS)
    return Report(page, tuple(highlights))


def _page_of(content: RunContent) -> Page:
    losses_of_all = map(losses, content.ways[:1])
    return Page(
        title=_title(content.everything),
        heading="Search agent report",
        answers=(
            answer(content.rows),
            *losses_of_all,
            *(outcome.sentence for outcome in content.outcomes),
        ),
        lead="How much good, new material each iteration of a search agent added, and how much it "
        "repeated.",
        origin=_origin(content.manifest),
        slices=_slice_menu(content.slices),
        follows="the headline, iterations, distributions and ranking",
        sections=tuple(_sections_of(content)),
    )


def _sections_of(content: RunContent) -> Iterator[Section]:
    manifest, glossary, slices = content.manifest, content.glossary, content.slices
    everything, rows, costs = content.everything, content.rows, content.costs
    yield from warnings_section(warnings_part(manifest))
    yield from outcomes_section(content.outcomes, content.outcomes_by_slice)
    yield from repeats_section(rows, slices.shown[1:], manifest)
    yield headline_section(everything, glossary, manifest)
    yield iterations_section(slices, glossary)
    if manifest.pool:
        yield pool_section(everything, manifest.pool)
    yield from way_section(content.ways)
    if costs:
        yield costs_section(slices, costs.names, costs.rows, manifest)
    yield distributions_section(everything, glossary)
    yield slices_section(slices, glossary)
    yield ranking_section(everything, glossary, manifest)
    yield conversations_section(
        content.lists, content.iterations, content.queries, manifest, everything is not None
    )
    yield duplicates_section(manifest, rows["SRR"]["mean"] if "SRR" in rows else None)
    yield quality_section(manifest, content.rejections, content.calls_in_vain)
    yield definitions_section(glossary, str(manifest.options.good_gain_threshold))
    yield manifest_section(manifest)


def _plots_of(content: RunContent) -> dict[str, Any]:
    """The data of the plots, small enough for a page."""
    glossary, slices, results = content.glossary, content.slices, content.manifest.results
    costs = content.costs.names if content.costs else ()
    return {
        "slices": [  # the first has all conversations
            slice_data(slice_, content.histograms.of_slice(index), costs)
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
            for name, bins in content.histograms.bins.items()
        },
        "types": [
            [name, total, copies, type_texts(total, copies)]
            for name, total, copies in type_counts(
                results.results_by_type, results.duplicates_by_type
            )
        ],
        "texts": MEAN_TEXTS,
        "mean_texts": MEAN_TEXTS,
    }


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
