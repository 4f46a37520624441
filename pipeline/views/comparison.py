"""A comparison as tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from goodgain.pipeline.document.console import metric_table
from goodgain.pipeline.document.numbers import difference_text, interval_text, value_text
from goodgain.pipeline.document.safe_text import printable, shortened
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.unlabelled_arms import ShownRows
from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.clusters import arm_warnings, leading_row
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.examples import Example
from goodgain.pipeline.studies.comparison.matching import Account
from goodgain.pipeline.studies.comparison.rows import ComparisonRow
from goodgain.pipeline.studies.comparison.statistics import corrected_p
from goodgain.pipeline.views.comparison_parts import (
    COLOURS,
    NULLS_EXPLAINED,
    legend,
    named_of,
    nulls_table,
    p_text,
    pool_lines,
    withheld_lines,
)
from goodgain.transforms.core.scoring.metric_by_name import at_i, labels, metric_by_name
from goodgain.transforms.core.scoring.registry import cautions
from goodgain.transforms.core.warnings.codes import FEW_EFFECTIVE_CLUSTERS
from goodgain.transforms.core.wording import counted, pluralize

_LONGEST_KEY = 60
_NAME_WIDTH = 34
_MOST_SLICES = 60


def render(compared: Compared, console: Console, at: int | None = None) -> None:
    """Print a comparison: its metrics at iteration `at`, or at N."""
    _line(console, compared.answer, "bold")
    console.print()
    _arms(compared, console)
    rows_at = [row for row in compared.rows if row.i == at]
    slices = [list(rows) for _, rows in groupby(rows_at, key=attrgetter("slice"))]
    shown_slices = _largest(slices)
    for rows in shown_slices:
        _slice(compared, rows[0].slice, _shown(compared, rows), console, at)
    if hidden := len(slices) - len(shown_slices):
        console.print()
        _line(
            console,
            f"{counted(hidden, 'smaller slice is', 'smaller slices are')} not shown; use --json or "
            "--output for all.",
            "yellow",
        )
    if compared.pool_finds is not None:
        console.print()
        for line in pool_lines(compared.pool_finds):
            _line(console, line)
    console.print()
    console.print(legend(compared, _chosen(compared, rows_at)))
    if at is None:
        _line(console, "For iteration I, use --at I; for all columns, --json or --output.", "dim")
    if compared.examples is not None and compared.request.examples:
        for title, examples in (
            ("Largest wins", compared.examples.wins),
            ("Largest losses", compared.examples.losses),
        ):
            heading = title + _comparability_note(compared)
            _examples(heading, compared.examples.metric, examples, console)


def _shown(compared: Compared, rows: Iterable[ComparisonRow]) -> list[ComparisonRow]:
    """The rows without the numbers of arms that have no labels."""
    return list(map(ShownRows(compared.without_labels).struct, rows))


def _largest(slices: list[list[ComparisonRow]]) -> list[list[ComparisonRow]]:
    """The slices to print, in their order; all conversations come first."""
    sizes = [max(row.n_base + row.n_candidate for row in rows) for rows in slices]
    by_size = sorted(range(len(slices)), key=lambda n: (bool(slices[n][0].slice), -sizes[n]))
    return [slices[n] for n in sorted(by_size[: _MOST_SLICES + 1])]


def _arms(compared: Compared, console: Console) -> None:
    arms, matched = compared.arms, compared.matched
    _line(console, f"Base:      {arms.base.label} ({_size(arms.base)})")
    _line(console, f"Candidate: {arms.candidate.label} ({_size(arms.candidate)})")
    if matched.paired:
        _line(console, f"{counted(len(matched.keys), 'pair')} by {compared.pair_by}.")
        for name, account in (
            ("base", compared.base_account),
            ("candidate", compared.candidate_account),
        ):
            if account is not None:
                _account(name, account, console)
    else:
        why = "as requested" if compared.request.unpaired else "the arms share no conversation_id"
        _line(console, f"Unpaired, {why}: two samples (Welch), no good/same/bad.")
    if compared.cluster:
        whole = [row for row in compared.rows if not row.slice]
        _line(console, _clusters_text(compared, _shown(compared, whole)))
    render_warnings(compared, console)
    for name, metrics in (("base", arms.only_in_base), ("candidate", arms.only_in_candidate)):
        if metrics:
            _line(console, f"Only the {name} has {labels(metrics)}: not compared.")


def render_warnings(compared: Compared, console: Console) -> None:
    """Print how the runs differ although they are compared, and the warnings about their data."""
    for mismatch in compared.arms.forced:
        _line(console, f"Warning: forced although the runs differ in {mismatch}.", "yellow")
    for warning in compared.warnings:
        _line(console, warning_text(warning), "yellow")
    base, candidate = compared.arms.base_source, compared.arms.candidate_source
    sources = {"Base": base, "Candidate": candidate}
    if base.folder == candidate.folder:
        sources = {"Both arms": base}
    for which, source in sources.items():
        for warning in arm_warnings(source.manifest):
            _line(console, f"{which}: {warning_text(warning)}", "yellow")


def _size(arm: Arm) -> str:
    total = counted(len(arm.ids) + len(arm.left_out), "conversation")
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
    unreliable = any(one.code == FEW_EFFECTIVE_CLUSTERS for one in compared.warnings)
    if first.minimum_detectable_effect is None or unreliable:
        return f"{text}."
    detectable = difference_text(first.metric, first.minimum_detectable_effect, signed=False)
    return (
        f"{text}; with that many, a true difference of {detectable} is detected in 80 % of "
        "comparisons."
    )


def _account(name: str, account: Account, console: Console) -> None:
    if account.repeated:
        _line(
            console,
            f"  In the {name}, "
            f"{counted(account.repeated, 'conversation shares its', 'conversations share their')} "
            "key with another of the same arm; each key counts once, with their mean.",
        )
    fell_out = sum(account.unmatched.values())
    if fell_out:
        reasons = ", ".join(f"{n:,} {why}" for why, n in sorted(account.unmatched.items()))
        _line(
            console,
            f"  Of the {name}'s {counted(account.conversations, 'conversation')}, {fell_out:,} "
            f"{pluralize(fell_out, 'is', 'are')} in no pair in which both searched: {reasons}.",
        )


def _slice(
    compared: Compared,
    row_slice: dict[str, str],
    rows: list[ComparisonRow],
    console: Console,
    at: int | None,
) -> None:
    where = ", ".join(f"{name} = {value or '(none)'}" for name, value in row_slice.items())
    when = "at N" if at is None else f"at i = {at}"
    for populations, who in _POPULATIONS.items():
        shown = _chosen(compared, [row for row in rows if row.population in populations])
        if not shown:
            continue
        of = "" if at is None else f", {who}"
        console.print()
        heading = f"{where or 'All conversations'}, {when}{of}"
        if not any(row.n_base or row.n_candidate for row in shown):
            _line(console, f"{heading}: none", "bold")
            continue
        _line(console, heading, "bold")
        console.print(_table(compared, shown))
        console.print()
        console.print(_sizes(compared, shown))
        further = ((row.wilcoxon_p, row.bootstrap_resamples, row.sign_p) for row in shown)
        if any(one is not None for of_row in further for one in of_row):
            console.print()
            console.print(_further(compared, shown))
        if (nulls := nulls_table(shown, compared.matched.paired)) is not None:
            console.print()
            console.print(nulls)
            _line(console, f"  {NULLS_EXPLAINED}", "dim")
        for line in withheld_lines(shown):
            _line(console, line, "yellow")
        _notes(shown, console)


def _chosen(compared: Compared, rows: list[ComparisonRow]) -> list[ComparisonRow]:
    """The rows of the declared family (at an iteration, of their `_at_i` metrics), else all."""
    declared = compared.arms.measures.declared
    wanted = {*declared, *map(at_i, declared)}
    chosen = [row for row in rows if row.metric in wanted]
    return chosen or rows


_POPULATIONS = {
    ("reached",): "conversations that reached it in both arms",
    ("all", "everyone"): "all conversations, with nothing added after they stopped",
}


def _table(compared: Compared, rows: list[ComparisonRow]) -> Table:
    table = metric_table("base", "cand.", "diff.", "interval", "p adj.", width=_NAME_WIDTH)
    longest_word = max(len(word) for row in rows for word in row.verdict.split())
    table.add_column("verdict", min_width=longest_word, max_width=len("comparable"))
    if compared.matched.paired:
        table.add_column("GSB", justify="right", no_wrap=True)
    for row in rows:
        cells: list[str | Text] = [
            Text(_name(row)),
            value_text(row.metric, row.base_mean),
            value_text(row.metric, row.candidate_mean),
            difference_text(row.metric, row.difference),
            interval_text(row.metric, *row.shown_interval),
            p_text(corrected_p(row, compared.request.correction)),
            Text(row.verdict, style=COLOURS.get(row.verdict, "")),
        ]
        if compared.matched.paired:
            cells.append("" if row.gsb is None or row.reason else f"{row.gsb:+z.2f}")
        table.add_row(*cells)
    return table


def _sizes(compared: Compared, rows: list[ComparisonRow]) -> Table:
    """Each difference with its effect size, the detectable difference and the number of pairs."""
    paired = compared.matched.paired
    of_pairs = ["good/same/bad", "GSB interval"] if paired else []
    table = metric_table("rel.", "effect", "detect.", "n", *of_pairs, width=_NAME_WIDTH)
    for row in rows:
        relative = row.relative_difference
        n = f"{row.n_base:,}" if paired else f"{row.n_base:,}+{row.n_candidate:,}"
        cells: list[str | Text] = [
            Text(_name(row)),
            "-" if relative is None else f"{100 * relative:+z.1f} %",
            "-" if row.effect_size is None else f"{row.effect_size:+z.2f}",
            _detectable(row),
            n,
        ]
        if paired and row.gsb is not None:
            cells.append(f"{row.good:,}/{row.same:,}/{row.bad:,}")
            low, high = row.gsb_ci_low, row.gsb_ci_high
            cells.append("-" if low is None or high is None else f"{low:+z.2f}..{high:+z.2f}")
        table.add_row(*cells)
    return table


def _detectable(row: ComparisonRow) -> str:
    """The detectable difference; no share can differ by more than 100 points."""
    effect = row.minimum_detectable_effect
    if effect is not None and effect > 1 and metric_by_name(row.metric).in_percent:
        return ">100 pp"
    return difference_text(row.metric, effect, signed=False)


def _further(compared: Compared, rows: list[ComparisonRow]) -> Table:
    """The results of the optional tests."""
    headings = ("bootstrap interval", "Wilcoxon p adj.", "sign p adj.")
    table = metric_table(*headings, width=_NAME_WIDTH)
    method = compared.request.correction
    for row in rows:
        table.add_row(
            Text(_name(row)),
            interval_text(row.metric, row.bootstrap_ci_low, row.bootstrap_ci_high),
            p_text(getattr(row, f"wilcoxon_p_{method}")),
            p_text(getattr(row, f"sign_p_{method}")),
        )
    return table


def _notes(rows: list[ComparisonRow], console: Console) -> None:
    noted: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            noted.setdefault(row.note, []).append(row.metric)
    for note, metrics in noted.items():
        _line(console, f"  {named_of(metrics, rows)}: {note}.", "dim")
    for caution, cautioned in cautions(row.metric for row in rows).items():
        _line(console, f"  {', '.join(cautioned)}: {caution}", "dim")


def _name(row: ComparisonRow) -> str:
    return metric_by_name(row.metric).label + (" (own ideal)" if row.own_ideal else "")


def _comparability_note(compared: Compared) -> str:
    """A note for the heading of examples if the metric that selects them is not comparable."""
    metric = compared.examples.metric if compared.examples else None
    withheld = any(
        row.reason and row.metric == metric and row.i is None and not row.slice
        for row in compared.rows
    )
    return " (not comparable)" if withheld else ""


def _examples(title: str, metric: str, examples: Sequence[Example], console: Console) -> None:
    console.print()
    heading = f"{title} by {metric_by_name(metric).label}"
    _line(console, heading if examples else f"{heading}: none", "bold")
    for example in examples:
        _line(console, f"{shortened(example.key, _LONGEST_KEY)}: {_example_text(example)}")
        for command in example.commands:
            console.print(Text(f"  {command}", style="dim"), soft_wrap=True)


def _example_text(example: Example) -> str:
    """The numbers of both arms, in one line."""
    main = _change(example.metric, example.base_value, example.candidate_value)
    changes = [f"{main} ({difference_text(example.metric, example.difference)})"]
    for name, base in example.base_numbers.items():
        if name != example.metric:
            changes.append(_change(name, base, example.candidate_numbers[name]))
    return ", ".join(changes)


def _change(metric: str, base: float | None, candidate: float | None) -> str:
    values = f"{_short_value(metric, base)} to {_short_value(metric, candidate)}"
    return f"{metric_by_name(metric).label} {values}"


def _short_value(metric: str, value: float | None) -> str:
    if value is not None and value.is_integer() and not metric_by_name(metric).in_percent:
        return f"{value:,.0f}"
    return value_text(metric, value, digits=3)


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(printable(text) if text.strip() == text else "  " + printable(text), style))
