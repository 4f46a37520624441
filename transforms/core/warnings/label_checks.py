"""The data warnings of SPEC 10 that are about labels."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.transforms.core.means.slices import describe_slice
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.warnings import codes
from goodgain.transforms.core.warnings.check_inputs import CheckInputs, Portion
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count, format_percent, pluralize

_MOST_UNLABELLED_SHARE = 0.2
_NOTABLE_DIFFERENCE = 0.1  # a slice whose unlabelled share differs by more is listed
_SHOWN_SLICES = 3
_SHOWN_METRICS = 5
_ENOUGH_DOCUMENTS = 20  # documents of a pool; a share of fewer says little
_LEAST_APART_SHARE = 0.1
_MOST_CONFLICTS_SHARE = 0.1
_ENOUGH_COPIES = 50  # to tell labels of passages from mistakes


def warn_of_no_labels(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if no result of the scored turns has a label."""
    results = inputs.count(data_counts.RESULTS)
    if not results or inputs.labelled:
        return
    if inputs.external:
        remedy = (
            "Check that "
            + Remedy("qrels_id")
            + " and "
            + Remedy("qrels_topic")
            + " name the ids and topics of the judgments"
        )
    else:
        likely_labels = [name.name for name in inputs.unknown_names if name.meant == "gain"]
        remedy = "Give each result a `gain` from 0 to 4, or pass judgments with " + Remedy("qrels")
        if likely_labels:
            renamed = Remedy("map", {"gain": likely_labels[0]})
            remedy = f"If `{likely_labels[0]}` is the label, add " + renamed
    yield DataWarning(
        codes.NO_LABELS,
        results,
        1.0,
        pluralize(
            results,
            "The only result of the scored turns has no label",
            f"None of the {results:,} results of the scored turns has a label",
        )
        + ", so the means of all metrics that need labels are undefined.",
        remedy + inputs.how_to_accept("allow_unlabelled") + ".",
    )


def warn_of_labels_below_threshold(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if there are labels, but none reaches the threshold of good results."""
    gains = [gain for gain, name in enumerate(data_counts.LABELS) if inputs.count(name)]
    if not gains or gains[-1] >= inputs.good_gain_threshold:
        return
    yield DataWarning(
        codes.LABELS_BELOW_THRESHOLD,
        inputs.labelled,
        1.0,
        f"{format_count(inputs.labelled, 'result has a label', 'results have labels')}, but none "
        "reaches the good gain threshold "
        f"{inputs.good_gain_threshold}: the greatest is {gains[-1]}, so nothing counts as good.",
        "Lower it with "
        + Remedy("good_gain_threshold", max(gains[-1], 1))
        + ", or label from 0 to 4"
        + inputs.how_to_accept("allow_no_good")
        + ".",
    )


def warn_of_labels_below_relevance_threshold(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if there are labels, but none reaches the threshold of relevant results."""
    relevance = inputs.relevance
    if relevance is None or not relevance.metrics:
        return
    if relevance.threshold == inputs.good_gain_threshold:
        return  # `warn_of_labels_below_threshold` warns
    gains = [gain for gain, name in enumerate(data_counts.LABELS) if inputs.count(name)]
    if not gains or gains[-1] >= relevance.threshold:
        return
    names, more = relevance.metrics[:_SHOWN_METRICS], len(relevance.metrics) - _SHOWN_METRICS
    yield DataWarning(
        codes.LABELS_BELOW_RELEVANCE_THRESHOLD,
        inputs.labelled,
        1.0,
        f"{format_count(inputs.labelled, 'result has a label', 'results have labels')}, but none "
        f"reaches the relevance threshold {relevance.threshold}: the greatest is {gains[-1]}. "
        "Without relevant results these ranking metrics are 0 or undefined: "
        f"{', '.join(names)}{f', and {more:,} more' if more > 0 else ''}.",
        "Lower it with "
        + Remedy("relevance_threshold", max(gains[-1], 1))
        + ", or label from 0 to 4.",
    )


def warn_of_few_labels(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if many results, or all results of a slice, have no label."""
    unlabelled = inputs.part(data_counts.UNLABELLED, data_counts.RESULTS)
    if not inputs.labelled:
        return  # `warn_of_no_labels` warns, or there are no results
    share = unlabelled.share
    unlabelled_slices = [
        labels for labels in inputs.slices if labels.results and labels.unlabelled == labels.results
    ]
    if not unlabelled.exceeds(_MOST_UNLABELLED_SHARE) and not unlabelled_slices:
        return
    message = f"{unlabelled.of('results')} "
    message += pluralize(
        unlabelled.count, "has no label and counts as gain 0", "have no label and count as gain 0"
    )
    uneven = [labels for labels in inputs.slices if abs(labels.share - share) > _NOTABLE_DIFFERENCE]
    if uneven:
        uneven.sort(key=lambda labels: (-abs(labels.share - share), describe_slice(labels.slice)))
        shown = "; ".join(
            f"{describe_slice(labels.slice)}: {format_percent(labels.share)}"
            for labels in uneven[:_SHOWN_SLICES]
        )
        more = len(uneven) - _SHOWN_SLICES
        message += f", unevenly over slices ({shown}{f'; and {more:,} more' if more > 0 else ''})"
    if unlabelled_slices:
        message += "; the means of slices without any label are undefined"
    yield DataWarning(
        codes.FEW_LABELS,
        unlabelled.count,
        share,
        f"{message}.",
        "Label them, or compare only slices with similar shares; "
        + Remedy("bounds")
        + " shows how much the means could change.",
    )


def warn_of_label_conflicts(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if many copies have another label than the first occurrence of their document."""
    conflicts = inputs.part(data_counts.CONFLICTS, data_counts.LABELLED_COPIES)
    if not conflicts.exceeds(_MOST_CONFLICTS_SHARE):
        return
    if inputs.document_label == "best" or _are_of_passages(inputs):
        return  # expected, or `warn_of_labels_of_passages` warns
    has = pluralize(conflicts.count, "has another", "have another")
    of = pluralize(conflicts.count, "of its document", "of their document")
    if inputs.external:
        what = f"judgment than that {of}, which counts."
        remedy = "Give all names of a document the same judgment."
    elif inputs.pooled:
        what = (
            f"label in the traces than the first occurrence {of}. The label in the pool counts; "
            "only where the pool has none, that of the first occurrence does."
        )
        remedy = "Label documents, not positions in a list."
    else:
        what = f"label than the first occurrence {of}, whose label counts."
        remedy = (
            "Label documents, not positions in a list, or give judgments with "
            + Remedy("qrels")
            + "."
        )
    message = f"{conflicts.of('labelled copies')} {has} {what}"
    yield DataWarning(codes.LABEL_CONFLICTS, conflicts.count, conflicts.share, message, remedy)


def warn_of_labels_of_passages(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if labels seem to be those of passages, and the first one counts for the document."""
    if inputs.document_label == "best" or not _are_of_passages(inputs):
        return
    conflicts = inputs.part(data_counts.CONFLICTS, data_counts.LABELLED_COPIES)
    between_texts = inputs.count(data_counts.CONFLICTS_BETWEEN_TEXTS)
    yield DataWarning(
        codes.LABELS_OF_PASSAGES,
        conflicts.count,
        conflicts.share,
        f"{conflicts.of('labelled copies')} have another label than "
        f"the first occurrence of their document, and {between_texts:,} of them another text: "
        "labels seem to be those of passages, but the label of whichever passage comes first "
        "counts for its document.",
        "Give a document the label of its best passage so far ("
        + Remedy("document_label", "best")
        + "), or let each passage count by itself ("
        + Remedy("unit", "passage")
        + ").",
    )


def _are_of_passages(inputs: CheckInputs) -> bool:
    """Whether many labels conflict, mostly where the texts differ, too."""
    conflicts = inputs.part(data_counts.CONFLICTS, data_counts.LABELLED_COPIES)
    return (
        not (inputs.external or inputs.pooled)
        and conflicts.exceeds(_MOST_CONFLICTS_SHARE, _ENOUGH_COPIES)
        and 2 * inputs.count(data_counts.CONFLICTS_BETWEEN_TEXTS) > conflicts.count
    )


def warn_of_labels_apart(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if documents of the pool that share an id often have votes far apart."""
    for name, span in sorted(inputs.label_spans.items()):
        apart = Portion(span.apart, span.documents)
        if apart.total >= _ENOUGH_DOCUMENTS and apart.share >= _LEAST_APART_SHARE:
            yield DataWarning(
                codes.LABELS_APART,
                apart.count,
                apart.share,
                f"{apart.of('documents of the pool')} that "
                f"conversations share by the id {name} {pluralize(apart.count, 'has', 'have')} "
                "labels 2 or more grades apart, so the ids may be positions in a list, which merge "
                "different documents.",
                f"Check some with `goodgain pool show`; if {name} is a position in a list, remove "
                "it from the traces and build the pool again.",
            )
