"""The report of a run, from its outputs to HTML (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.numbers import count_text, number, share, value_text
from goodgain.pipeline.document.safe_text import shortened
from goodgain.pipeline.results.datasets import REJECTED
from goodgain.pipeline.results.folder import read_columns, read_dataset, read_manifest
from goodgain.pipeline.results.manifest import check_run
from goodgain.pipeline.results.wanted_means import read_means
from goodgain.pipeline.settings.explain_command import explain_command
from goodgain.pipeline.studies.survey import Rejection, Rejections
from goodgain.pipeline.views.noteworthy import each_once, noteworthy
from goodgain.pipeline.views.outcomes import outcome_views
from goodgain.pipeline.views.pages.definitions import Definition, glossary_of
from goodgain.pipeline.views.pages.histograms import Histograms
from goodgain.pipeline.views.pages.render import render_page
from goodgain.pipeline.views.pages.slices import read_slices, slice_data
from goodgain.pipeline.views.pages.texts import MEAN_TEXTS, bin_texts
from goodgain.pipeline.views.repeats import repeats_table
from goodgain.pipeline.views.way import WaySums, losses
from goodgain.transforms.core.dedup.verification import Step
from goodgain.transforms.core.metrics.budgets import budget_of
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.costs import COST, COSTS
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.duplicate_rows import UNTYPED

_SCRIPTS = ("plots.js", "costs.js", "report.js")
_MOST_INPUTS = 50
_LONGEST_DIMENSION = 60
_NO_SEARCH = "No conversation that searched could be evaluated."
_Row = Mapping[str, Any]
_LONGEST_ID = 80
_LONGEST_ATTRIBUTE = 40
_MOST_ATTRIBUTES = 8
_LONGEST_NAME = 40
_MOST_TYPES = 30

# For each step of SPEC 4.3, why two results are the same document, and why they are not.
_STEPS: Mapping[Step, tuple[str, str]] = {
    Step.TYPE: ("", "their types differ"),
    Step.PASSAGE: ("", "the ids of passages, or their texts, differ"),
    Step.IDS: ("an id that identifies the document is the same", "an id differs"),
    Step.URL: ("the URL is the same", "host or path of the URL differs"),
    Step.URL_IDENTITY: ("", "a query parameter that names the document differs"),
    Step.URL_TEXT: (
        "the URL without its query is the same, and so is the text",
        "the URL without its query is the same, but the text differs",
    ),
    Step.FIELDS: ("enough fields of its type agree", "a field of its type differs"),
    Step.GENERIC_ID: ("the generic id is the same and nothing contradicts it", ""),
    Step.NAMED_ID: ("another id is the same and nothing contradicts it", ""),
    Step.IDENTICAL: ("all known fields are the same", ""),
    Step.INCONCLUSIVE: ("", "too few fields are known to decide"),
}


def build_report(folder: str, manifest: Mapping[str, Any] | None = None) -> bytes:
    """Build `report.html` from the outputs of a run: one file that loads nothing.

    Each dataset is read in one pass, but `means`, from which only some rows are read at a time.

    Args:
      manifest: by default the one in the folder.

    Raises:
      UsageError: the folder is not the output of a run.
    """
    manifest = read_manifest(folder) if manifest is None else manifest
    check_run(manifest, folder)
    parameters, results = manifest["parameters"], manifest["results"]
    glossary = glossary_of(manifest, read_columns(folder, "conversations"))
    definitions = glossary.by_name
    slices = read_slices(
        lambda wanted: _clipped(read_means(folder, wanted)), parameters.get("slice", ())
    )
    metrics = [one.metric for one in glossary.measures + glossary.ranking_of_conversations]
    histograms = Histograms(metrics, slices.shown)
    way = WaySums([dict(one.attributes) for one in slices.shown])
    lists = noteworthy()
    for row in read_dataset(folder, "conversations"):
        if row["N"] and not row["rejected_records"]:
            histograms.add(row)
            way.add(row)
            for one in lists:
                one.add(row)
    lists = each_once(lists)
    identities = {row["conversation_id"] for one in lists for row in one.rows}
    iterations: dict[str, list[_Row]] = {identity: [] for identity in identities}
    for row in read_dataset(folder, "iterations", identities):
        iterations[row["conversation_id"]].append(row)
    everything = slices.everything
    rows = everything.at_end if everything else {}
    everyone = everything.everyone if everything else {}
    inputs = manifest.get("inputs", [])
    costs = _costs(rows)
    context = {
        "manifest": manifest,
        "warnings": [("", warning) for warning in manifest.get("warnings", [])],
        "glossary": glossary,
        "slices": slices,
        "everything": everything,
        "answer": answer(rows),
        "repeated": rows.get("SRR"),
        "good_from": parameters["good_gain_threshold"],
        "headline": [(definitions[name], rows[name]) for name in headline_among("card", rows)],
        "outcomes": outcome_views(folder, rows, manifest),
        "repeats": repeats_table(rows, manifest),
        "ways": way.ways(),
        "losses": losses,
        "calls_in_vain": way.calls(),
        "everyone": [
            (one, everyone[one.metric.name])
            for one in glossary.at_end
            if one.metric.name in everyone
        ],
        "measures": [(one, rows[one.metric.name]) for one in glossary.measures if rows],
        "ranking": [
            (one, rows[one.metric.name]) for one in glossary.ranking if one.metric.name in rows
        ],
        "bounded": any(row.get("worst") is not None for row in rows.values()),
        "costs": costs,
        "lists": [(one, listed(one.rows, iterations, parameters)) for one in lists],
        "steps": [
            step_counts(results.get("duplicates_by_step", {}), same=True),
            step_counts(results.get("near_misses_by_step", {}), same=False),
        ],
        "rejections": _rejections(folder),
        "inputs": inputs[:_MOST_INPUTS],
        "inputs_left_out": len(inputs) - len(inputs[:_MOST_INPUTS]),
    }
    # The data of the plots, small enough for a page.
    data = {
        "slices": [  # the first has all conversations
            slice_data(one, histograms.of_slice(index), costs["names"] if costs else ())
            for index, one in enumerate(slices.shown)
        ],
        "dimensions": [  # for each combination of slice attributes, the indexes of its slices
            {
                "label": ", ".join(shortened(name, _LONGEST_DIMENSION) for name in names),
                "slices": positions,
            }
            for names, positions in slices.dimensions.items()
        ],
        "metrics": {
            "end": {one.metric.name: one.menu for one in glossary.at_end},
            "iteration": {one.metric.name: one.menu for one in glossary.by_iteration},
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
            [name, total, copies, _type_texts(total, copies)]
            for name, total, copies in type_counts(results)
        ],
        "texts": MEAN_TEXTS,
        "mean_texts": MEAN_TEXTS,
    }
    return render_page("report.html", context, data, _SCRIPTS)


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


def _costs(rows: Mapping[str, _Row]) -> dict[str, Sequence[Any]] | None:
    """The costs to show; None if no conversation in the means reported any.

    Returns:
      `names` of the costs, and `rows`: each metric with its row, cost by cost, then those within
      budgets, like CG@tokens<=3000.
    """
    names = [name for name in sorted(COSTS.names_in(rows)) if rows[COST + name]["n"]]
    if not names:
        return None
    metrics = [metric for name in names for metric in COSTS.of(name).metrics]
    metrics += [metric_by_name(name) for name in rows if budget_of(name) is not None]
    return {
        "names": names,
        "rows": [(Definition(one), rows[one.name]) for one in metrics if one.name in rows],
    }


def _clipped(means: Iterable[_Row]) -> Iterator[_Row]:
    """Rows of `means` with intervals clipped to the range of their metric."""
    for row in means:
        if row["ci_low"] is None:
            yield row
        else:
            within = metric_by_name(row["metric"]).within
            yield {**row, **{end: within(row[end]) for end in ("ci_low", "ci_high")}}


def _rejections(folder: str) -> list[Rejection]:
    rejections = Rejections()
    for row in read_dataset(folder, REJECTED.name):
        rejections.add(RejectedRecord(**row))
    return list(rejections.by_frequency())


def type_counts(results: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    """Entity types with their results and duplicates, most frequent first.

    Rare types share the last entry.
    """
    copies = results.get("duplicates_by_type", {})
    types = [
        (
            "(no type)" if name == UNTYPED else shortened(name, _LONGEST_NAME),
            total,
            copies.get(name, 0),
        )
        for name, total in results.get("results_by_type", {}).items()
    ]
    types.sort(key=lambda one: (-one[1], one[0]))
    if rare := types[_MOST_TYPES:]:
        _, totals, duplicates = zip(*rare, strict=True)
        types[_MOST_TYPES:] = [(f"{len(rare):,} other types", sum(totals), sum(duplicates))]
    return types


def _type_texts(total: int, copies: int) -> list[str]:
    """Results, duplicates, their share, and first occurrences."""
    return [*map(count_text, (total, copies)), share(copies, total), count_text(total - copies)]


def step_counts(pairs: Mapping[str, int], same: bool) -> list[tuple[str, str, int]]:
    """Steps with the reason for their decision and the number of pairs, most frequent first.

    Args:
      same: whether it decided that they are the same document.
    """
    meanings = {step.value: words[0 if same else 1] for step, words in _STEPS.items()}
    counts = [
        (name.replace("_", " "), meanings.get(name, ""), count) for name, count in pairs.items()
    ]
    return sorted(counts, key=lambda one: (-one[2], one[0]))


def listed(
    rows: Sequence[_Row], iterations: Mapping[str, Sequence[_Row]], parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Conversations as the page lists them.

    Args:
      iterations: their rows in the dataset `iterations` by id, in any order.

    Returns:
      For each its `row`, `name` and first `attributes` as text, `iterations` in order, and the
      `command` that explains it, None if that would be too long.
    """
    return [
        {
            "row": row,
            "name": shortened(row["conversation_id"], _LONGEST_ID),
            "attributes": _attributes(row["attributes"]),
            "iterations": sorted(iterations[row["conversation_id"]], key=lambda one: int(one["i"])),
            "command": explain_command(row["conversation_id"], parameters),
        }
        for row in rows
    ]


def _attributes(attributes: Mapping[str, str]) -> str:
    words = [
        f"{shortened(name, _LONGEST_ATTRIBUTE)} = {shortened(value, _LONGEST_ATTRIBUTE)}"
        for name, value in sorted(attributes.items())[:_MOST_ATTRIBUTES]
    ]
    more = len(attributes) - len(words)
    return ", ".join(words) + (f" and {more:,} more" if more else "")
