"""Applies a gate to a run: checks every rule; a missing value fails its rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from msgspec import Struct

from goodgain.pipeline.document.numbers import NONE, count_text, data_text, level, value_text
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.results.folder import same_folder
from goodgain.pipeline.studies.gate.bounds import (
    GateEstimate,
    ProofCounts,
    Share,
    check_bound,
    count_proofs,
)
from goodgain.pipeline.studies.gate.change import judge_change, slices_to_check
from goodgain.pipeline.studies.gate.evidence import GateEvidence, gather
from goodgain.pipeline.studies.gate.gate_file import GateFile, load_gate
from goodgain.pipeline.studies.gate.outcome import (
    SHOWN_DIGITS,
    Outcome,
    amount_text,
    cluster_note,
    explain_too_few,
    outcome_of,
)
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.mean_row import studentize
from goodgain.transforms.core.metrics.budgets import budget_of
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.statistics import Studentized
from goodgain.transforms.core.warnings.codes import CODES
from goodgain.transforms.core.wording import format_count

# Where the manifest has the part and the whole of each share.
_SHARES = {
    "rejected": ("records.rejected", "records.read"),
    "late": ("records.late", "records.read"),
    "redelivered": ("records.redelivered", "records.read"),
    "unlabelled": ("results.unlabelled", "results.total"),
    "without_search": ("conversations.without_search", "conversations.total"),
    "with_rejected_records": ("conversations.with_rejected_records", "conversations.total"),
}
# Where the manifest has each count.
_COUNTS = {
    "conversations": "conversations.in_means",
    "records": "records.read",
    "results": "results.total",
}


class Gate(Struct, frozen=True):
    """Rules, and the baseline for their bounds on change.

    Attributes:
      baseline: output of another run, or None.
      force: compare with it even if parameters that metrics depend on differ.
    """

    rules: GateFile
    baseline: str | None
    force: bool

    @classmethod
    def load(cls, path: str, baseline: str | None, force: bool = False) -> Gate:
        """Read the rules, and check the baseline.

        Raises:
          UsageError: the file cannot be used, or the baseline is not the output of a finished run.
        """
        return cls.of(load_gate(path), baseline, force)

    @classmethod
    def of(cls, rules: GateFile, baseline: str | None, force: bool = False) -> Gate:
        """Check the baseline.

        Raises:
          UsageError: it is not the output of a finished run.
        """
        if baseline is not None:
            read_run(baseline)
        return cls(rules, baseline, force)

    def check(self, folder: str) -> None:
        """Refuse to compare a run with itself, which would pass every rule on change.

        Raises:
          UsageError: the folder is the baseline.
        """
        if self.baseline is not None and same_folder(folder, self.baseline):
            raise UsageError(f"{folder} is the baseline itself: use another run as baseline.")

    def outcomes(self, folder: str) -> list[Outcome]:
        """The outcome of every rule for the output of a run.

        Raises:
          UsageError: the folder is not the output of a finished run, or is the baseline itself.
        """
        self.check(folder)
        return evaluate(self.rules, gather(self.rules, folder, self.baseline, self.force))


def evaluate(gate: GateFile, evidence: GateEvidence) -> list[Outcome]:
    """The outcomes of the rules in file order; one for each slice of a rule.

    Outcomes about warnings come first, since they may make the other values doubtful.
    """
    proofs = count_proofs(
        (rule, _slices(rule, evidence)) for rule in gate.rules if rule.proof not in (None, "none")
    )
    judged = [outcome for rule in gate.rules for outcome in _judge(rule, gate, evidence, proofs)]
    return [*_warnings(gate, evidence), *judged]


def _warnings(gate: GateFile, evidence: GateEvidence) -> Iterator[Outcome]:
    """One outcome for each forbidden warning of the run; a single passing one if there are none."""
    if not gate.warnings:
        return
    bound = "none" if set(gate.warnings) == set(CODES) else f"no {', no '.join(gate.warnings)}"
    forbidden = [warning for warning in evidence.manifest.warnings if warning.code in gate.warnings]
    if not forbidden:
        yield Outcome("warnings", "none", bound, "passed", "", None)
    for warning in forbidden:
        message = warning.message.rstrip(".")
        yield Outcome("warnings", warning.code, bound, "failed", message, None)


def _slices(rule: Rule, evidence: GateEvidence) -> int:
    """The number of slices for which a rule is checked; 0 without a usable baseline."""
    if not rule.is_change:
        return len(evidence.means.slices(rule.slice)) if rule.slice else 1
    if evidence.arms is None:
        return 0
    try:
        return len(slices_to_check(rule, evidence.arms(str(rule.metric), rule.i)))
    except UsageError:
        return 0  # `judge_change` reports the error


def _judge(
    rule: Rule, gate: GateFile, evidence: GateEvidence, proofs: ProofCounts
) -> Iterator[Outcome]:
    if rule.is_change:
        yield from judge_change(rule, gate, evidence.arms, evidence.manifest.options, proofs)
    elif rule.count is not None:
        count = attrgetter(_COUNTS[rule.count])(evidence.manifest)
        yield outcome_of(rule, {}, count_text(count), None, failure=_broken_bound(rule, count))
    elif rule.share is not None and rule.share != "undefined":
        part, whole = attrgetter(*_SHARES[rule.share])(evidence.manifest)
        losses = evidence.manifest.records.unknown_losses
        doubt = ""
        if losses and rule.share == "rejected" and rule.at_most is not None:
            doubt = f"an unknown number more is lost at {format_count(losses, 'place')}"
        yield _share(rule, {}, part, whole, doubt)
    else:
        yield from _means(rule, gate, evidence, proofs)


def _broken_bound(rule: Rule, value: float) -> str:
    """The bound of a rule that a value breaks; "" if none."""
    estimate = GateEstimate(value, None, abs(value))
    for side, bound in rule.limits:
        if not check_bound(estimate, bound.value, side, "none", 0.5).passed:
            return f"it is not {side} {amount_text(rule, bound)}"
    return ""


def _share(
    rule: Rule, slice_: Mapping[str, str], part: int, whole: int, doubt: str = ""
) -> Outcome:
    if whole == 0:
        return outcome_of(rule, slice_, "", None, failure="the share is undefined: the whole is 0")
    value = part / whole
    shown = f"{level(value, digits=4)} ({count_text(part)} of {count_text(whole)})"
    return outcome_of(rule, slice_, shown, None, failure=_broken_bound(rule, value) or doubt)


def _means(
    rule: Rule, gate: GateFile, evidence: GateEvidence, proofs: ProofCounts
) -> Iterator[Outcome]:
    slices = evidence.means.slices(rule.slice) if rule.slice else [{}]
    if not slices:
        wanted = {name: value or "any" for name, value in rule.slice.items()}
        names = ",".join(rule.slice)
        reason = (
            "the run has no means of this slice; does it occur, and was "
            + Remedy("slice", names)
            + " used"
        )
        yield outcome_of(rule, wanted, "", None, failure=reason)
    for slice_ in slices:
        row = evidence.means.mean(slice_, str(rule.metric), rule.i, rule.population or "all")
        if row is None:
            budget = budget_of(str(rule.metric))
            failure = "the run has no such mean"
            failure += "" if budget is None else "; was " + Remedy("budget", budget) + " used"
            yield outcome_of(rule, slice_, "", None, failure=failure)
        elif rule.share is not None:
            yield _share(rule, slice_, row["undefined"], row["n"] + row["undefined"])
        else:
            yield _mean(rule, gate, slice_, row, proofs)


def _uncertainty(row: Mapping[str, Any]) -> Studentized | Share | None:
    """The statistic behind the interval of a mean; None without an interval."""
    kind = row.get("interval")
    if kind is None:
        return None
    if kind == "wilson":
        return Share(row["mean"], row["n"])
    if kind == "clusters":
        return Studentized(row["mean"], row["stderr"], row["clusters"] - 1)
    return studentize(row["mean"], row["stderr"], row["n"], row["skewness"], kind)


def _mean(
    rule: Rule,
    gate: GateFile,
    slice_: Mapping[str, str],
    row: Mapping[str, Any],
    proofs: ProofCounts,
) -> Outcome:
    n, least = row["n"], rule.least_n or gate.least_n
    if row["mean"] is None:
        failure = row["note"] or "the mean is undefined"
        return outcome_of(rule, slice_, "null", n, failure=failure, shown=NONE)
    show = partial(value_text, str(rule.metric), digits=SHOWN_DIGITS)
    value, shown = data_text(row["mean"]), show(row["mean"])
    if n < least:
        failure = explain_too_few(f"n = {n:,} is", least)
        return outcome_of(rule, slice_, value, n, failure=failure, shown=shown)
    estimate = GateEstimate(
        value=row["mean"],
        uncertainty=_uncertainty(row),
        scale=abs(row["mean"]),
        constant=n > 1 and row["min"] == row["max"],
        no_interval=row["note"]
        or "the means do not record the method of their intervals; run again",
        show=show,
    )
    uneven = ""
    if row.get("interval") == "clusters":
        uneven = cluster_note(rule, row["clusters"], row.get("effective_clusters"))
    notes = []
    is_not = "not proven that it is" if rule.proof == "of_compliance" else "it is not"
    for side, bound in rule.limits:
        check = proofs.check(rule, estimate, bound.value, side)
        if not check.passed:
            reason = f"{is_not} {side} {amount_text(rule, bound)}"
            reason += f": {check.reason}" if check.reason else ""
            reason += f"; {uneven}" if uneven else ""
            return outcome_of(rule, slice_, value, n, failure=reason, shown=shown)
        notes.append(check.reason)
    note = "; ".join(filter(None, [*notes, uneven]))
    return outcome_of(rule, slice_, value, n, note=note, shown=shown)
