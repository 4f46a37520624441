"""The tables of a comparison, one row for each metric, and the notes below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    table,
    term,
    value,
    verdict,
)
from goodgain.pipeline.document.numbers import NONE, probability, relative
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow, SensitivityRow
from goodgain.pipeline.studies.comparison.statistics import corrected_p
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod
from goodgain.transforms.core.metrics.by_name import cautions, labels, metric_by_name

_NAME = TableColumn("metric", widest=34)
_VERDICT = TableColumn("verdict", widest=len("comparable"))
_NULLS_EXPLAINED = (
    "null: conversations on which a metric has no value; they are in no mean above. worst: the "
    "means if each of them had the metric's worst value."
)
_EVERYONE = (
    "conversations that did not search count with gain 0 (population everyone), since the arms "
    "differ in how often they searched at all."
)


def _numbers(*headings: str) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(heading, right=True, whole=True) for heading in headings)


def _name(row: ComparisonRow) -> Cell:
    return term(row.metric, "own ideal" if row.own_ideal else "")


def short_table(rows: Sequence[ComparisonRow]) -> TableBlock:
    """What was compared, how it differs and what that shows."""
    return table(
        (_NAME, *_numbers("base", "candidate", "difference", "interval"), TableColumn("verdict")),
        [
            (
                _name(row),
                value(row.metric, row.base_mean),
                value(row.metric, row.candidate_mean),
                difference(row.metric, row.difference),
                interval(row.metric, *row.shown_interval),
                verdict(row.verdict),
            )
            for row in rows
        ],
    )


def differences_table(compared: Compared, rows: Sequence[ComparisonRow]) -> TableBlock:
    """Each difference with its interval, p value and verdict."""
    paired = compared.matched.paired
    return table(
        (
            _NAME,
            *_numbers("base", "cand.", "diff.", "interval", "p adj."),
            _VERDICT,
            *_numbers(*(["GSB"] if paired else [])),
        ),
        [
            (
                _name(row),
                value(row.metric, row.base_mean),
                value(row.metric, row.candidate_mean),
                difference(row.metric, row.difference),
                interval(row.metric, *row.shown_interval),
                probability(corrected_p(row, compared.request.correction)),
                verdict(row.verdict),
                *([_gsb(None if row.reason else row.gsb)] if paired else []),
            )
            for row in rows
        ],
    )


def sizes_table(rows: Sequence[ComparisonRow], paired: bool) -> TableBlock:
    """Each difference with its effect size, the detectable difference and the number of pairs."""
    of_pairs = ["good/same/bad", "GSB interval"] if paired else []
    return table(
        (_NAME, *_numbers("rel.", "effect", "detect.", "n", *of_pairs)),
        [
            (
                _name(row),
                relative(row.relative_difference),
                NONE if row.effect_size is None else f"{row.effect_size:+z.2f}",
                _detectable(row),
                f"{row.n_base:,}" if paired else f"{row.n_base:,}+{row.n_candidate:,}",
                *(_outcomes(row) if paired else ()),
            )
            for row in rows
        ],
    )


def _outcomes(row: ComparisonRow) -> tuple[str, str]:
    if row.gsb is None:
        return "", ""
    low, high = row.gsb_ci_low, row.gsb_ci_high
    ends = NONE if low is None or high is None else f"{low:+z.2f}..{high:+z.2f}"
    return f"{row.good:,}/{row.same:,}/{row.bad:,}", ends


def _gsb(number: float | None) -> str:
    return "" if number is None else f"{number:+z.2f}"


def _detectable(row: ComparisonRow) -> Cell:
    """The detectable difference; no share can differ by more than 100 points."""
    effect = row.minimum_detectable_effect
    if effect is not None and effect > 1 and metric_by_name(row.metric).in_percent:
        return Cell(">100 pp", "difference")
    return difference(row.metric, effect, signed=False)


def further_table(compared: Compared, rows: Sequence[ComparisonRow]) -> Iterator[TableBlock]:
    """The results of the optional tests, if there are any."""
    further = ((row.wilcoxon_p, row.bootstrap_resamples, row.sign_p) for row in rows)
    if all(one is None for of_row in further for one in of_row):
        return
    method = compared.request.correction
    yield table(
        (_NAME, *_numbers("bootstrap interval", "Wilcoxon p adj.", "sign p adj.")),
        [
            (
                _name(row),
                interval(row.metric, row.bootstrap_ci_low, row.bootstrap_ci_high),
                probability(getattr(row, f"wilcoxon_p_{method}")),
                probability(getattr(row, f"sign_p_{method}")),
            )
            for row in rows
        ],
    )


def nulls_part(rows: Sequence[ComparisonRow], paired: bool) -> Iterator[Block]:
    """How often each metric is null in base and candidate, and the worst case, if it ever is."""
    shown = [
        row
        for row in rows
        if row.undefined_in_base or row.undefined_in_candidate or row.undefined_in_both
    ]
    if not shown:
        return
    headings = ["in base", "in cand.", *(["in both"] if paired else [])]
    yield table(
        (TableColumn("null", widest=34), *_numbers(*headings, "worst base", "cand.", "diff.")),
        [
            (
                term(row.metric),
                count(row.undefined_in_base),
                count(row.undefined_in_candidate),
                *([count(row.undefined_in_both)] if paired else []),
                value(row.metric, row.worst_base_mean),
                value(row.metric, row.worst_candidate_mean),
                difference(row.metric, row.worst_difference),
            )
            for row in shown
        ],
    )
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
    first = {row.metric: row.policy for row in reversed(rows)}
    return document(
        Heading("Under other policies, all conversations, at N"),
        table(
            (
                TableColumn("metric", widest=20),
                TableColumn("policy", whole=True),
                *_numbers("diff.", "interval", "p adj."),
                TableColumn("verdict", whole=True),
            ),
            [
                (
                    term(row.metric) if row.policy == first[row.metric] else "",
                    row.policy,
                    difference(row.metric, row.difference),
                    interval(row.metric, row.ci_low, row.ci_high),
                    probability(getattr(row, f"p_{correction}")),
                    verdict(row.verdict, "(changes)" if row.verdict_changes else ""),
                )
                for row in rows
            ],
        ),
        Sentence(conclusion),
    )
