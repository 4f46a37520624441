"""What a person reads at the end of a run: means, who stayed out and why, where things lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline.cli.console import plain_table, result_console
from pipeline.outputs.datasets import MEANS
from pipeline.outputs.folder import MANIFEST, read_dataset
from transforms.core.registry import CONVERSATION_METRICS

# The headline: what was gathered, how efficiently, how much was repeated, how soon it was there.
_HEADLINE = (
    "CG", "DCG", "RAG", "DRAG", "SRE", "SRR",
    "iterations_for_all_good_results", "iterations_after_last_good", "N", "R",
)  # fmt: skip
_SHOWN_REASONS = 3


def print_summary(folder: str, manifest: Mapping[str, Any]) -> None:
    """Print the end of a run.

    Args:
      folder: the output folder, published.
      manifest: its manifest.
    """
    console = result_console()
    means = [row for row in read_dataset(folder, MEANS.name) if not row["slice"]]
    _print_means(console, means)
    _print_records(console, manifest)
    console.print(f"\nOutputs: {folder} ({', '.join(manifest['datasets'])}, {MANIFEST})")


def _print_means(console: Console, means: list[dict[str, Any]]) -> None:
    at_end = {row["metric"]: row for row in means if row["i"] is None}
    if not at_end:
        console.print("No conversation searched, so there are no means.")
        return
    table = plain_table()
    for heading in ("metric", "mean", "95 % interval", "median", "n", "undefined"):
        table.add_column(heading, justify="left" if heading == "metric" else "right")
    known = {metric.name for metric in CONVERSATION_METRICS}
    for name in (*_HEADLINE, *(name for name in at_end if name not in known)):
        _add_mean(table, at_end[name])
    console.print(table)


def _add_mean(table: Table, row: Mapping[str, Any]) -> None:
    low, high = row["ci_low"], row["ci_high"]
    interval = "-" if low is None else f"{_number(low)} .. {_number(high)}"
    table.add_row(
        row["metric"],
        _number(row["mean"]),
        interval,
        _number(row["p50"]),
        f"{row['n']:,}",
        f"{row['undefined']:,}" if row["undefined"] else "",
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _print_records(console: Console, manifest: Mapping[str, Any]) -> None:
    records, conversations, results = (
        manifest[part] for part in ("records", "conversations", "results")
    )
    console.print(
        f"\nConversations: {conversations.get('total', 0):,}, of which "
        f"{conversations.get('in_means', 0):,} in the means; out stay "
        f"{conversations.get('without_search', 0):,} that did not search and "
        f"{conversations.get('with_rejected_records', 0):,} with rejected records."
    )
    console.print(
        f"Records: {records['read']:,} read = {records['scored']:,} scored + "
        f"{records['earlier_turn']:,} of earlier turns + {records['redelivered']:,} redelivered + "
        f"{records['rejected']:,} rejected + {records['late']:,} late."
    )
    console.print(
        f"Results: {results.get('total', 0):,}, of which {results.get('duplicates', 0):,} "
        f"duplicates and {results.get('unlabelled', 0):,} unlabelled."
    )
    if "qrels" in manifest:
        _print_qrels(console, manifest["qrels"])
    if records["rejected"]:
        console.print(
            "Rejected records are in the dataset `rejected`, each with its place and reason"
            + ("; there are more than --max-rejected." if records["too_many_rejected"] else ".")
        )


def _print_qrels(console: Console, qrels: Mapping[str, Any]) -> None:
    console.print(
        f"Judgments: {qrels['judgments']:,} documents, of which {qrels['never_retrieved']:,} were "
        f"never retrieved; {qrels['results_without_judgment']:,} results have no judgment."
    )
    console.print(
        f"Topics: {qrels['topics']:,} with judgments, of which "
        f"{qrels['topics_without_conversation']:,} without conversation; "
        f"{qrels['topics_without_judgments']:,} of conversations have no judgments."
    )
    lost = (
        (qrels["results_without_id"], "results without the id that --qrels-id names"),
        (qrels["records_without_topic"], "records without the attribute that --qrels-topic names"),
    )
    for number, what in lost:
        if number:
            console.print(f"Not joined: {number:,} {what}.")
