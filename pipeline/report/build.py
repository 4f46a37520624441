"""The report of a run, from its outputs to HTML (SPEC 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goodgain.pipeline.manifest import check_run
from goodgain.pipeline.outputs.folder import read_manifest
from goodgain.pipeline.report.answer import answer
from goodgain.pipeline.report.costs import cost_facts
from goodgain.pipeline.report.facts import Facts, read_facts
from goodgain.pipeline.report.render import render_page
from goodgain.pipeline.report.slices import slice_data
from goodgain.pipeline.terminal.safe_text import shortened

_SCRIPTS = ("plots.js", "costs.js", "report.js")
# The metrics on the cards at the top.
_HEADLINE = ("CG", "SRE", "SRR", "iterations_for_all_good_results")
_MOST_INPUTS = 50
_LONGEST_DIMENSION = 60


def build_report(folder: str, manifest: Mapping[str, Any] | None = None) -> bytes:
    """Build `report.html` from the outputs of a run: one file that loads nothing.

    Args:
      manifest: by default the one in the folder.

    Raises:
      UsageError: the folder is not the output of a run.
    """
    manifest = read_manifest(folder) if manifest is None else manifest
    check_run(manifest, folder)
    facts = read_facts(folder, manifest)
    return render_page("report.html", _context(facts), _page_data(facts), _SCRIPTS)


def _context(facts: Facts) -> dict[str, Any]:
    everything = facts.slices.everything
    rows = everything.at_end if everything else {}
    definitions = facts.glossary.by_name
    inputs = facts.manifest.get("inputs", [])
    return {
        "facts": facts,
        "manifest": facts.manifest,
        "warnings": [("", warning) for warning in facts.manifest.get("warnings", [])],
        "glossary": facts.glossary,
        "everything": everything,
        "answer": answer(rows),
        "good_from": facts.manifest["parameters"]["good_gain_threshold"],
        "headline": [(definitions[name], rows[name]) for name in _HEADLINE if name in rows],
        "everyone": [
            (one, everything.everyone[one.metric.name])
            for one in facts.glossary.at_end
            if everything and one.metric.name in everything.everyone
        ],
        "measures": [(one, rows[one.metric.name]) for one in facts.glossary.measures if rows],
        "ranking": [
            (one, rows[one.metric.name])
            for one in facts.glossary.ranking
            if one.metric.name in rows
        ],
        "bounded": any(row.get("worst") is not None for row in rows.values()),
        "costs": cost_facts(everything),
        "inputs": inputs[:_MOST_INPUTS],
        "inputs_left_out": len(inputs) - len(inputs[:_MOST_INPUTS]),
    }


def _page_data(facts: Facts) -> dict[str, Any]:
    """The data of the plots, small enough for a page.

    Returns:
      slices: data of each slice; the first has all conversations.
      dimensions: for each combination of slice attributes, the indexes of its slices.
      metrics: menu entries of metrics, at the end and by iteration.
      bins: bins of the histogram of each metric.
      types: results and duplicates by entity type.
    """
    glossary = facts.glossary
    return {
        "slices": [
            slice_data(one, facts.histograms.of_slice(index))
            for index, one in enumerate(facts.slices.shown)
        ],
        "dimensions": [
            {
                "label": ", ".join(shortened(name, _LONGEST_DIMENSION) for name in names),
                "slices": positions,
            }
            for names, positions in facts.slices.dimensions.items()
        ],
        "metrics": {
            "end": {one.metric.name: one.menu for one in glossary.at_end},
            "iteration": {one.metric.name: one.menu for one in glossary.by_iteration},
        },
        "bins": {
            name: [bins.start, bins.width, bins.count, bins.single]
            for name, bins in facts.histograms.bins.items()
        },
        "types": [[one.name, one.results, one.duplicates] for one in facts.duplicate_counts.types],
    }
