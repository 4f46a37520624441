"""The tables of a comparison, one row for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeAlias

from goodgain.pipeline.document.columns import CellColumn, numbers, table_of, texts_of
from goodgain.pipeline.document.model import (
    Cell,
    TableBlock,
    TableColumn,
    difference,
    interval,
    term,
    value,
    verdict,
)
from goodgain.pipeline.document.numbers import (
    NONE,
    count_text,
    fixed,
    fixed_interval,
    probability,
    relative,
    value_text,
)
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.studies.comparison.correction import deciding_p
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod
from goodgain.transforms.core.metrics.by_name import metric_by_name

Columns: TypeAlias = list[CellColumn[ComparisonRow]]


whole_numbers = partial(numbers, whole=True)
_NAME: CellColumn[ComparisonRow] = CellColumn(
    TableColumn("metric", widest=34),
    lambda row: term(row.metric, "own ideal" if row.own_ideal else ""),
)
_BASE: CellColumn[ComparisonRow] = whole_numbers(
    "base", "base_mean", lambda row: value(row.metric, row.base_mean)
)
_INTERVAL: CellColumn[ComparisonRow] = whole_numbers(
    "interval",
    "interval",
    lambda row: interval(row.metric, *row.shown_interval),
    long="interval, corrected",
)


def _candidate(heading: str) -> CellColumn[ComparisonRow]:
    return whole_numbers(
        heading,
        "candidate_mean",
        lambda row: value(row.metric, row.candidate_mean),
        long="candidate",
    )


def _difference(heading: str) -> CellColumn[ComparisonRow]:
    return whole_numbers(
        heading,
        "difference",
        lambda row: difference(row.metric, row.difference),
        long="difference",
    )


def _verdict(widest: int | None = None) -> CellColumn[ComparisonRow]:
    return CellColumn(
        TableColumn("verdict", widest=widest, part="verdict"), lambda row: verdict(row.verdict)
    )


def short_table(rows: Sequence[ComparisonRow]) -> TableBlock:
    """What was compared, how it differs and what that shows."""
    columns = (
        _NAME, _BASE, _candidate("candidate"), _difference("difference"), _INTERVAL, _verdict(),
    )  # fmt: skip
    return table_of(columns, rows)


def difference_columns(paired: bool, correction: AdjustmentMethod) -> Columns:
    """Each difference with its interval, p values and verdict."""
    gsb: CellColumn[ComparisonRow] = whole_numbers(
        "GSB", "gsb", lambda row: fixed(None if row.reason else row.gsb, signed=True)
    )
    return [
        _BASE,
        _candidate("cand."),
        _difference("diff."),
        _INTERVAL,
        whole_numbers("p", "p_value", lambda row: probability(row.p_value), wide=True),
        whole_numbers(
            "p adj.",
            "p_corrected",
            lambda row: probability(deciding_p(row, correction)),
            long="p corrected",
        ),
        _verdict(widest=len("comparable")),
        *([gsb] if paired else []),
    ]


def size_columns(paired: bool) -> Columns:
    """Each difference with its effect size, the detectable difference and the number of pairs."""
    of_pairs: Columns = [
        whole_numbers("good/same/bad", "counts", _counts),
        whole_numbers(
            "GSB interval",
            "gsb_interval",
            lambda row: fixed_interval(row.gsb_ci_low, row.gsb_ci_high, signed=True),
        ),
    ]
    return [
        whole_numbers(
            "rel.",
            "relative_difference",
            lambda row: relative(row.relative_difference),
            long="relative",
        ),
        whole_numbers(
            "effect",
            "effect_size",
            lambda row: fixed(row.effect_size, signed=True),
            long="effect size",
        ),
        whole_numbers("detect.", "minimum_detectable_effect", _detectable_cell, long="detectable"),
        whole_numbers("n", "n", lambda row: _size(row, paired)),
        *(of_pairs if paired else []),
        CellColumn(TableColumn("why", wide=True, part="reason"), lambda row: row.reason or ""),
        CellColumn(TableColumn("of all conversations", wide=True), partial(_remark, paired)),
    ]


def all_columns(paired: bool, correction: AdjustmentMethod) -> Columns:
    """The columns of a page, which has room for all in one table."""
    return [_NAME, *difference_columns(paired, correction), *size_columns(paired)]


def texts_of_comparison(row: ComparisonRow, columns: Columns) -> dict[str, str]:
    """What a page tells of a row at N: its columns, and parts of them.

    Args:
      columns: those of the page.
    """
    texts = texts_of(columns, row)
    counts = {part: count_text(getattr(row, part)) for part in ("good", "same", "bad")}
    return {**texts, "size": texts["difference"].removesuffix(" pp"), **counts}


def differences_table(compared: Compared, rows: Sequence[ComparisonRow]) -> TableBlock:
    """Each difference with its interval, p value and verdict."""
    columns = difference_columns(compared.matched.paired, compared.request.correction)
    return table_of([_NAME, *columns], rows)


def sizes_table(rows: Sequence[ComparisonRow], paired: bool) -> TableBlock:
    """Each difference with its effect size, the detectable difference and the number of pairs."""
    return table_of([_NAME, *size_columns(paired)], rows)


def _size(row: ComparisonRow, paired: bool) -> str:
    return f"{row.n_base:,}" if paired else f"{row.n_base:,}+{row.n_candidate:,}"


def _counts(row: ComparisonRow) -> str:
    return NONE if row.good is None else f"{row.good:,}/{row.same:,}/{row.bad:,}"


def _remark(paired: bool, row: ComparisonRow) -> Cell:
    """On how many conversations a metric is undefined, the worst case, and a note."""
    parts = []
    if has_nulls(row):
        both = f", both {count_text(row.undefined_in_both)}" if paired else ""
        parts.append(
            f"undefined in base {count_text(row.undefined_in_base)}, candidate "
            f"{count_text(row.undefined_in_candidate)}{both}"
        )
        if row.worst_difference is not None:
            worst = (row.worst_base_mean, row.worst_candidate_mean)
            ends = (value_text(row.metric, number) for number in worst)
            parts.append(f"at worst {' to '.join(ends)}")
    return Cell("; ".join([*parts, *([row.note] if row.note else [])]))


def has_nulls(row: ComparisonRow) -> bool:
    """Whether the metric has no value on some conversation."""
    return bool(row.undefined_in_base or row.undefined_in_candidate or row.undefined_in_both)


def _detectable_cell(row: ComparisonRow) -> Cell:
    """The detectable difference; no share can differ by more than 100 points."""
    effect = row.minimum_detectable_effect
    if effect is not None and effect > 1 and metric_by_name(row.metric).in_percent:
        return Cell(">100 pp", "difference")
    return difference(row.metric, effect, signed=False)


def further_table(compared: Compared, rows: Sequence[ComparisonRow]) -> Iterator[TableBlock]:
    """The results of the optional tests, if there are any."""
    further = ((row.wilcoxon_p, row.bootstrap_resamples, row.sign_p) for row in rows)
    if all(number is None for of_row in further for number in of_row):
        return
    method = compared.request.correction
    columns: Columns = [
        _NAME,
        whole_numbers(
            "bootstrap interval",
            "",
            lambda row: interval(row.metric, row.bootstrap_ci_low, row.bootstrap_ci_high),
        ),
        whole_numbers(
            "Wilcoxon p adj.", "", lambda row: probability(getattr(row, f"wilcoxon_p_{method}"))
        ),
        whole_numbers("sign p adj.", "", lambda row: probability(getattr(row, f"sign_p_{method}"))),
    ]
    yield table_of(columns, rows)
