"""The report of one comparison, from its outputs to HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import convert
from msgspec.structs import asdict, replace

from goodgain.pipeline.document.numbers import count_text, data_text, level
from goodgain.pipeline.document.page import Menu, Page, Section
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.datasets import ARMS, COMPARISON, DIFFERENCES, POOL_DOCUMENTS
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.unlabelled_arms import ShownRows
from goodgain.pipeline.studies.comparison.examples import Examples
from goodgain.pipeline.studies.comparison.manifest import (
    ComparedPool,
    ComparedRun,
    ComparisonManifest,
)
from goodgain.pipeline.studies.comparison.pool_finds import FoundDocument
from goodgain.pipeline.views.comparison_arms import data_warnings_part
from goodgain.pipeline.views.comparison_tables import all_columns, texts_of_comparison
from goodgain.pipeline.views.pages.data.comparison_pairs import pairs_by_metric
from goodgain.pipeline.views.pages.data.comparison_slices import (
    PARTS,
    ComparedSlice,
    arm_costs,
    arrange,
    read_comparison_row,
    slice_data,
)
from goodgain.pipeline.views.pages.data.definitions import glossary
from goodgain.pipeline.views.pages.data.slices import Slices
from goodgain.pipeline.views.pages.data.texts import MEAN_TEXTS, point_texts
from goodgain.pipeline.views.pages.render import render_page
from goodgain.pipeline.views.pages.sections.arms import (
    accounts_section,
    examples_section,
    parameters_section,
)
from goodgain.pipeline.views.pages.sections.comparison_charts import (
    costs_section,
    difference_sections,
    pairs_section,
    sensitivity_section,
    slices_section,
)
from goodgain.pipeline.views.pages.sections.found_documents import pool_section
from goodgain.pipeline.views.pages.sections.outcomes import way_section
from goodgain.pipeline.views.pages.sections.section_parts import (
    definitions_section,
    warnings_section,
)
from goodgain.pipeline.views.pages.sections.verdicts import Shown, verdict_section
from goodgain.pipeline.views.way import ways_of_arms
from goodgain.transforms.core.metrics.groups import groups_in
from goodgain.transforms.core.wording import format_count

_SCRIPTS = ("costs.js", "comparison/plots.js", "comparison/pool.js", "comparison/report.js")
_ARMS = ("base", "candidate")
_LONGEST_TITLE = 60
_LONGEST_LABEL = 200
_SHARE_BY_I = "pool_recall_at_i"
_Row = Mapping[str, Any]


def build_comparison_report(folder: str, found: ComparisonManifest) -> bytes:
    """Build `report.html` from the outputs of a comparison.

    Raises:
      UsageError: some of its rows are missing.
    """
    base, candidate = found.base, found.candidate
    correction, without = found.request.correction, ShownRows(found.without_labels)
    compared = map(without.of_comparison, read_dataset(folder, COMPARISON.name))
    slices = arrange(compared, found.declared_family, correction)
    shown = _choose_shown(found, slices)
    arms = map(without.of_arm, read_dataset(folder, ARMS.name))
    costs, costs_by_slice = arm_costs(arms, slices.shown)
    pairs = pairs_by_metric(read_dataset(folder, DIFFERENCES.name), found.declared_family)
    examples, documents = found.examples, read_dataset(folder, POOL_DOCUMENTS.name)
    sensitivity = list(map(without.struct, found.sensitivity or ()))
    ways = ways_of_arms(found.ways, [slice_.attributes for slice_ in slices.shown])
    page = Page(
        title=_title(found),
        heading="Comparison of two search agents",
        answers=(found.answer,),
        lead="Whether the candidate is better than the base, where, and with what certainty. "
        "Differences are candidate minus base.",
        parties=(_party("Base", base), _party("Candidate", candidate)),
        origin=f"goodgain {found.versions.goodgain}",
        slices=_slice_menu(slices, shown.paired),
        follows="the verdict, differences, good/same/bad, iterations and costs",
        sections=(
            *warnings_section(
                data_warnings_part(
                    found.warnings,
                    (base.warnings, candidate.warnings),
                    base.folder == candidate.folder,
                )
            ),
            verdict_section(shown),
            *difference_sections(shown),
            *way_section(ways, of_all=len(_ARMS)),
            *([costs_section(costs)] if costs else []),
            *([_pool_section(found.pool, documents)] if found.pool else []),
            slices_section(shown),
            *([pairs_section(shown, list(pairs))] if pairs else []),
            *([examples_section(examples, _reason(shown, examples))] if examples else []),
            *([sensitivity_section(sensitivity, correction)] if sensitivity else []),
            accounts_section(found),
            definitions_section(shown.words, _good_from(found)),
            parameters_section(found),
        ),
    )
    data = {
        "parts": list(PARTS),
        "texts": _names_of_texts(shown),
        "mean_texts": MEAN_TEXTS,
        "slices": [slice_data(slice_, shown.paired, shown.columns) for slice_ in slices.shown],
        "metrics": {
            "end": {
                definition.metric.name: definition.menu
                for definition in (*shown.declared, *shown.further)
            },
            "iteration": {definition.metric.name: definition.menu for definition in shown.by_i},
        },
        "declared": [definition.metric.name for definition in shown.declared],
        "arms": costs_by_slice,
        "pairs": pairs,
        "pool": _pool_data(found.pool) if found.pool else None,
        "level": shown.level,
    }
    return render_page(page, data, _SCRIPTS)


def _choose_shown(manifest: ComparisonManifest, slices: Slices[ComparedSlice]) -> Shown:
    """What the page shows, with the metrics of the declared family first."""
    family, everything = manifest.declared_family, slices.shown[0]
    by_i = {name for curves in everything.curves.values() for name in curves}
    names = (*everything.at_end, *sorted(by_i))
    words = glossary(names, groups_in(names), manifest.has_own_ideal)
    at_end = [
        words.by_name[name]
        for name in dict.fromkeys((*family, *everything.at_end))
        if name in everything.at_end
    ]
    confidence = manifest.request.tests.options.confidence
    return Shown(
        manifest,
        slices,
        declared=[definition for definition in at_end if definition.metric.name in family],
        further=[definition for definition in at_end if definition.metric.name not in family],
        by_i=[definition for definition in words.by_iteration if definition.metric.name in by_i],
        words=words,
        rows={name: read_comparison_row(row) for name, row in everything.at_end.items()},
        columns=all_columns(manifest.design == "paired", manifest.request.correction),
        level=level(confidence),
        alpha=data_text(1 - confidence),
    )


def _title(manifest: ComparisonManifest) -> str:
    base, candidate = (
        shorten(arm.label, _LONGEST_TITLE) for arm in (manifest.base, manifest.candidate)
    )
    return f"Good Gain comparison: {base} and {candidate}"


def _party(name: str, arm: ComparedRun) -> tuple[str, str, str]:
    finished = f", finished {arm.finished[:16].replace('T', ' ')} UTC"
    more = format_count(arm.conversations, "conversation") + finished
    return name, shorten(arm.label, _LONGEST_LABEL), more


def _slice_menu(slices: Slices[ComparedSlice], paired: bool) -> Menu | None:
    if len(slices.shown) < 2:
        return None
    options = []
    for at, slice_ in enumerate(slices.shown):
        n = " and ".join(map(count_text, slice_.n[: 1 if paired else 2]))
        options.append((str(at), f"{slice_.label} (n = {n})"))
    return Menu("slice", "Show", (("", tuple(options)),))


def _pool_section(pool: ComparedPool, documents: Iterable[_Row]) -> Section:
    found = convert(list(documents), tuple[FoundDocument, ...])
    return pool_section(replace(pool, documents=found), pool.folder)


def _reason(shown: Shown, examples: Examples) -> str | None:
    """Why the metric that selects the examples is not comparable."""
    row = shown.rows.get(examples.metric)
    return row.reason if row else None


def _good_from(manifest: ComparisonManifest) -> str:
    base, candidate = manifest.base.good_gain_threshold, manifest.candidate.good_gain_threshold
    return str(base) if base == candidate else f"{base} (base) and {candidate} (candidate)"


def _names_of_texts(shown: Shown) -> list[str]:
    row = next(iter(shown.rows.values()), None)
    return [] if row is None else list(texts_of_comparison(row, shown.columns))


def _pool_data(pool: ComparedPool) -> list[dict[str, Any]]:
    """The share of the pool that each arm had found by i, with its texts."""
    return [
        {**point, "texts": point_texts({**point, "metric": _SHARE_BY_I})}
        for point in map(asdict, pool.shares)
    ]
