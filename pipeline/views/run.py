"""The text at the end of a run: means, clusters, what became of the records, output folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, takewhile
from math import sqrt
from typing import Any

from rich.console import Console
from rich.text import Text
from scipy.special import stdtrit

from goodgain.pipeline.document.console import (
    message_console,
    plain_table,
    print_line,
    result_console,
)
from goodgain.pipeline.document.numbers import (
    difference_text,
    mean_interval_text,
    mean_text,
)
from goodgain.pipeline.document.safe_text import printable
from goodgain.pipeline.results import data_warnings
from goodgain.pipeline.results.datasets import REJECTED
from goodgain.pipeline.results.folder import MANIFEST, REPORT, read_dataset
from goodgain.pipeline.results.manifest import above_limit
from goodgain.pipeline.results.readers import MeansWanted, read_means
from goodgain.pipeline.views.pages.definitions import Definition, glossary_of
from goodgain.transforms.core.means.clusters import few_effective
from goodgain.transforms.core.scoring.costs import cost_metric
from goodgain.transforms.core.scoring.metric_by_name import labels, metric_by_name
from goodgain.transforms.core.scoring.registry import CONVERSATION_METRICS, cautions
from goodgain.transforms.core.wording import counted, no_interval, pluralize
from goodgain.transforms.filesystems import join

# The headline: gain, efficiency, repetition, and the iterations until all good results.
_HEADLINE = (
    "CG", "DCG", "RAG", "DRAG", "SRE", "SRR",
    "iterations_for_all_good_results", "iterations_after_last_good", "N", "R",
)  # fmt: skip
_OWN_IDEAL = (
    "own ideal: the ideal list has only what this run found; comparable between runs only with "
    "the same judgments (--qrels or --pool)."
)
_SLICES = MeansWanted(metrics=frozenset(("N",)), at_end=True)
_AT_END = MeansWanted(at_end=True)
_SHOWN_REASONS = 3
_SHOWN_CHANGED = 3
_MORE_CHANGED = ("more file has", "more files have")
_CLUSTERED = ("CG", "DCG", "RAG", "DRAG", "SRE", "SRR")
_CONFIDENCE, _POWER = 0.95, 0.8
_ALONE = (
    "conversation without it is a cluster of its own",
    "conversations without it are clusters of their own",
)


def print_summary(folder: str, manifest: Mapping[str, Any]) -> None:
    """Print the summary of a run whose outputs are published."""
    console = result_console()
    for warning in _warning_lines(manifest):  # above the numbers that they affect
        print_line(console, warning)
        print_line(console, "")
    overall = list(takewhile(_is_of_everything, read_means(folder)))  # they come first
    costs = dict.fromkeys(row["metric"] for row in overall if cost_metric(row["metric"]))
    definitions = glossary_of(manifest, costs).by_name
    _print_means(console, overall, definitions)
    _print_clusters(console, overall, manifest)
    at_end = [row for row in overall if row["i"] is None]
    parameters = manifest["parameters"]
    slices = read_means(folder, _SLICES) if parameters.get("slice") else ()
    for line in chain(
        _record_lines(manifest),
        data_warnings.unknown_costs(at_end),
        _everyone_lines(at_end, definitions),
        data_warnings.unknown_attributes(row["slice"] for row in slices),
        _changed_lines(manifest["inputs"]),
        _rejected_lines(folder, manifest["records"], parameters["max_rejected"]),
        ("", f"Outputs: {folder} ({', '.join(manifest['datasets'])}, {MANIFEST})"),
        (f"Report:  {join(folder, REPORT)}",),
    ):
        print_line(console, line)


def print_if_wrong(folder: str, manifest: Mapping[str, Any]) -> None:
    """Print the summary if bad data make the exit code 3, else only findings, on stderr."""
    if data_warnings.is_bad(manifest):
        print_summary(folder, manifest)
        return
    at_end = list(takewhile(_is_of_everything, read_means(folder, _AT_END)))
    slices = (row["slice"] for row in read_means(folder, _SLICES))
    console = message_console()
    for warning in _warning_lines(manifest):
        print_line(console, warning)
    for line in (
        *data_warnings.misspelt_names(at_end, slices, manifest),
        *_changed_lines(manifest["inputs"]),
    ):
        print_line(console, line)


def _warning_lines(manifest: Mapping[str, Any]) -> Iterator[Text]:
    fatal = data_warnings.failing_in(manifest)
    for warning in data_warnings.warnings_in(manifest):
        ending = " The exit code is 3." if warning in fatal else ""
        yield Text(printable(data_warnings.warning_text(warning)) + ending, style="yellow")


def _print_means(
    console: Console, means: list[dict[str, Any]], definitions: Mapping[str, Definition]
) -> None:
    at_end = {
        row["metric"]: row for row in means if row["i"] is None and row["population"] == "all"
    }
    if not any(row["n"] or row["undefined"] for row in at_end.values()):
        print_line(console, "There are no means, since every conversation is excluded.")
        return
    table = plain_table()
    for heading in ("metric", "mean", "95 % interval", "median", "n", "undefined"):
        table.add_column(
            heading, justify="left" if heading == "metric" else "right", overflow="fold"
        )
    known = {metric.name for metric in CONVERSATION_METRICS}
    chosen = [name for name in at_end if name not in known]
    for name in (*_HEADLINE, *chosen):
        row = at_end[name]
        table.add_row(
            definitions[name].label,
            mean_text(name, row["mean"]),
            mean_interval_text(row),
            mean_text(name, row["p50"]),
            f"{row['n']:,}",
            f"{row['undefined']:,}" if row["undefined"] else "",
        )
    console.print(table)
    print_line(console, "")
    if any(definitions[name].own_ideal for name in chosen):
        print_line(console, _OWN_IDEAL)
    noted: dict[str, list[str]] = {}
    for name in (*_HEADLINE, *chosen):
        if at_end[name]["ci_low"] is None and at_end[name]["note"]:
            noted.setdefault(at_end[name]["note"], []).append(name)
    for note, names in noted.items():
        why = no_interval(note, labels(names))
        print_line(console, f"{why[0].upper()}{why[1:]}.")
    for caution, cautioned in cautions(_HEADLINE).items():
        print_line(console, f"{', '.join(cautioned)}: {caution}")


def _print_clusters(
    console: Console, means: list[dict[str, Any]], manifest: Mapping[str, Any]
) -> None:
    """Print what clusters show about the variance of metrics, and what a gate can detect."""
    attribute = manifest["parameters"].get("cluster")
    if attribute is None:
        return
    alone = manifest["conversations"].get("without_cluster", 0)
    rows = {row["metric"]: row for row in means if row["i"] is None and row["population"] == "all"}
    if line := data_warnings.unshared_cluster(rows.values(), manifest):
        print_line(console, f"\n{line}")
        return
    print_line(
        console,
        f"\nClusters by {attribute}"
        + (f"; {counted(alone, *_ALONE)}" if alone else "")
        + f". Smallest true change that one two-sided test at {100 * (1 - _CONFIDENCE):.0f} % "
        f"finds in {_POWER * 100:g} % of cases: `paired` if both runs repeat the same values of "
        f"{attribute}, are paired by them, and all of these change equally (otherwise it is "
        "larger); `unpaired` if they have different values:",
    )
    table = plain_table("metric", "clusters", "variance between clusters", "paired", "unpaired")
    uneven = False
    for name in _CLUSTERED:
        row = rows[name]
        paired, unpaired = detectable(row)
        correlation = row["intraclass_correlation"]
        if few_effective(row["clusters"], row["effective_clusters"]):
            paired, unpaired, uneven = None, None, True
        table.add_row(
            metric_by_name(name).label,
            f"{row['clusters'] or 0:,}",
            "-" if correlation is None else f"{100 * correlation:.0f} %",
            difference_text(name, paired, signed=False),
            difference_text(name, unpaired, signed=False),
        )
    console.print(table)
    if uneven:
        print_line(
            console,
            "No `paired` or `unpaired` where a few clusters have most of the conversations: they "
            "would not be reliable.",
        )
    if any((rows[name]["intraclass_correlation"] or 0) < 0 for name in _CLUSTERED):
        print_line(
            console,
            f"Below 0 %: conversations with the same {attribute} differ as much as any others, so "
            "the share counts as 0 %.",
        )


def detectable(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The true differences from a run like this one that a test detects with 80 % power.

    The test is two-sided at 5 % and finds a true difference of (t[97.5 %] + t[80 %]) standard
    errors of the difference with that power. The standard error is sqrt(2) times that of one run:

    * paired by G queries with the same repeats in both runs, each weighing the same:
      `stderr_within` with G - 1 degrees of freedom. What differs between queries cancels out.
    * with other queries, as many as here and repeated like these: the clustered standard error of
      each mean, which contains the variance between queries, with Welch's degrees of freedom, which
      are 2 (G - 1) for runs alike.

    Args:
      row: a row of `means` from a run with clusters.

    Returns:
      The difference paired, and that unpaired; None if unknown.
    """
    if not row["clusters"] or row["clusters"] < 2 or not row["stderr"]:
        return None, None
    freedom = row["clusters"] - 1
    paired = row["stderr_within"]
    if paired is not None:
        paired *= _standard_errors(freedom) * sqrt(2)
    return paired, _standard_errors(2 * freedom) * sqrt(2) * row["stderr"]


def _standard_errors(degrees_of_freedom: int) -> float:
    """The number of standard errors of a difference that is detected."""
    quantiles = ((1 + _CONFIDENCE) / 2, _POWER)
    return sum(float(stdtrit(degrees_of_freedom, one)) for one in quantiles)


def _everyone_lines(
    means: list[dict[str, Any]], definitions: Mapping[str, Definition]
) -> Iterator[str]:
    """The headline with the conversations that never searched, if there are any."""
    rows = {row["metric"]: row for row in means if row["population"] == "everyone"}
    means_of_everyone = [
        f"{definitions[name].label} {mean_text(name, row['mean'])} ({mean_interval_text(row)})"
        for name in ("CG", "RAG", "SRE")
        if (row := rows.get(name)) and row["mean"] is not None
    ]
    if means_of_everyone:
        yield (
            "Including conversations without search, with gain 0 (population everyone): "
            f"{', '.join(means_of_everyone)}."
        )


def _is_of_everything(row: Mapping[str, Any]) -> bool:
    return not row["slice"]


def _changed_lines(inputs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    changed = [file for file in inputs if "size_after" in file]
    for file in changed[:_SHOWN_CHANGED]:
        after = "is gone" if file["size_after"] is None else f"has {file['size_after']:,}"
        yield (
            f"Note: {file['path']} had {file['size']:,} bytes before the run and {after} now; run "
            "again once nothing writes to it."
        )
    if len(changed) > _SHOWN_CHANGED:
        yield f"Note: {counted(len(changed) - _SHOWN_CHANGED, *_MORE_CHANGED)} changed."


def _record_lines(manifest: Mapping[str, Any]) -> Iterator[str]:
    """What became of conversations, records, results, labels and judgments."""
    records, conversations, results = (
        manifest[part] for part in ("records", "conversations", "results")
    )
    yield (
        f"\nConversations: {conversations['total']:,}, of which {conversations['in_means']:,} in "
        f"the means; excluded: {conversations['without_search']:,} without search, "
        f"{conversations['with_rejected_records']:,} with rejected records."
    )
    yield (
        f"Records: {records['read']:,} read = {records['scored']:,} scored + "
        f"{records['earlier_turn']:,} of earlier turns + {records['redelivered']:,} redelivered + "
        f"{records['rejected']:,} rejected + {records['late']:,} late."
    )
    yield (
        f"Results: {results['total']:,}, of which {results['duplicates']:,} duplicates and "
        f"{results['unlabelled']:,} unlabelled."
    )
    if given := manifest.get("labels"):
        yield (
            f"Labels: {given['read']:,} read = {given['joined']:,} joined + "
            f"{given['repeated']:,} repeated + {given['empty']:,} empty + "
            f"{given['rejected']:,} rejected; "
            f"{counted(given['replaced'], 'replaces', 'replace')} another of the traces."
        )
    if qrels := manifest.get("qrels"):
        without_judgment = qrels["results_without_judgment"]
        without_judgments = qrels["topics_without_judgments"]
        yield (
            f"Judgments: {counted(qrels['judgments'], 'document')}, of which "
            f"{counted(qrels['never_retrieved'], 'was', 'were')} never retrieved; "
            f"{counted(without_judgment, 'result has', 'results have')} no judgment."
        )
        yield (
            f"Topics: {qrels['topics']:,} with judgments, of which "
            f"{qrels['topics_without_conversation']:,} without conversation; "
            f"{without_judgments:,} of conversations "
            f"{pluralize(without_judgments, 'has', 'have')} no judgments."
        )
        if without_id := qrels["results_without_id"]:
            results_without_id = counted(without_id, "result")
            yield f"Not joined: {results_without_id} without the id that --qrels-id names."


def _rejected_lines(folder: str, records: Mapping[str, Any], max_rejected: str) -> Iterator[str]:
    if not records["rejected"]:
        return
    limit = f"; {above_limit(records, f'--max-rejected {max_rejected}')}, so the exit code is 3"
    yield (
        f"Rejected: {records['rejected']:,} of {records['read']:,} records, all in the dataset "
        f"`{REJECTED.name}`{limit if records['too_many_rejected'] else ''}:"
    )
    rows = list(islice(read_dataset(folder, REJECTED.name), _SHOWN_REASONS + 1))
    for row in rows[:_SHOWN_REASONS]:
        yield "  " + printable(f"{row['source']}, {row['position']}: {row['reason']}")
    if len(rows) > _SHOWN_REASONS:
        yield "  ..."
