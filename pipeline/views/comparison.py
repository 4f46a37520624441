"""The document of a comparison: the answer, the arms, and tables by slice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from goodgain.pipeline.document.model import (
    Block,
    Document,
    Heading,
    Sentence,
    document,
    sentences,
)
from goodgain.pipeline.document.numbers import difference_text
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.unlabelled_arms import ShownRows
from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.clusters import arm_warnings, leading_row
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.studies.comparison.matching import Account
from goodgain.pipeline.views.comparison_examples import example_text, title_lists, withheld_sentence
from goodgain.pipeline.views.comparison_legend import legend
from goodgain.pipeline.views.comparison_notes import notes_part, nulls_part, withheld_part
from goodgain.pipeline.views.comparison_tables import (
    differences_table,
    further_table,
    short_table,
    sizes_table,
)
from goodgain.pipeline.views.found_documents import count_finds, describe_one_sided_topics
from goodgain.transforms.core.metrics.by_name import at_i, list_labels, metric_by_name
from goodgain.transforms.core.warnings.codes import FEW_EFFECTIVE_CLUSTERS
from goodgain.transforms.core.wording import format_count, pluralize

_LONGEST_KEY = 60
_SHOWN_TOPICS = 3  # with documents of the pool that one arm alone found
_SHOWN_DOCUMENTS = 3
_MOST_SLICES = 60
_POPULATIONS = {
    ("reached",): "conversations that reached it in both arms",
    ("all", "everyone"): "all conversations, with nothing added after they stopped",
}


def comparison_document(compared: Compared, at: int | None = None) -> Document:
    """The document of a comparison: its metrics at iteration `at`, or at N."""
    rows_at = [row for row in compared.rows if row.i == at]
    slices = [list(rows) for _, rows in groupby(rows_at, key=attrgetter("slice"))]
    shown = _largest(slices)
    return document(
        Sentence(compared.answer, "strong"),
        _arms_part(compared),
        *(
            _slice_part(compared, rows[0].slice, _hide_unlabelled(compared, rows), at)
            for rows in shown
        ),
        _hidden_part(len(slices) - len(shown)),
        _pool_part(compared),
        legend(compared, _choose_rows(compared, rows_at)),
        _further_iterations(at),
        _examples_part(compared),
    )


def short_document(compared: Compared) -> Document:
    """The answer, and the metrics that it rests on over all conversations at N."""
    rows = [row for row in compared.rows if row.i is None and not row.slice]
    shown = _choose_rows(compared, _hide_unlabelled(compared, rows))
    return document(
        Sentence(compared.answer, "strong"),
        short_table(shown) if shown else None,
        withheld_part(shown),
    )


def _hide_unlabelled(compared: Compared, rows: Iterable[ComparisonRow]) -> list[ComparisonRow]:
    """The rows without the numbers of arms that have no labels."""
    return list(map(ShownRows(compared.without_labels).struct, rows))


def _largest(slices: list[list[ComparisonRow]]) -> list[list[ComparisonRow]]:
    """The slices to show, in their order; all conversations come first."""
    sizes = [max(row.n_base + row.n_candidate for row in rows) for rows in slices]
    by_size = sorted(range(len(slices)), key=lambda n: (bool(slices[n][0].slice), -sizes[n]))
    return [slices[n] for n in sorted(by_size[: _MOST_SLICES + 1])]


def _hidden_part(hidden: int) -> Iterator[Sentence]:
    if hidden:
        yield Sentence(
            f"{format_count(hidden, 'smaller slice is', 'smaller slices are')} not shown; use "
            "--json or --output for all.",
            "warning",
        )


def _further_iterations(at: int | None) -> Iterator[Sentence]:
    if at is None:
        yield Sentence("For iteration I, use --at I; for all columns, --json or --output.", "quiet")


def _arms_part(compared: Compared) -> Iterator[Sentence]:
    arms, matched = compared.arms, compared.matched
    yield Sentence(f"Base: {arms.base.label} ({_size(arms.base)})", apart=True)
    yield Sentence(f"Candidate: {arms.candidate.label} ({_size(arms.candidate)})")
    if matched.paired:
        yield Sentence(f"{format_count(len(matched.keys), 'pair')} by {compared.pair_by}.")
        for name, account in (
            ("base", compared.base_account),
            ("candidate", compared.candidate_account),
        ):
            if account is not None:
                yield from sentences(_account(name, account), indent=1)
    else:
        why = "as requested" if compared.request.unpaired else "the arms share no conversation_id"
        yield Sentence(f"Unpaired, {why}: two samples (Welch), no good/same/bad.")
    if compared.cluster:
        whole = [row for row in compared.rows if not row.slice]
        yield Sentence(_clusters_text(compared, _hide_unlabelled(compared, whole)))
    yield from comparison_warnings(compared)
    for name, metrics in (("base", arms.only_in_base), ("candidate", arms.only_in_candidate)):
        if metrics:
            yield Sentence(f"Only the {name} has {list_labels(metrics)}: not compared.")


def comparison_warnings(compared: Compared) -> Iterator[Sentence]:
    """How the runs differ although they are compared, and the warnings about their data."""
    if compared.is_of_one_run:
        yield Sentence(
            "Warning: base and candidate are the same run, so nothing can differ.", "warning"
        )
    for mismatch in compared.arms.forced:
        yield Sentence(f"Warning: forced although the runs differ in {mismatch}.", "warning")
    for warning in compared.warnings:
        yield Sentence(warning_text(warning), "warning")
    base, candidate = compared.arms.base_source, compared.arms.candidate_source
    sources = {"Base": base, "Candidate": candidate}
    if base.folder == candidate.folder:
        sources = {"Both arms": base}
    for which, source in sources.items():
        for warning in arm_warnings(source.manifest):
            yield Sentence(f"{which}: {warning_text(warning)}", "warning")


def _size(arm: Arm) -> str:
    total = format_count(len(arm.ids) + len(arm.left_out), "conversation")
    if not arm.left_out:
        return total
    reasons = Counter(left.reason for left in arm.left_out.values())
    left_out = ", ".join(f"{count:,} {why}" for why, count in sorted(reasons.items()))
    return f"{len(arm.ids):,} of {total}; {left_out}"


def _clusters_text(compared: Compared, rows: Sequence[ComparisonRow]) -> str:
    """The number of clusters, and the smallest difference they can show, if it is known."""
    first = leading_row(rows)
    text = f"Clusters by {compared.cluster}: {first.clusters or 0:,} "
    text += pluralize(first.clusters or 0, "has", "have")
    text += f" a value of {metric_by_name(first.metric).label}"
    text += "" if first.i is None else f" at i = {first.i}"
    unreliable = any(warning.code == FEW_EFFECTIVE_CLUSTERS for warning in compared.warnings)
    if first.minimum_detectable_effect is None or unreliable:
        return f"{text}."
    detectable = difference_text(first.metric, first.minimum_detectable_effect, signed=False)
    return (
        f"{text}; with that many, a true difference of {detectable} is detected in 80 % of "
        "comparisons."
    )


def _account(name: str, account: Account) -> Iterator[str]:
    if account.repeated:
        sharing = format_count(
            account.repeated, "conversation shares its", "conversations share their"
        )
        yield (
            f"In the {name}, {sharing} key with another of the same arm; each key counts once, "
            "with their mean."
        )
    fell_out = sum(account.unmatched.values())
    if fell_out:
        reasons = ", ".join(f"{n:,} {why}" for why, n in sorted(account.unmatched.items()))
        yield (
            f"Of the {name}'s {format_count(account.conversations, 'conversation')}, {fell_out:,} "
            f"{pluralize(fell_out, 'is', 'are')} in no pair in which both searched: {reasons}."
        )


def _slice_part(
    compared: Compared, row_slice: dict[str, str], rows: list[ComparisonRow], at: int | None
) -> Iterator[Block]:
    where = ", ".join(f"{name} = {value or '(none)'}" for name, value in row_slice.items())
    when = "at N" if at is None else f"at i = {at}"
    paired = compared.matched.paired
    for populations, who in _POPULATIONS.items():
        shown = _choose_rows(compared, [row for row in rows if row.population in populations])
        if not shown:
            continue
        heading = f"{where or 'All conversations'}, {when}" + ("" if at is None else f", {who}")
        if not any(row.n_base or row.n_candidate for row in shown):
            yield Heading(f"{heading}: none")
            continue
        yield Heading(heading)
        yield differences_table(compared, shown)
        yield sizes_table(shown, paired)
        yield from further_table(compared, shown)
        yield from nulls_part(shown, paired)
        yield from withheld_part(shown)
        yield from notes_part(shown)


def _choose_rows(compared: Compared, rows: list[ComparisonRow]) -> list[ComparisonRow]:
    """The rows of the declared family (at an iteration, of their `_at_i` metrics), else all."""
    declared = compared.arms.measures.declared
    wanted = {*declared, *map(at_i, declared)}
    chosen = [row for row in rows if row.metric in wanted]
    return chosen or rows


def _examples_part(compared: Compared) -> Iterator[Block]:
    found = compared.examples
    if found is None or not compared.request.examples:
        return
    label = metric_by_name(found.metric).label
    reason = _why_withheld(compared, found.metric)
    for title, examples in title_lists(found):
        heading = f"{title} by {label}"
        yield Heading(heading if examples else f"{heading}: none")
        if reason and examples:
            yield withheld_sentence(found.metric, reason)
        for example in examples:
            yield Sentence(f"{shorten(example.key, _LONGEST_KEY)}: {example_text(example)}")
            for command in example.commands:
                yield Sentence(command, "quiet", indent=1, whole=True)


def _why_withheld(compared: Compared, metric: str) -> str | None:
    """Why the metric is not comparable, if it is not."""
    reasons = (
        row.reason
        for row in compared.rows
        if row.metric == metric and row.i is None and not row.slice
    )
    return next(filter(None, reasons), None)


def _pool_part(compared: Compared) -> Iterator[Block]:
    if compared.pool_finds is None:
        return
    yield Heading("Good documents of the pool")
    yield from count_finds(compared.pool_finds)
    documents = compared.pool_finds.documents
    for summary, lines in describe_one_sided_topics(documents, _SHOWN_TOPICS, _SHOWN_DOCUMENTS):
        yield Sentence(summary, apart=True)
        yield from (replace(line, indent=line.indent + 1) for line in lines)
