"""What the columns of the tables of a comparison mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from goodgain.pipeline.comparison.compare import Compared
from goodgain.pipeline.comparison.measures import Family
from goodgain.pipeline.comparison.rows import ComparisonRow
from goodgain.transforms.core.scoring.metric_by_name import metric_by_name
from goodgain.transforms.core.wording import counted

_METHODS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}


def legend(compared: Compared, shown: Sequence[ComparisonRow]) -> Table:
    """One line for each column or word that needs it.

    Args:
      shown: the rows in the tables.
    """
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
