"""The document of a comparison: the answer, the arms, and tables by slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from goodgain.pipeline.document.model import Block, Document, Heading, Sentence, document, sentences
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.unlabelled_arms import ShownRows
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.views.comparison_arms import (
    account_text,
    clusters_text,
    comparison_warnings,
    describe_uncompared,
    size_text,
)
from goodgain.pipeline.views.comparison_examples import (
    example_text,
    query_text,
    title_lists,
    withheld_sentence,
)
from goodgain.pipeline.views.comparison_legend import legend
from goodgain.pipeline.views.comparison_notes import notes_part, nulls_part, withheld_part
from goodgain.pipeline.views.comparison_tables import (
    differences_table,
    further_table,
    short_table,
    sizes_table,
)
from goodgain.pipeline.views.found_documents import count_finds, describe_one_sided_topics
from goodgain.transforms.core.means.slices import describe_slice
from goodgain.transforms.core.metrics.by_name import metric_by_name, name_so_far
from goodgain.transforms.core.wording import format_count

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
    yield Sentence(f"Base: {arms.base.label} ({size_text(arms.base)})", apart=True)
    yield Sentence(f"Candidate: {arms.candidate.label} ({size_text(arms.candidate)})")
    if matched.paired:
        yield Sentence(f"{format_count(len(matched.keys), 'pair')} by {compared.pair_by}.")
        for name, account in (
            ("base", compared.base_account),
            ("candidate", compared.candidate_account),
        ):
            if account is not None:
                yield from sentences(account_text(name, account), indent=1)
    else:
        why = "as requested" if compared.request.unpaired else "the arms share no conversation_id"
        yield Sentence(f"Unpaired, {why}: two samples (Welch), no good/same/bad.")
    if compared.cluster:
        whole = [row for row in compared.rows if not row.slice]
        yield Sentence(clusters_text(compared, _hide_unlabelled(compared, whole)))
    yield from comparison_warnings(compared)
    yield from sentences(describe_uncompared(arms.only_in_base, arms.only_in_candidate))


def _slice_part(
    compared: Compared, row_slice: dict[str, str], rows: list[ComparisonRow], at: int | None
) -> Iterator[Block]:
    where = describe_slice(row_slice)
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
    wanted = {*declared, *map(name_so_far, declared)}
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
            if asked := query_text(example):
                yield Sentence(asked, indent=1)
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
