"""The verdict on a day: its data, its differences from the baseline, and the gate's rules."""

from __future__ import annotations

from pathlib import Path

from goodgain.pipeline.results.balance import describe_excess
from goodgain.pipeline.results.data_warnings import failing_warnings_in
from goodgain.pipeline.results.finished_run import read_columns
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.unlabelled_arms import ShownRows
from goodgain.pipeline.studies.comparison.compare import compare
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow, clip_to_possible
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.gate.evaluate import evaluate
from goodgain.pipeline.studies.gate.evidence import gather
from goodgain.pipeline.studies.gate.gate_file import GateFile
from goodgain.pipeline.studies.gate.outcome import Outcome, has_passed
from goodgain.pipeline.studies.nightly.baseline import Baseline
from goodgain.pipeline.studies.nightly.days.entry import DayChange, Verdict
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.wording import format_count, pluralize


def changes(folder: Path, baseline: Baseline) -> dict[str, DayChange]:
    """For each headline metric, the difference from the baseline at N over all conversations.

    Raises:
      UsageError: the runs cannot be compared.
    """
    if baseline.folder is None:
        return {}
    outputs = (str(baseline.folder), str(folder))
    of_base, of_day = (read_columns(of_run, "conversations") for of_run in outputs)
    names = [name for name in of_base if name in of_day]
    request = ComparisonRequest(
        outputs,
        metrics=headline_among("comparison", names),
        family=headline_among("decision", names),
        max_i=1,
        examples=0,  # nobody reads them here, and their queries would be looked up in the traces
    )
    compared = compare(request)
    shown = ShownRows(compared.without_labels)
    return {
        row.metric: _change(shown.struct(row))
        for row in compared.rows
        if row.i is None and not row.slice
    }


def _change(row: ComparisonRow) -> DayChange:
    """A row of the comparison as tables show it: without what arms without labels would show."""
    low, high = clip_to_possible(row.metric, row.ci_low, row.ci_high)
    verdict_low, verdict_high = clip_to_possible(
        row.metric, row.verdict_ci_low, row.verdict_ci_high
    )
    return DayChange(
        n_base=row.n_base,
        n=row.n_candidate,
        base=row.base_mean,
        difference=row.difference,
        ci_low=low,
        ci_high=high,
        p_holm=row.p_holm,
        verdict_ci_low=verdict_low,
        verdict_ci_high=verdict_high,
        verdict=row.verdict,
        reason=row.reason and str(row.reason),
        population=row.population,
    )


def judge(
    folder: Path, manifest: RunManifest, baseline: Baseline, gate: GateFile | None
) -> tuple[Verdict, tuple[str, ...], tuple[Outcome, ...]]:
    """The verdict on a day, why it did not pass, and the outcomes of the gate's rules, if any.

    With bad data the day fails whatever the gate says. If there is no baseline yet, since no
    earlier day was good and measured the same thing, rules on change are skipped even if the gate
    file says that they fail then; otherwise there could never be a first good day.
    """
    bad = _bad_data(manifest)
    if bad:
        return "bad data", (bad,), ()
    if gate is None:
        return "passed", (), ()
    if baseline.lacking:
        gate = gate.model_copy(update={"without_baseline": "skip"})
    baseline_folder = None if baseline.folder is None else str(baseline.folder)
    outcomes = tuple(evaluate(gate, gather(gate, str(folder), baseline_folder)))
    if has_passed(outcomes):
        return "passed", (), outcomes
    failed = (outcome for outcome in outcomes if outcome.verdict == "failed")
    return "gate failed", tuple(map(_failure_text, failed)), outcomes


def _bad_data(manifest: RunManifest) -> str:
    records = manifest.records
    if records.too_many_rejected:
        limit = f"max_rejected = {manifest.options.max_rejected}"
        return (
            f"{records.rejected:,} of {format_count(records.read, 'record')} "
            f"{pluralize(records.rejected, 'was', 'were')} rejected; "
            f"{describe_excess(records.unknown_losses, limit)}"
        )
    if warnings := failing_warnings_in(manifest):
        return warnings[0].message.rstrip(".")
    if not manifest.conversations.in_means:
        return "there are no conversations in the means"
    return ""


def _failure_text(outcome: Outcome) -> str:
    rule, value, bound = outcome.cells
    return f"{rule}{f' {value}' if value else ''}: {outcome.reason} (required: {bound})"
