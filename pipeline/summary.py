"""The text at the end of a run: means, excluded conversations with reasons, output folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from goodgain.pipeline.cluster_summary import print_clusters
from goodgain.pipeline.data_warnings import failing_in, is_bad, warning_text, warnings_in
from goodgain.pipeline.misspelt import misspelt_names, unknown_attributes, unknown_costs
from goodgain.pipeline.outputs.datasets import REJECTED
from goodgain.pipeline.outputs.folder import MANIFEST, REPORT, read_dataset
from goodgain.pipeline.outputs.readers import MeansWanted, read_means
from goodgain.pipeline.report.definitions import Definition, glossary_of
from goodgain.pipeline.terminal.console import (
    message_console,
    plain_table,
    print_line,
    result_console,
)
from goodgain.pipeline.terminal.metric_values import mean_interval_text, mean_text
from goodgain.pipeline.terminal.safe_text import printable
from goodgain.transforms.core.scoring.costs import cost_metric
from goodgain.transforms.core.scoring.metric_by_name import labels
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


def print_summary(folder: str, manifest: Mapping[str, Any]) -> None:
    """Print the summary of a run whose outputs are published."""
    console = result_console()
    _print_warnings(console, manifest)
    overall = list(takewhile(_is_of_everything, read_means(folder)))  # they come first
    costs = dict.fromkeys(row["metric"] for row in overall if cost_metric(row["metric"]))
    _print_means(console, overall, glossary_of(manifest, costs).by_name)
    print_clusters(console, overall, manifest)
    _print_records(console, manifest)
    at_end = [row for row in overall if row["i"] is None]
    for line in unknown_costs(at_end):
        print_line(console, line)
    _print_everyone(console, at_end, glossary_of(manifest).by_name)
    if manifest["parameters"].get("slice"):
        for line in unknown_attributes(row["slice"] for row in read_means(folder, _SLICES)):
            print_line(console, line)
    _print_changed(console, manifest["inputs"])
    _print_rejected(console, folder, manifest["records"], manifest["parameters"]["max_rejected"])
    print_line(console, "")
    print_line(console, f"Outputs: {folder} ({', '.join(manifest['datasets'])}, {MANIFEST})")
    print_line(console, f"Report:  {join(folder, REPORT)}")


def print_if_wrong(folder: str, manifest: Mapping[str, Any]) -> None:
    """Print the summary if bad data make the exit code 3, else only findings, on stderr."""
    if is_bad(manifest):
        print_summary(folder, manifest)
        return
    console = message_console()
    for line in _warning_lines(manifest):
        print_line(console, line)
    at_end = list(takewhile(_is_of_everything, read_means(folder, _AT_END)))
    slices = (row["slice"] for row in read_means(folder, _SLICES))
    for name_line in misspelt_names(at_end, slices, manifest):
        print_line(console, name_line)
    _print_changed(console, manifest["inputs"])


def _print_warnings(console: Console, manifest: Mapping[str, Any]) -> None:
    """Print the data warnings, above the numbers that they affect."""
    for line in _warning_lines(manifest):
        print_line(console, line)
        print_line(console, "")


def _warning_lines(manifest: Mapping[str, Any]) -> Iterator[Text]:
    fatal = failing_in(manifest)
    for warning in warnings_in(manifest):
        ending = " The exit code is 3." if warning in fatal else ""
        yield Text(printable(warning_text(warning)) + ending, style="yellow")


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
        _add_mean(table, at_end[name], definitions[name])
    console.print(table)
    print_line(console, "")
    if any(definitions[name].own_ideal for name in chosen):
        print_line(console, _OWN_IDEAL)
    _print_without_interval(console, [at_end[name] for name in (*_HEADLINE, *chosen)])
    for caution, cautioned in cautions(_HEADLINE).items():
        print_line(console, f"{', '.join(cautioned)}: {caution}")


def _print_without_interval(console: Console, rows: list[dict[str, Any]]) -> None:
    """Print why means have no interval, from their notes."""
    noted: dict[str, list[str]] = {}
    for row in rows:
        if row["ci_low"] is None and row["note"]:
            noted.setdefault(row["note"], []).append(row["metric"])
    for note, names in noted.items():
        why = no_interval(note, labels(names))
        print_line(console, f"{why[0].upper()}{why[1:]}.")


def _print_everyone(
    console: Console, means: list[dict[str, Any]], definitions: Mapping[str, Definition]
) -> None:
    """Print the headline with the conversations that never searched, if there are any."""
    rows = {row["metric"]: row for row in means if row["population"] == "everyone"}
    means_of_everyone = [
        f"{definitions[name].label} {mean_text(name, row['mean'])} ({mean_interval_text(row)})"
        for name in ("CG", "RAG", "SRE")
        if (row := rows.get(name)) and row["mean"] is not None
    ]
    if means_of_everyone:
        print_line(
            console,
            "Including conversations without search, with gain 0 (population everyone): "
            f"{', '.join(means_of_everyone)}.",
        )


def _is_of_everything(row: Mapping[str, Any]) -> bool:
    return not row["slice"]


def _add_mean(table: Table, row: Mapping[str, Any], definition: Definition) -> None:
    name = row["metric"]
    table.add_row(
        definition.label,
        mean_text(name, row["mean"]),
        mean_interval_text(row),
        mean_text(name, row["p50"]),
        f"{row['n']:,}",
        f"{row['undefined']:,}" if row["undefined"] else "",
    )


def _print_changed(console: Console, inputs: Sequence[Mapping[str, Any]]) -> None:
    changed = [file for file in inputs if "size_after" in file]
    for file in changed[:_SHOWN_CHANGED]:
        after = "is gone" if file["size_after"] is None else f"has {file['size_after']:,}"
        print_line(
            console,
            f"Note: {file['path']} had {file['size']:,} bytes before the run and {after} now; run "
            "again once nothing writes to it.",
        )
    if len(changed) > _SHOWN_CHANGED:
        print_line(
            console, f"Note: {counted(len(changed) - _SHOWN_CHANGED, *_MORE_CHANGED)} changed."
        )


def _print_records(console: Console, manifest: Mapping[str, Any]) -> None:
    records, conversations, results = (
        manifest[part] for part in ("records", "conversations", "results")
    )
    unsearched = conversations["without_search"]
    with_rejected = conversations["with_rejected_records"]
    both = unsearched + with_rejected + conversations["in_means"] - conversations["total"]
    print_line(
        console,
        f"\nConversations: {conversations['total']:,}, of which {conversations['in_means']:,} in "
        f"the means; excluded: {unsearched:,} without search, {with_rejected:,} with rejected "
        "records" + (f" ({both:,} of them for both reasons)." if both else "."),
    )
    print_line(
        console,
        f"Records: {records['read']:,} read = {records['scored']:,} scored + "
        f"{records['earlier_turn']:,} of earlier turns + {records['redelivered']:,} redelivered + "
        f"{records['rejected']:,} rejected + {records['late']:,} late.",
    )
    print_line(
        console,
        f"Results: {results['total']:,}, of which {results['duplicates']:,} duplicates and "
        f"{results['unlabelled']:,} unlabelled.",
    )
    if "labels" in manifest:
        labels = manifest["labels"]
        print_line(
            console,
            f"Labels: {labels['read']:,} read = {labels['joined']:,} joined + "
            f"{labels['repeated']:,} repeated + {labels['empty']:,} empty + "
            f"{labels['rejected']:,} rejected; "
            f"{counted(labels['replaced'], 'replaces', 'replace')} another of the traces.",
        )
    if "qrels" in manifest:
        _print_qrels(console, manifest["qrels"])


def _print_rejected(
    console: Console, folder: str, records: Mapping[str, Any], max_rejected: str
) -> None:
    if not records["rejected"]:
        return
    limit = f"; that is more than --max-rejected {max_rejected}, so the exit code is 3"
    print_line(
        console,
        f"Rejected: {records['rejected']:,} of {records['read']:,} records, all in the dataset "
        f"`{REJECTED.name}`{limit if records['too_many_rejected'] else ''}:",
    )
    rows = list(islice(read_dataset(folder, REJECTED.name), _SHOWN_REASONS + 1))
    for row in rows[:_SHOWN_REASONS]:
        print_line(
            console, "  " + printable(f"{row['source']}, {row['position']}: {row['reason']}")
        )
    if len(rows) > _SHOWN_REASONS:
        print_line(console, "  ...")


def _print_qrels(console: Console, qrels: Mapping[str, Any]) -> None:
    print_line(
        console,
        f"Judgments: {counted(qrels['judgments'], 'document')}, of which "
        f"{counted(qrels['never_retrieved'], 'was', 'were')} never retrieved; "
        f"{counted(qrels['results_without_judgment'], 'result has', 'results have')} no judgment.",
    )
    print_line(
        console,
        f"Topics: {qrels['topics']:,} with judgments, of which "
        f"{qrels['topics_without_conversation']:,} without conversation; "
        f"{qrels['topics_without_judgments']:,} of conversations "
        f"{pluralize(qrels['topics_without_judgments'], 'has', 'have')} no judgments.",
    )
    if without_id := qrels["results_without_id"]:
        results = counted(without_id, "result")
        console.print(f"Not joined: {results} without the id that --qrels-id names.")
