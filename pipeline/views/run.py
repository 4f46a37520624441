"""The document of a run: headline, what was asked for, and what became of the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from goodgain.pipeline.document.console import message_console, result_console
from goodgain.pipeline.document.model import (
    Document,
    Heading,
    Sentence,
    document,
    sentences,
)
from goodgain.pipeline.document.numbers import count_text, share
from goodgain.pipeline.document.terminal import show
from goodgain.pipeline.results import data_warnings
from goodgain.pipeline.results.folder import MANIFEST, REPORT
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.wanted_means import MeansWanted, read_means
from goodgain.pipeline.views.clusters import clusters_part
from goodgain.pipeline.views.means import (
    choose_metrics,
    everyone_part,
    means_part,
    means_table,
)
from goodgain.pipeline.views.outcomes import outcome_views, outcomes_part
from goodgain.pipeline.views.records import (
    changed_part,
    given_part,
    records_part,
    rejected_part,
)
from goodgain.pipeline.views.repeats import repeats_part
from goodgain.transforms.core.wording import format_count
from goodgain.transforms.filesystems import join

Row = Mapping[str, Any]
_SLICES = MeansWanted(metrics=frozenset(("N",)), at_end=True)
_AT_END = MeansWanted(at_end=True)


def print_summary(folder: str, manifest: RunManifest, highlights: Iterable[Sentence] = ()) -> None:
    """Print the document of a run whose outputs are published."""
    show(run_document(folder, manifest, highlights), result_console())


def print_if_wrong(folder: str, manifest: RunManifest, highlights: Iterable[Sentence] = ()) -> None:
    """Print the document if bad data make the exit code 3, else only findings, on stderr."""
    if data_warnings.is_bad(manifest):
        print_summary(folder, manifest, highlights)
        return
    at_end = list(takewhile(_is_of_everything, read_means(folder, _AT_END)))
    slices = (row["slice"] for row in read_means(folder, _SLICES))
    findings = document(
        warnings_part(manifest),
        sentences(data_warnings.warn_of_misspelt_names(at_end, slices, manifest)),
        changed_part(manifest.inputs),
    )
    show(findings, message_console())


def run_document(
    folder: str, manifest: RunManifest, highlights: Iterable[Sentence] = ()
) -> Document:
    """The document of a run.

    Args:
      folder: has the outputs.
      highlights: of its report.
    """
    at_end = list(takewhile(_is_of_everything, read_means(folder, _AT_END)))
    rows = {row["metric"]: row for row in at_end if row["population"] == "all"}
    slices = read_means(folder, _SLICES) if manifest.options.slice else ()
    report = join(folder, REPORT)
    return document(
        warnings_part(manifest),  # above the numbers that they affect
        means_part(rows, manifest, report),
        clusters_part(rows, manifest),
        outcomes_part(outcome_views(folder, rows, manifest)),
        repeats_part(rows, manifest),
        records_part(manifest),
        given_part(manifest),
        sentences(data_warnings.warn_of_unknown_costs(at_end, manifest)),
        sentences(data_warnings.warn_of_unknown_outcomes(at_end, manifest)),
        everyone_part(at_end),
        scale_part(manifest),
        sentences(data_warnings.warn_of_unknown_attributes(row["slice"] for row in slices)),
        changed_part(manifest.inputs),
        rejected_part(folder, manifest),
        highlights,
        Sentence(
            f"Outputs: {folder} ({', '.join(manifest.datasets)}, {MANIFEST})",
            apart=True,
            whole=True,
        ),
        Sentence(f"Report: {report}", whole=True),
    )


def short_document(
    manifest: RunManifest,
    at_end: Iterable[Row],
    warnings: Iterable[Sentence],
    tables: Iterable[str],
) -> Document:
    """The document of a run in Python: its headline, and which tables it has.

    Args:
      at_end: the means at N over all conversations.
    """
    counts = manifest.conversations
    rows = {row["metric"]: row for row in at_end}
    shown = [rows[name] for name in choose_metrics(rows, manifest)] if rows else []
    total = format_count(counts.total, "conversation")
    return document(
        Heading(f"Run of {total}, {count_text(counts.in_means)} in the means"),
        means_table(shown, manifest) if shown else None,
        warnings,
        scale_part(manifest),
        Sentence(f"tables: {', '.join(tables)}"),
    )


def scale_part(manifest: RunManifest) -> Iterator[Sentence]:
    """What counts as good, if no label met is as great as the scale allows."""
    labels = {int(gain): results for gain, results in manifest.results.by_label.items()}
    greatest, g_max = max(labels, default=0), manifest.options.g_max
    if not 0 < greatest < g_max:
        return
    threshold, total = manifest.options.good_gain_threshold, sum(labels.values())
    below = "".join(
        f" {share(labels[gain], total)} of the labels are {gain};"
        for gain in sorted(labels)
        if 0 < gain < threshold
    )
    yield Sentence(
        f"Labels: good = label {threshold} or more;{below} ERR assumes {g_max}, and the greatest "
        f"label met is {greatest}."
    )


def warnings_part(manifest: RunManifest) -> Iterator[Sentence]:
    """The warnings of a run, and which of them make its exit code 3."""
    fatal = data_warnings.failing_warnings_in(manifest)
    for warning in manifest.warnings:
        ending = " The exit code is 3." if warning in fatal else ""
        yield Sentence(data_warnings.warning_text(warning) + ending, "warning")


def _is_of_everything(row: Row) -> bool:
    return not row["slice"]
