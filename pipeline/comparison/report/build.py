"""The report of one comparison, from its outputs to HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import asdict

from goodgain.pipeline.comparison.report.facts import ComparisonFacts, read_comparison, shown_rows
from goodgain.pipeline.comparison.report.pool import good_documents
from goodgain.pipeline.comparison.report.slices import PARTS, slice_data
from goodgain.pipeline.report.render import render_page
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.scoring.metric_by_name import metric_by_name

# The package of the page's templates and scripts, see `render_page`.
_PAGE = {"comparison": "goodgain.pipeline.comparison.report"}
_SCRIPTS = ("costs.js", "comparison/plots.js", "comparison/pool.js", "comparison/report.js")
_MOST_EXAMPLES = 25
_MOST_CARDS = 12
_THRESHOLD = "good_gain_threshold"
# In the order of the counts in the report.
_VERDICTS = ("better", "worse", "changed", "not shown", "not tested", "not comparable")


def build_comparison_report(folder: str, manifest: Mapping[str, Any]) -> bytes:
    """Build `report.html` from the outputs of a comparison."""
    facts = read_comparison(folder, manifest)
    template = "comparison/report.html"
    return render_page(template, _context(facts), _page_data(facts), _SCRIPTS, _PAGE)


def _context(facts: ComparisonFacts) -> dict[str, Any]:
    manifest, everything = facts.manifest, facts.slices.shown[0]
    confidence = manifest["request"]["tests"]["options"]["confidence"]
    declared = [(one, everything.at_end[one.metric.name]) for one in facts.declared]
    verdicts = Counter(row["verdict"] for _, row in declared)
    examples = manifest["examples"]
    return {
        "facts": facts,
        "manifest": manifest,
        "metric_by_name": metric_by_name,
        "warnings": _warnings(manifest),
        "glossary": facts.glossary,
        "everything": everything,
        "paired": manifest["design"] == "paired",
        "level": f"{confidence * 100:g} %",
        "alpha": f"{1 - confidence:.6g}",
        "declared": declared,
        "everyone": [(one.label, row) for one, row in declared if row["population"] == "everyone"],
        "cards": declared[:_MOST_CARDS],
        "verdicts": [(verdict, verdicts[verdict]) for verdict in _VERDICTS if verdicts[verdict]],
        "rows": [(one, everything.at_end[one.metric.name]) for one in facts.at_end],
        "accounts": [
            (name, manifest[f"{name}_account"])
            for name in ("base", "candidate")
            if manifest[f"{name}_account"]
        ],
        "examples": [
            (
                title,
                [(one, _numbers_of(one)) for one in examples[kind][:_MOST_EXAMPLES]],
                max(0, len(examples[kind]) - _MOST_EXAMPLES),
            )
            for title, kind in (("Largest wins", "wins"), ("Largest losses", "losses"))
        ]
        if examples
        else [],
        "sensitivity": _by_metric(
            map(shown_rows(manifest).compared, manifest["sensitivity"] or ())
        ),
        "pool": manifest.get("pool"),
        "good_documents": good_documents(manifest["pool"]) if manifest.get("pool") else 0,
        "one_sided": facts.one_sided,
        "parameters": _parameters(manifest),
        "good_from": _good_from(manifest),
    }


def _warnings(manifest: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Those of the comparison, and of both runs with their arm; once if these are the same run."""
    arms = [("Base", manifest["base"]), ("Candidate", manifest["candidate"])]
    if manifest["base"]["folder"] == manifest["candidate"]["folder"]:
        arms = [("Both arms", manifest["base"])]
    own = [("Comparison", warning) for warning in manifest.get("warnings", [])]
    return own + [(arm, warning) for arm, run in arms for warning in run.get("warnings", [])]


def _numbers_of(example: Mapping[str, Any]) -> list[tuple[Metric, tuple[Any, Any]]]:
    """The metrics of an example with their values in both arms; the one it was chosen by too."""
    base = {example["metric"]: example["base_value"], **example["base_numbers"]}
    candidate = {example["metric"]: example["candidate_value"], **example["candidate_numbers"]}
    return [(metric_by_name(name), (value, candidate[name])) for name, value in base.items()]


def _by_metric(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_metric.setdefault(row["metric"], []).append(row)
    return by_metric


def _parameters(manifest: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Each parameter of the runs: its name and both values."""
    base, candidate = (manifest[name]["parameters"] for name in ("base", "candidate"))
    names = dict.fromkeys((*base, *candidate))
    return [(name, base.get(name), candidate.get(name)) for name in names]


def _good_from(manifest: Mapping[str, Any]) -> str:
    """The threshold for good results, in words."""
    base, candidate = (manifest[name]["parameters"][_THRESHOLD] for name in ("base", "candidate"))
    return str(base) if base == candidate else f"{base} (base) and {candidate} (candidate)"


def _page_data(facts: ComparisonFacts) -> dict[str, Any]:
    manifest = facts.manifest
    return {
        "parts": list(PARTS),
        "slices": [slice_data(one) for one in facts.slices.shown],
        "metrics": {
            "end": {one.metric.name: one.menu for one in facts.at_end},
            "iteration": {one.metric.name: one.menu for one in facts.by_i},
        },
        "declared": [one.metric.name for one in facts.declared],
        "arms": facts.costs.by_slice,
        "pairs": {name: asdict(pairs) for name, pairs in facts.pairs.items()},
        "pool": manifest.get("pool"),
        "paired": manifest["design"] == "paired",
        "level": manifest["request"]["tests"]["options"]["confidence"],
    }
