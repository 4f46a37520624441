"""The document of a run: headline, what was asked for, and what became of the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

from goodgain.pipeline.document.console import message_console, result_console
from goodgain.pipeline.document.model import (
    Block,
    Document,
    Sentence,
    document,
    sentences,
)
from goodgain.pipeline.document.numbers import mean_interval_text, mean_text, share, value_text
from goodgain.pipeline.document.safe_text import shortened
from goodgain.pipeline.document.terminal import show
from goodgain.pipeline.results import data_warnings
from goodgain.pipeline.results.datasets import REJECTED
from goodgain.pipeline.results.folder import MANIFEST, REPORT, read_dataset
from goodgain.pipeline.results.manifest import EXCLUDE, above_limit, has_own_ideal
from goodgain.pipeline.results.unlabelled_arms import NO_LABEL
from goodgain.pipeline.results.wanted_means import MeansWanted, read_means
from goodgain.pipeline.run.plan.first_queries import queries_of_run
from goodgain.pipeline.settings.explain_command import explain_command
from goodgain.pipeline.views.clusters import clusters_part
from goodgain.pipeline.views.means import means_table
from goodgain.pipeline.views.noteworthy import LONGEST_QUERY, find_noteworthy
from goodgain.pipeline.views.outcomes import outcome_rows_text, outcome_views, outcomes_part
from goodgain.pipeline.views.repeats import repeats_part
from goodgain.transforms.core.metrics.by_name import cautions, labels, metric_by_name
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.metrics.own import short_name
from goodgain.transforms.core.ranking import DEFAULT_RANKING_METRICS
from goodgain.transforms.core.wording import counted, no_interval, pluralize
from goodgain.transforms.filesystems import join

Row = Mapping[str, Any]
# Gain, efficiency, repetition, and how many iterations it took.
_WITHOUT_LABELS = ("R", "UR", "DupR", "SRR", "calls", "N")
_OWN_IDEAL = (
    "own ideal: the ideal list has only what this run found; comparable between runs only with "
    "the same judgments (--qrels or --pool; of aspects --aspect-qrels)."
)
_SLICES = MeansWanted(metrics=frozenset(("N",)), at_end=True)
_AT_END = MeansWanted(at_end=True)
_SHOWN_REASONS = 3
_MOST_CONSIDERED = 50_000  # conversations
_SHOWN_CHANGED = 3
_MORE_CHANGED = ("more file has", "more files have")
_DEFAULT_METRICS = [metric.name for metric in DEFAULT_RANKING_METRICS]


def print_summary(folder: str, manifest: Mapping[str, Any]) -> None:
    """Print the document of a run whose outputs are published."""
    show(run_document(folder, manifest), result_console())


def print_if_wrong(folder: str, manifest: Mapping[str, Any]) -> None:
    """Print the document if bad data make the exit code 3, else only findings, on stderr."""
    if data_warnings.is_bad(manifest):
        print_summary(folder, manifest)
        return
    at_end = list(takewhile(_is_of_everything, read_means(folder, _AT_END)))
    slices = (row["slice"] for row in read_means(folder, _SLICES))
    findings = document(
        warnings_part(manifest),
        sentences(data_warnings.misspelt_names(at_end, slices, manifest)),
        _changed_part(manifest["inputs"]),
    )
    show(findings, message_console())


def run_document(folder: str, manifest: Mapping[str, Any]) -> Document:
    """The document of a run.

    Args:
      folder: has the outputs.
    """
    at_end = list(takewhile(_is_of_everything, read_means(folder, _AT_END)))
    rows = {row["metric"]: row for row in at_end if row["population"] == "all"}
    parameters = manifest["parameters"]
    slices = read_means(folder, _SLICES) if parameters.get("slice") else ()
    report = join(folder, REPORT)
    return document(
        warnings_part(manifest),  # above the numbers that they affect
        means_part(rows, manifest, report),
        clusters_part(rows, manifest),
        outcomes_part(outcome_views(folder, rows, manifest)),
        repeats_part(rows, manifest),
        _records_part(manifest),
        sentences(data_warnings.unknown_costs(at_end)),
        _everyone_part(at_end),
        scale_part(manifest),
        sentences(data_warnings.unknown_attributes(row["slice"] for row in slices)),
        _changed_part(manifest["inputs"]),
        _rejected_part(folder, manifest["records"], parameters["max_rejected"]),
        _looking_part(folder, rows, manifest),
        Sentence(
            f"Outputs: {folder} ({', '.join(manifest['datasets'])}, {MANIFEST})",
            apart=True,
            whole=True,
        ),
        Sentence(f"Report: {report}", whole=True),
    )


def scale_part(manifest: Mapping[str, Any]) -> Iterator[Sentence]:
    """What counts as good, if no label met is as great as the scale allows."""
    labels = {
        int(gain): results for gain, results in manifest["results"].get("by_label", {}).items()
    }
    parameters = manifest["parameters"]
    greatest, g_max = max(labels, default=0), parameters["g_max"]
    if not 0 < greatest < g_max:
        return
    threshold, total = parameters["good_gain_threshold"], sum(labels.values())
    below = "".join(
        f" {share(labels[gain], total)} of the labels are {gain};"
        for gain in sorted(labels)
        if 0 < gain < threshold
    )
    yield Sentence(
        f"Labels: good = label {threshold} or more;{below} ERR assumes {g_max}, and the greatest "
        f"label met is {greatest}."
    )


def _looking_part(
    folder: str, rows: Mapping[str, Row], manifest: Mapping[str, Any]
) -> Iterator[Sentence]:
    """The most noteworthy conversation by each of three metrics, and how to look at it.

    Of many conversations only the first are considered; their order is as good as random.
    """
    conversations = islice(read_dataset(folder, "conversations"), _MOST_CONSIDERED)
    found = [
        (one, one.rows[0])
        for one in find_noteworthy(conversations)
        if one.rows and one.metric in rows and not _lacks_labels(rows[one.metric])
    ]
    if found:
        total = manifest["conversations"]["total"]
        among = f", of the first {_MOST_CONSIDERED:,}" if total > _MOST_CONSIDERED else ""
        yield Sentence(f"Worth looking at{among}:", apart=True)
    queries = queries_of_run(manifest, {row["conversation_id"] for _, row in found})
    for one, row in found:
        reason = one.reason.format(value_text(one.metric, row[one.metric]))
        query = queries.get(row["conversation_id"])
        asked = "" if query is None else f', first query "{shortened(query, LONGEST_QUERY)}"'
        yield Sentence(reason + asked, indent=1)
        command = explain_command(row["conversation_id"], manifest["parameters"])
        if command is not None:
            yield Sentence(command, "strong", indent=2, whole=True)


def warnings_part(manifest: Mapping[str, Any]) -> Iterator[Sentence]:
    """The warnings of a run, and which of them make its exit code 3."""
    fatal = data_warnings.failing_in(manifest)
    for warning in data_warnings.warnings_in(manifest):
        ending = " The exit code is 3." if warning in fatal else ""
        yield Sentence(data_warnings.warning_text(warning) + ending, "warning")


def shown_metrics(rows: Mapping[str, Row], manifest: Mapping[str, Any]) -> list[str]:
    """The metrics that a short table shows: the headline, then what was asked for.

    Args:
      rows: the rows of `means` over all conversations at N, by metric.
    """
    asked_for = list(map(short_name, manifest["parameters"]["metrics"]))
    names = (*headline_among("table", rows), *(asked_for if asked_for != _DEFAULT_METRICS else ()))
    known = [name for name in dict.fromkeys(names) if name in rows]
    if any(_lacks_labels(rows[name]) for name in known):
        known = [*_WITHOUT_LABELS, *(name for name in known if not _lacks_labels(rows[name]))]
    return list(dict.fromkeys(known))


def _lacks_labels(row: Row) -> bool:
    return row["mean"] is None and row["note"] == NO_LABEL


def means_part(
    rows: Mapping[str, Row], manifest: Mapping[str, Any], report: str = ""
) -> Iterator[Block]:
    """The short table of means, with notes.

    Args:
      rows: the rows of `means` over all conversations at N, by metric.
      report: path of the report; "" = there is none.
    """
    if not any(row["n"] or row["undefined"] for row in rows.values()):
        yield Sentence("There are no means, since every conversation is excluded.")
        return
    names = shown_metrics(rows, manifest)
    yield means_table([rows[name] for name in names], manifest)
    if any(has_own_ideal(metric_by_name(name), manifest) for name in names):
        yield Sentence(_OWN_IDEAL)
    yield from _notes([rows[name] for name in names])
    yield from _lacking_part(rows.values())
    hidden = sum(name not in names for name in rows)
    yield Sentence(
        f"The means of {counted(hidden, 'more metric')} are in the dataset `means`"
        + (" and in the report." if report else ".")
    )


def _notes(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Why means have no interval, for which conversations they are null, and how they mislead."""
    noted: dict[str, list[str]] = {}
    for row in rows:
        if row["ci_low"] is None and row["note"]:
            noted.setdefault(row["note"], []).append(row["metric"])
    for note, names in noted.items():
        why = no_interval(note, labels(names))
        yield Sentence(f"{why[0].upper()}{why[1:]}.")
    undefined = [
        f"{metric_by_name(row['metric']).label} ({row['undefined']:,})"
        for row in rows
        if row["undefined"]
    ]
    if undefined:
        yield Sentence(f"Conversations without a value: {', '.join(undefined)}.")
    for caution, cautioned in cautions(row["metric"] for row in rows).items():
        yield Sentence(f"{', '.join(cautioned)}: {caution}")


def _lacking_part(rows: Iterable[Row]) -> Iterator[Sentence]:
    lacking = sum(_lacks_labels(row) for row in rows)
    if lacking:
        yield Sentence(
            f"No result has a label, so gain and {counted(lacking, 'metric')} that need labels are "
            "unknown: give `gain` in the traces, --labels, --qrels or a --pool."
        )


def _everyone_part(at_end: Sequence[Row]) -> Iterator[Sentence]:
    """The headline with the conversations that never searched, if there are any."""
    rows = {row["metric"]: row for row in at_end if row["population"] == "everyone"}
    means = [
        f"{metric_by_name(name).label} "
        f"{mean_text(name, row['mean'], row['n'], row['undefined'])} "
        f"({mean_interval_text(name, row['ci_low'], row['ci_high'])})"
        for name in headline_among("everyone", rows)
        if (row := rows.get(name)) and row["mean"] is not None
    ]
    if means:
        yield Sentence(
            "Including conversations without search, with gain 0 (population everyone): "
            f"{', '.join(means)}."
        )


def _is_of_everything(row: Row) -> bool:
    return not row["slice"]


def _changed_part(inputs: Sequence[Row]) -> Iterator[Sentence]:
    changed = [file for file in inputs if "size_after" in file]
    for file in changed[:_SHOWN_CHANGED]:
        after = "is gone" if file["size_after"] is None else f"has {file['size_after']:,}"
        yield Sentence(
            f"Note: {file['path']} had {file['size']:,} bytes before the run and {after} now; run "
            "again once nothing writes to it."
        )
    if len(changed) > _SHOWN_CHANGED:
        more = counted(len(changed) - _SHOWN_CHANGED, *_MORE_CHANGED)
        yield Sentence(f"Note: {more} changed.")


def _records_part(manifest: Mapping[str, Any]) -> Iterator[Sentence]:
    """What became of conversations, records, results, labels and judgments."""
    records, conversations, results = (
        manifest[part] for part in ("records", "conversations", "results")
    )
    yield Sentence(
        f"Conversations: {conversations['total']:,}, of which {conversations['in_means']:,} in "
        f"the means; excluded: {conversations['without_search']:,} without search, "
        f"{conversations['with_rejected_records']:,} with rejected records.",
        apart=True,
    )
    yield Sentence(
        f"Records: {records['read']:,} read = {records['scored']:,} scored + "
        f"{records['earlier_turn']:,} of earlier turns + {records['redelivered']:,} redelivered + "
        f"{records['rejected']:,} rejected + {records['late']:,} late."
    )
    yield Sentence(
        f"Results: {results['total']:,}, of which {results['duplicates']:,} duplicates and "
        f"{results['unlabelled']:,} unlabelled."
    )
    if given := manifest.get("labels"):
        yield Sentence(
            f"Labels: {given['read']:,} read = {given['joined']:,} joined + "
            f"{given['repeated']:,} repeated + {given['empty']:,} empty + "
            f"{given['rejected']:,} rejected; "
            f"{counted(given['replaced'], 'replaces', 'replace')} another of the traces."
        )
    if given := manifest.get("outcome_rows"):
        yield Sentence(outcome_rows_text(given))
    if qrels := manifest.get("qrels"):
        yield from _judgments_part(qrels)
    if excluded := manifest.get(EXCLUDE):
        yield Sentence(
            f"Excluded (--exclude): {counted(excluded['results'], 'result')} and "
            f"{counted(excluded['judgments'], 'judgment')}, by "
            f"{counted(excluded['pairs'], 'document')} of {counted(excluded['topics'], 'topic')}."
        )


def _judgments_part(qrels: Mapping[str, Any]) -> Iterator[Sentence]:
    without_judgment = qrels["results_without_judgment"]
    without_judgments = qrels["topics_without_judgments"]
    yield Sentence(
        f"Judgments: {counted(qrels['judgments'], 'document')}, of which "
        f"{counted(qrels['never_retrieved'], 'was', 'were')} never retrieved; "
        f"{counted(without_judgment, 'result has', 'results have')} no judgment."
    )
    yield Sentence(
        f"Topics: {qrels['topics']:,} with judgments, of which "
        f"{qrels['topics_without_conversation']:,} without conversation; "
        f"{without_judgments:,} of conversations "
        f"{pluralize(without_judgments, 'has', 'have')} no judgments."
    )
    if without_id := qrels["results_without_id"]:
        results_without_id = counted(without_id, "result")
        yield Sentence(f"Not joined: {results_without_id} without the id that --qrels-id names.")


def _rejected_part(
    folder: str, records: Mapping[str, Any], max_rejected: str
) -> Iterator[Sentence]:
    if not records["rejected"]:
        return
    limit = f"; {above_limit(records, f'--max-rejected {max_rejected}')}, so the exit code is 3"
    yield Sentence(
        f"Rejected: {records['rejected']:,} of {records['read']:,} records, all in the dataset "
        f"`{REJECTED.name}`{limit if records['too_many_rejected'] else ''}:"
    )
    rows = list(islice(read_dataset(folder, REJECTED.name), _SHOWN_REASONS + 1))
    for row in rows[:_SHOWN_REASONS]:
        yield Sentence(f"{row['source']}, {row['position']}: {row['reason']}", indent=1)
    if len(rows) > _SHOWN_REASONS:
        yield Sentence("...", indent=1)
