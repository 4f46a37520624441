"""The report of one comparison, from its outputs to HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from goodgain.pipeline.results.datasets import ARMS, COMPARISON, DIFFERENCES, POOL_DOCUMENTS
from goodgain.pipeline.results.folder import read_dataset
from goodgain.pipeline.results.unlabelled_arms import ShownRows, WithoutLabels
from goodgain.pipeline.views.pages.comparison_slices import (
    PARTS,
    ComparedSlice,
    arm_costs,
    arrange,
    pairs_by_metric,
    slice_data,
)
from goodgain.pipeline.views.pages.definitions import glossary
from goodgain.pipeline.views.pages.render import render_page
from goodgain.pipeline.views.pages.texts import MEAN_TEXTS, compared_texts, point_texts
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.groups import groups_in

_SCRIPTS = ("costs.js", "comparison/plots.js", "comparison/pool.js", "comparison/report.js")
_ARMS = ("base", "candidate")
_MOST_EXAMPLES = 25
_MOST_CARDS = 12
_MOST_TOPICS = 12  # with documents that one arm alone found
_MOST_DOCUMENTS = 5  # per topic and arm
# In the order of the counts in the report.
_VERDICTS = ("better", "worse", "changed", "not shown", "not tested", "not comparable")
_SHARE_BY_I = "pool_recall_at_i"
_Row = Mapping[str, Any]


def build_comparison_report(folder: str, manifest: Mapping[str, Any]) -> bytes:
    """Build `report.html` from the outputs of a comparison.

    Raises:
      UsageError: some of its rows are missing.
    """
    family = manifest["declared_family"]
    # 0.1.0 showed rows as they are.
    shown = ShownRows(WithoutLabels(**one) for one in manifest.get("without_labels", ()))
    compared = map(shown.compared, read_dataset(folder, COMPARISON.name))
    slices = arrange(compared, family, manifest["request"]["correction"])
    everything = slices.shown[0]
    by_i = {name for curves in everything.curves.values() for name in curves}
    names = (*everything.at_end, *sorted(by_i))
    words = glossary(names, groups_in(names), partial(_has_own_ideal, manifest))
    # The metrics at N, those of the family first.
    at_end = [
        words.by_name[name]
        for name in dict.fromkeys((*family, *everything.at_end))
        if name in everything.at_end
    ]
    declared = [one for one in at_end if one.metric.name in family]
    curves = [one for one in words.by_iteration if one.metric.name in by_i]
    rows = [(one, everything.at_end[one.metric.name]) for one in at_end]
    declared_rows = rows[: len(declared)]
    verdicts = Counter(row["verdict"] for _, row in declared_rows)
    arms = map(shown.of_arm, read_dataset(folder, ARMS.name))
    costs, costs_by_slice = arm_costs(arms, slices.shown)
    pairs = pairs_by_metric(read_dataset(folder, DIFFERENCES.name), family)
    paired = manifest["design"] == "paired"
    confidence = manifest["request"]["tests"]["options"]["confidence"]
    pool, examples = manifest.get("pool"), manifest["examples"]
    base, candidate = (manifest[name]["parameters"] for name in _ARMS)
    thresholds = [one["good_gain_threshold"] for one in (base, candidate)]
    context = {
        "manifest": manifest,
        "metric_by_name": metric_by_name,
        "warnings": _warnings(manifest),
        "glossary": words,
        "slices": slices,
        "everything": everything,
        "paired": paired,
        "level": f"{confidence * 100:g} %",
        "alpha": f"{1 - confidence:.6g}",
        "at_end": at_end,
        "by_i": curves,
        "family": declared,
        "further": at_end[len(declared) :],
        "rows": rows,
        "declared": declared_rows,
        "everyone": [
            (one.label, row) for one, row in declared_rows if row["population"] == "everyone"
        ],
        "cards": declared_rows[:_MOST_CARDS],
        "verdicts": [(verdict, verdicts[verdict]) for verdict in _VERDICTS if verdicts[verdict]],
        "costs": costs,
        "pairs": pairs,
        "accounts": [(name, one) for name in _ARMS if (one := manifest[f"{name}_account"])],
        "examples": [
            (
                title,
                [(one, _numbers_of(one)) for one in examples[kind][:_MOST_EXAMPLES]],
                max(0, len(examples[kind]) - _MOST_EXAMPLES),
            )
            for title, kind in (("Largest wins", "wins"), ("Largest losses", "losses"))
            if examples
        ],
        "sensitivity": _by_metric(map(shown.compared, manifest["sensitivity"] or ())),
        "pool": pool,
        "good_documents": sum(pool[name] for name in (*_ARMS, "both", "neither")) if pool else 0,
        "one_sided": _one_sided(read_dataset(folder, POOL_DOCUMENTS.name)),
        "parameters": [
            (name, base.get(name), candidate.get(name))
            for name in dict.fromkeys((*base, *candidate))
        ],
        "good_from": str(thresholds[0])
        if thresholds[0] == thresholds[1]
        else f"{thresholds[0]} (base) and {thresholds[1]} (candidate)",
    }
    data = {
        "parts": list(PARTS),
        "texts": _names_of_texts(everything, paired),
        "mean_texts": MEAN_TEXTS,
        "slices": [slice_data(one, paired) for one in slices.shown],
        "metrics": {
            "end": {one.metric.name: one.menu for one in at_end},
            "iteration": {one.metric.name: one.menu for one in curves},
        },
        "declared": [one.metric.name for one in declared],
        "arms": costs_by_slice,
        "pairs": pairs,
        "pool": _pool_data(pool) if pool else None,
        "level": f"{confidence * 100:g} %",
    }
    return render_page("comparison/report.html", context, data, _SCRIPTS)


def _names_of_texts(one: ComparedSlice, paired: bool) -> list[str]:
    row = next(iter(one.at_end.values()), None)
    return [] if row is None else list(compared_texts(row, paired))


def _pool_data(pool: _Row) -> list[dict[str, Any]]:
    """The share of the pool that each arm had found by i, with its texts."""
    return [{**one, "texts": point_texts({**one, "metric": _SHARE_BY_I})} for one in pool["shares"]]


def _warnings(manifest: Mapping[str, Any]) -> list[tuple[str, _Row]]:
    """Those of the comparison, and of both runs with their arm; once if these are the same run."""
    arms = [("Base", manifest["base"]), ("Candidate", manifest["candidate"])]
    if manifest["base"]["folder"] == manifest["candidate"]["folder"]:
        arms = [("Both arms", manifest["base"])]
    own = [("Comparison", warning) for warning in manifest.get("warnings", [])]
    return own + [(arm, warning) for arm, run in arms for warning in run.get("warnings", [])]


def _numbers_of(example: _Row) -> list[tuple[Metric, tuple[Any, Any]]]:
    """The metrics of an example with their values in both arms; the one it was chosen by too."""
    base = {example["metric"]: example["base_value"], **example["base_numbers"]}
    candidate = {example["metric"]: example["candidate_value"], **example["candidate_numbers"]}
    return [(metric_by_name(name), (value, candidate[name])) for name, value in base.items()]


def _by_metric(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    by_metric: dict[str, list[_Row]] = {}
    for row in rows:
        by_metric.setdefault(row["metric"], []).append(row)
    return by_metric


def _one_sided(rows: Iterable[_Row]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The pool documents that only the base or only the candidate found, for the first topics."""

    def best_first(row: _Row) -> tuple[int, int]:
        return -row["label"], row["number"]

    topics: dict[str, dict[str, list[_Row]]] = {}
    for row in rows:
        if row["found_by"] in _ARMS:
            topic = row["topic"] if row["topic"] is not None else row["conversation_id"]
            topics.setdefault(topic, {name: [] for name in _ARMS})[row["found_by"]].append(row)
    return [
        (
            topic,
            [
                {
                    "arm": arm,
                    "count": len(documents),
                    "documents": sorted(documents, key=best_first)[:_MOST_DOCUMENTS],
                }
                for arm, documents in by_arm.items()
            ],
        )
        for topic, by_arm in list(topics.items())[:_MOST_TOPICS]
    ]


def _has_own_ideal(manifest: Mapping[str, Any], metric: Metric) -> bool:
    # Comparisons of earlier versions have no metrics of aspects.
    shared = manifest.get("shared_aspects", False)
    return metric.own_ideal and not (shared if metric.of_aspects else manifest["shared_judgments"])
