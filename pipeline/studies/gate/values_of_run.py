"""Rules on values of a run itself: shares and means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from goodgain.pipeline.document.numbers import NONE, count_text, data_text, level, value_text
from goodgain.pipeline.studies.gate.bounds import GateEstimate, ProofCounts, Share, check_bound
from goodgain.pipeline.studies.gate.evidence import GateEvidence
from goodgain.pipeline.studies.gate.gate_file import GateFile
from goodgain.pipeline.studies.gate.outcome import (
    SHOWN_DIGITS,
    Outcome,
    amount_text,
    cluster_note,
    explain_too_few,
    outcome_of,
)
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.transforms.core.means.mean_row import studentize
from goodgain.transforms.core.metrics.budgets import budget_of
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.statistics import Studentized


def broken_bound(rule: Rule, value: float) -> str:
    """The bound of a rule that a value breaks; "" if none."""
    estimate = GateEstimate(value, None, abs(value))
    for side, bound in rule.limits:
        if not check_bound(estimate, bound.value, side, "none", 0.5).passed:
            return f"it is not {side} {amount_text(rule, bound)}"
    return ""


def judge_share(
    rule: Rule, slice_: Mapping[str, str], part: int, whole: int, doubt: str = ""
) -> Outcome:
    """The outcome of a rule on a share, in one slice."""
    if whole == 0:
        return outcome_of(rule, slice_, "", None, failure="the share is undefined: the whole is 0")
    value = part / whole
    shown = f"{level(value, digits=4)} ({count_text(part)} of {count_text(whole)})"
    return outcome_of(rule, slice_, shown, None, failure=broken_bound(rule, value) or doubt)


def judge_means(
    rule: Rule, gate: GateFile, evidence: GateEvidence, proofs: ProofCounts
) -> Iterator[Outcome]:
    """The outcomes of a rule on a mean, or on the share of values that it lacks, in each slice."""
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
            yield judge_share(rule, slice_, row["undefined"], row["n"] + row["undefined"])
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
