"""What the words in the tables of a comparison mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from goodgain.pipeline.document.model import TableBlock, facts
from goodgain.pipeline.document.numbers import level
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.studies.comparison.measures import Family
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.wording import format_count

METHODS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}


def legend(compared: Compared, shown: Sequence[ComparisonRow]) -> Iterator[TableBlock]:
    """One line for each column or word in the tables that needs it."""
    yield facts(_meanings(compared, shown))


def _meanings(compared: Compared, shown: Sequence[ComparisonRow]) -> Iterator[tuple[str, str]]:
    confidence = level(compared.request.tests.options.confidence)
    paired = compared.matched.paired
    method = METHODS[compared.request.correction]
    test = "p value of the t-test, or of the exact test that a note names"
    if any(row.i is None for row in shown):
        yield "at N", "over all N iterations of the last turn of each conversation"
    yield "p adj.", f"{test}{_corrections(compared.tests, shown, method)}"
    yield (
        "interval",
        "of the difference, corrected like p: it excludes 0 exactly when the verdict is better, "
        f"worse or changed; in at least {confidence} of comparisons it covers the true "
        "difference, each interval by itself, not all at once",
    )
    if any(row.verdict == "not shown" for row in shown):
        yield "not shown", "the data show no difference, which does not prove that there is none"
    if paired:
        yield (
            "GSB",
            "(good - bad) / pairs, where good pairs got better and bad ones worse; its interval, "
            f"{confidence} by itself, decides no verdict",
        )
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
        f"{format_count(tests[family, sliced], 'test')} of the {family} family"
        + (" in slices" if sliced else "")
        for family, sliced in wanted
        if tests.get((family, sliced)) and (family != "primary" or sliced)
    ]
    text = f", corrected by {method} for {', for '.join(counts)}" if counts else ""
    alone = [row.metric for row in shown if row.family == "primary" and not row.slice]
    if alone and tests.get(("primary", False)):
        text += f"; {metric_by_name(alone[0]).label}, the primary metric, is tested by itself"
    return text
