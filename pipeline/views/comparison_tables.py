"""The tables of a comparison, one row for each metric, and the notes below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeAlias

from goodgain.pipeline.document.columns import CellColumn, numbers, table_of
from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Document,
    Heading,
    Sentence,
    TableBlock,
    TableColumn,
    count,
    difference,
    document,
    interval,
    sentences,
    term,
    value,
    verdict,
)
from goodgain.pipeline.document.numbers import NONE, count_text, probability, relative, value_text
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow, SensitivityRow
from goodgain.pipeline.studies.comparison.statistics import corrected_p
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod
from goodgain.transforms.core.metrics.by_name import cautions, labels, metric_by_name

Columns: TypeAlias = list[CellColumn[ComparisonRow]]
_NULLS_EXPLAINED = (
    "null: conversations on which a metric has no value; they are in no mean above. worst: the "
    "means if each of them had the metric's worst value."
)
_EVERYONE = (
    "conversations that did not search count with gain 0 (population everyone), since the arms "
    "differ in how often they searched at all."
)


_numbers = partial(numbers, whole=True)
_NAME: CellColumn[ComparisonRow] = CellColumn(
    TableColumn("metric", widest=34),
    lambda row: term(row.metric, "own ideal" if row.own_ideal else ""),
)
_BASE: CellColumn[ComparisonRow] = _numbers(
    "base", "base_mean", lambda row: value(row.metric, row.base_mean)
)
_INTERVAL: CellColumn[ComparisonRow] = _numbers(
    "interval",
    "interval",
    lambda row: interval(row.metric, *row.shown_interval),
    long="interval, corrected",
)


def _candidate(heading: str) -> CellColumn[ComparisonRow]:
    return _numbers(
        heading,
        "candidate_mean",
        lambda row: value(row.metric, row.candidate_mean),
        long="candidate",
    )


def _difference(heading: str) -> CellColumn[ComparisonRow]:
    return _numbers(
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
    gsb: CellColumn[ComparisonRow] = _numbers(
        "GSB", "gsb", lambda row: _signed(None if row.reason else row.gsb)
    )
    return [
        _BASE,
        _candidate("cand."),
        _difference("diff."),
        _INTERVAL,
        _numbers("p", "p_value", lambda row: probability(row.p_value), wide=True),
        _numbers(
            "p adj.",
            "p_corrected",
            lambda row: probability(corrected_p(row, correction)),
            long="p corrected",
        ),
        _verdict(widest=len("comparable")),
        *([gsb] if paired else []),
    ]


def size_columns(paired: bool) -> Columns:
    """Each difference with its effect size, the detectable difference and the number of pairs."""
    of_pairs: Columns = [
        _numbers("good/same/bad", "counts", _counts),
        _numbers(
            "GSB interval", "gsb_interval", lambda row: _ends(row.gsb_ci_low, row.gsb_ci_high)
        ),
    ]
    return [
        _numbers(
            "rel.",
            "relative_difference",
            lambda row: relative(row.relative_difference),
            long="relative",
        ),
        _numbers("effect", "effect_size", lambda row: _signed(row.effect_size), long="effect size"),
        _numbers("detect.", "minimum_detectable_effect", _detectable, long="detectable"),
        _numbers("n", "n", lambda row: _size(row, paired)),
        *(of_pairs if paired else []),
        CellColumn(TableColumn("why", wide=True, part="reason"), lambda row: row.reason or ""),
        CellColumn(TableColumn("of all conversations", wide=True), partial(_remark, paired)),
    ]


def all_columns(paired: bool, correction: AdjustmentMethod) -> Columns:
    """The columns of a page, which has room for all in one table."""
    return [_NAME, *difference_columns(paired, correction), *size_columns(paired)]


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


def _signed(number: float | None) -> str:
    return NONE if number is None else f"{number:+z.2f}"


def _ends(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else f"{_signed(low)}..{_signed(high)}"


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


def _detectable(row: ComparisonRow) -> Cell:
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
        _numbers(
            "bootstrap interval",
            "",
            lambda row: interval(row.metric, row.bootstrap_ci_low, row.bootstrap_ci_high),
        ),
        _numbers(
            "Wilcoxon p adj.", "", lambda row: probability(getattr(row, f"wilcoxon_p_{method}"))
        ),
        _numbers("sign p adj.", "", lambda row: probability(getattr(row, f"sign_p_{method}"))),
    ]
    yield table_of(columns, rows)


def nulls_part(rows: Sequence[ComparisonRow], paired: bool) -> Iterator[Block]:
    """How often each metric is null in base and candidate, and the worst case, if it ever is."""
    shown = list(filter(has_nulls, rows))
    if not shown:
        return
    both: CellColumn[ComparisonRow] = _numbers(
        "in both", "", lambda row: count(row.undefined_in_both)
    )
    columns: Columns = [
        CellColumn(TableColumn("null", widest=34), lambda row: term(row.metric)),
        _numbers("in base", "", lambda row: count(row.undefined_in_base)),
        _numbers("in cand.", "", lambda row: count(row.undefined_in_candidate)),
        *([both] if paired else []),
        _numbers("worst base", "", lambda row: value(row.metric, row.worst_base_mean)),
        _numbers("cand.", "", lambda row: value(row.metric, row.worst_candidate_mean)),
        _numbers("diff.", "", lambda row: difference(row.metric, row.worst_difference)),
    ]
    yield table_of(columns, shown)
    yield Sentence(_NULLS_EXPLAINED, "quiet", indent=1)


def withheld_part(rows: Sequence[ComparisonRow]) -> list[Sentence]:
    """The metrics that are not comparable, by reason, and a note if the population is unusual."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.reason is not None:
            by_reason.setdefault(row.reason, []).append(row.metric)
    lines = [
        f"Not comparable: {_named(metrics, rows)}: {reason}."
        for reason, metrics in by_reason.items()
    ]
    if everyone := [row.metric for row in rows if row.population == "everyone"]:
        lines.append(f"{_named(everyone, rows)}: {_EVERYONE}")
    return sentences(lines, "warning")


def notes_part(rows: Sequence[ComparisonRow]) -> list[Sentence]:
    """Notes on the tests, and how better values may mislead."""
    noted: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            noted.setdefault(row.note, []).append(row.metric)
    lines = [f"{_named(metrics, rows)}: {note}." for note, metrics in noted.items()]
    warned = cautions(row.metric for row in rows).items()
    lines += [f"{', '.join(cautioned)}: {caution}" for caution, cautioned in warned]
    return sentences(lines, "quiet", indent=1)


def _named(metrics: Sequence[str], rows: Sequence[ComparisonRow]) -> str:
    """The labels of metrics; if they are all of several in a table, only that."""
    if len(metrics) > 1 and len(metrics) == len(rows):
        return "All of these metrics"
    return labels(metrics)


def sensitivity_document(rows: Sequence[SensitivityRow], correction: AdjustmentMethod) -> Document:
    """For each metric the difference under every policy, and which verdicts change."""
    changed = list(dict.fromkeys(row.metric for row in rows if row.verdict_changes))
    conclusion = f"Verdicts that change: {labels(changed)}." if changed else "No verdict changes."
    return document(
        Heading("Under other policies, all conversations, at N"),
        sensitivity_table(rows, correction),
        Sentence(conclusion),
    )


def sensitivity_table(rows: Sequence[SensitivityRow], correction: AdjustmentMethod) -> TableBlock:
    """For each metric the difference under every policy."""
    first = {row.metric: row.policy for row in reversed(rows)}
    columns: list[CellColumn[SensitivityRow]] = [
        CellColumn(
            TableColumn("metric", widest=20),
            lambda row: term(row.metric) if row.policy == first[row.metric] else "",
        ),
        CellColumn(TableColumn("policy", whole=True), lambda row: row.policy),
        _numbers("base", "", lambda row: value(row.metric, row.base_mean), wide=True),
        _numbers("candidate", "", lambda row: value(row.metric, row.candidate_mean), wide=True),
        _numbers(
            "diff.", "", lambda row: difference(row.metric, row.difference), long="difference"
        ),
        _numbers("interval", "", lambda row: interval(row.metric, row.ci_low, row.ci_high)),
        _numbers("p adj.", "", lambda row: probability(getattr(row, f"p_{correction}"))),
        CellColumn(
            TableColumn("verdict", whole=True),
            lambda row: verdict(row.verdict, "(changes)" if row.verdict_changes else ""),
        ),
    ]
    caption = "Differences under other policies: all conversations, at the last iteration"
    return table_of(columns, rows, caption)
