"""Parts of a comparison as text: the legend, gaps, documents of a pool, and other policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from goodgain.pipeline.document.console import metric_table, on_terminal, plain_table
from goodgain.pipeline.document.numbers import difference_text, interval_text, value_text
from goodgain.pipeline.document.safe_text import shortened
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.measures import Family
from goodgain.pipeline.studies.comparison.pool_finds import PoolFinds
from goodgain.pipeline.studies.comparison.rows import ComparisonRow, SensitivityRow
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod
from goodgain.transforms.core.scoring.metric_by_name import labels, metric_by_name
from goodgain.transforms.core.wording import counted, pluralize

COLOURS = {"better": "green", "worse": "red", "changed": "yellow", "not comparable": "yellow"}
NULLS_EXPLAINED = (
    "null: conversations on which a metric has no value; they are in no mean above. worst: the "
    "means if each of them had the metric's worst value."
)
_EVERYONE = (
    "conversations that did not search count with gain 0 (population everyone), since the arms "
    "differ in how often they searched at all."
)
_METHODS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}
_SHOWN_DOCUMENTS = 3
_LONGEST_DOCUMENT = 100


def p_text(value: float | None) -> str:
    """A p value to three decimals."""
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def legend(compared: Compared, shown: Sequence[ComparisonRow]) -> Table:
    """One line for each column or word in the tables that needs it."""
    table = Table.grid(padding=(0, 2))
    for heading, meaning in _meanings(compared, shown):
        table.add_row(Text(heading, "dim"), Text(meaning, "dim"))
    return table


def _meanings(compared: Compared, shown: Sequence[ComparisonRow]) -> Iterator[tuple[str, str]]:
    level = f"{compared.request.tests.options.confidence * 100:g} %"
    paired = compared.matched.paired
    method = _METHODS[compared.request.correction]
    test = "p value of the t-test, or of the exact test that a note names"
    yield "p adj.", f"{test}{_corrections(compared.tests, shown, method)}"
    yield (
        "interval",
        "of the difference, corrected like p: it excludes 0 exactly when the verdict is better, "
        f"worse or changed; in at least {level} of comparisons it covers the true difference, each "
        "interval by itself, not all at once",
    )
    if any(row.verdict == "not shown" for row in shown):
        yield "not shown", "the data show no difference, which does not prove that there is none"
    if paired:
        yield "GSB", f"(good - bad) / pairs; its interval, {level} by itself, decides no verdict"
    yield "rel.", "difference in percent of the base"
    yield "effect", "Cohen's d_z" if paired else "Hedges' g"
    yield (
        "detect.",
        "smallest true difference that 80 % of such comparisons find, before any correction",
    )
    if any(metric_by_name(row.metric).in_percent for row in shown):
        yield "pp", "percentage points, also of the interval beside them"


def _corrections(
    tests: Mapping[tuple[Family, bool], int], shown: Sequence[ComparisonRow], method: str
) -> str:
    """How the p values are corrected: of each family that is shown, slices apart."""
    wanted = sorted({(row.family, bool(row.slice)) for row in shown})
    counts = [
        f"{counted(tests[family, sliced], 'test')} of the {family} family"
        + (" in slices" if sliced else "")
        for family, sliced in wanted
        if tests.get((family, sliced)) and (family != "primary" or sliced)
    ]
    text = f", corrected by {method} for {', for '.join(counts)}" if counts else ""
    alone = [row.metric for row in shown if row.family == "primary" and not row.slice]
    if alone and tests.get(("primary", False)):
        text += f"; {metric_by_name(alone[0]).label}, the primary metric, is tested by itself"
    return text


def withheld_lines(rows: Sequence[ComparisonRow]) -> list[str]:
    """The metrics that are not comparable, by reason, and a note if the population is unusual."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.reason is not None:
            by_reason.setdefault(row.reason, []).append(row.metric)
    lines = [
        f"Not comparable: {named_of(metrics, rows)}: {reason}."
        for reason, metrics in by_reason.items()
    ]
    if everyone := [row.metric for row in rows if row.population == "everyone"]:
        lines.append(f"{named_of(everyone, rows)}: {_EVERYONE}")
    return lines


def named_of(metrics: Sequence[str], rows: Sequence[ComparisonRow]) -> str:
    """The labels of metrics; if they are all of several in a table, only that."""
    if len(metrics) > 1 and len(metrics) == len(rows):
        return "All of these metrics"
    return labels(metrics)


def nulls_table(rows: Sequence[ComparisonRow], paired: bool) -> Table | None:
    """How often each metric is null in base and candidate, and the worst case; None if never."""
    shown = [
        row
        for row in rows
        if row.undefined_in_base or row.undefined_in_candidate or row.undefined_in_both
    ]
    if not shown:
        return None
    headings = ["in base", "in cand.", *(["in both"] if paired else [])]
    table = metric_table(*headings, "worst base", "cand.", "diff.", first="null")
    for row in shown:
        counts = [row.undefined_in_base, row.undefined_in_candidate]
        if paired:
            counts.append(row.undefined_in_both)
        table.add_row(
            Text(metric_by_name(row.metric).label),
            *(f"{count:,}" for count in counts),
            value_text(row.metric, row.worst_base_mean),
            value_text(row.metric, row.worst_candidate_mean),
            difference_text(row.metric, row.worst_difference),
        )
    return table


def pool_lines(finds: PoolFinds) -> Iterator[str]:
    """How many good documents each arm found, and the first ones that only one arm found."""
    good = finds.both + finds.base + finds.candidate + finds.neither
    yield (
        f"Of {good:,} good documents of the pool ({counted(finds.topics, 'topic')}), both arms "
        f"found {finds.both:,}, the base alone {finds.base:,}, the candidate alone "
        f"{finds.candidate:,}, neither {finds.neither:,}."
    )
    if finds.topics_of_one_arm:
        yield (
            f"{counted(finds.topics_of_one_arm, 'topic')} that only one arm has "
            f"{pluralize(finds.topics_of_one_arm, 'is', 'are')} not counted."
        )
    if finds.note:
        yield f"The documents cannot be listed: {finds.note}."
    for arm in ("base", "candidate"):
        alone = [one for one in finds.documents if one.found_by == arm]
        for one in alone[:_SHOWN_DOCUMENTS]:
            topic = one.topic if one.topic is not None else one.conversation_id
            text = f"{topic} [{one.label}] {one.title or one.document}"
            text += f" {one.url}" if one.url else ""
            yield f"  Only the {arm}: {shortened(text, _LONGEST_DOCUMENT)}"


def render_sensitivity(
    rows: Sequence[SensitivityRow], console: Console, correction: AdjustmentMethod
) -> None:
    """Print for each metric the difference under every policy, and which verdicts change."""
    console.print(Text("\nUnder other policies, all conversations, at N", "bold"))
    table = plain_table()
    table.add_column("metric", max_width=on_terminal(20), overflow="fold")
    table.add_column("policy", no_wrap=True)
    for heading in ("diff.", "interval", "p adj."):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        for position, row in enumerate(of_metric):
            verdict = Text(row.verdict, style=COLOURS.get(row.verdict, ""))
            table.add_row(
                Text(metric_by_name(metric).label if position == 0 else ""),
                row.policy,
                difference_text(metric, row.difference),
                interval_text(metric, row.ci_low, row.ci_high),
                p_text(getattr(row, f"p_{correction}")),
                verdict.append(" (changes)") if row.verdict_changes else verdict,
            )
    console.print(table)
    changed = list(dict.fromkeys(row.metric for row in rows if row.verdict_changes))
    conclusion = f"Verdicts that change: {labels(changed)}." if changed else "No verdict changes."
    console.print(Text(f"\n{conclusion}"))
