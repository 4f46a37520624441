"""Rules on the change of a metric against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace

from goodgain.pipeline.document.numbers import (
    NONE,
    data_text,
    difference_text,
    level,
    relative,
    value_text,
)
from goodgain.pipeline.results.manifest_model import RunOptions
from goodgain.pipeline.studies.comparison.compare import slices
from goodgain.pipeline.studies.comparison.matching import Sample
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.pipeline.studies.comparison.verdict_conditions import describe_without_counterpart
from goodgain.pipeline.studies.gate.bounds import BoundCheck, GateEstimate, ProofCounts
from goodgain.pipeline.studies.gate.compared_values import (
    ComparedValues,
    compare_values,
    measure_change,
)
from goodgain.pipeline.studies.gate.gate_file import GateFile
from goodgain.pipeline.studies.gate.outcome import (
    SHOWN_DIGITS,
    Outcome,
    amount_text,
    cluster_note,
    explain_too_few,
    outcome_of,
)
from goodgain.pipeline.studies.gate.rule_values import Amount, Side
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.transforms.core.comparison.differences import ComparisonOptions, MetricComparison
from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.comparison.samples import Array
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.wording import pluralize


def judge_change(
    rule: Rule,
    gate: GateFile,
    read_arms: Callable[[str, int | None], Arms] | None,
    of_run: RunOptions,
    proofs: ProofCounts,
) -> Iterator[Outcome]:
    """The outcomes of a bound on change, one for each slice in baseline or run."""
    if read_arms is None:
        failure = "it needs a baseline (" + Remedy("baseline", "DIR") + ")"
        missing = outcome_of(rule, {}, "", None, failure=failure)
        skip = gate.without_baseline == "skip"
        yield replace(missing, verdict="skipped", reason=failure) if skip else missing
        return
    try:
        arms = read_arms(str(rule.metric), rule.i)
    except UsageError as error:
        yield outcome_of(rule, {}, "", None, failure=error.message.removesuffix("."))
        return
    checked_slices = slices_to_check(rule, arms)
    if not checked_slices:
        slice_of_rule = {name: value or "any" for name, value in rule.slice.items()}
        reason = "no conversation belongs to this slice"
        yield outcome_of(rule, slice_of_rule, "", None, failure=reason)
    for slice_ in checked_slices:
        yield _judge(rule, gate, slice_, arms, proofs, of_run)


def slices_to_check(rule: Rule, arms: Arms) -> list[dict[str, str]]:
    """The slices of baseline or run for which a bound on change is checked."""
    if not rule.slice:
        return [{}]
    required = {name: value for name, value in rule.slice.items() if value is not None}
    if len(required) == len(rule.slice):
        both = (arms.base.parts(tuple(required)), arms.candidate.parts(tuple(required)))
        parts = [arm.get(tuple(required.values())) for arm in both]
        return [required] if any(part and part.indexes for part in parts) else []
    occurring = slices([tuple(rule.slice)], arms.base, arms.candidate)
    return [slice_ for slice_ in occurring if slice_ and required.items() <= slice_.items()]


def _judge(
    rule: Rule,
    gate: GateFile,
    slice_: Mapping[str, str],
    arms: Arms,
    proofs: ProofCounts,
    of_run: RunOptions,
) -> Outcome:
    options = ComparisonOptions(interval=gate.interval or of_run.interval)
    compared = compare_values(rule, slice_, arms, gate.cluster or of_run.cluster)
    values, paired = compared.values, compared.matched.paired
    n = min(len(values.base), len(values.candidate))
    least = rule.least_n or gate.least_n
    pair, conversation = ("pair", "pairs"), ("conversation", "conversations")
    unit = pluralize(n, *pair) if paired else f"{pluralize(n, *conversation)} in the smaller arm"
    change, shown = _change_texts(rule, compared) if n else ("", "")
    outcome = partial(outcome_of, shown=shown, population=compared.population)
    if compared.reason is not None:
        return outcome(rule, slice_, change, n, failure="not comparable: " + compared.reason)
    if n == 0:
        return outcome(rule, slice_, "", 0, failure=f"no {unit} with a value")
    if n < least:
        reason = explain_too_few(f"{n:,} {unit} {pluralize(n, 'is', 'are')}", least)
        return outcome(rule, slice_, change, n, failure=reason)
    test: Any = compare_paired if paired else compare_unpaired

    def compare(base: Array) -> MetricComparison:
        """Compare the candidate with the baseline, or with a multiple of it."""
        tested: MetricComparison = test(base, values.candidate, options, compared.codes)
        return tested

    notes = [f"n = {n:,} {unit}", *filter(None, [describe_without_counterpart(compared.matched)])]
    uneven = ""
    if compared.codes is not None and (tested := compare(values.base)).stderr is not None:
        uneven = cluster_note(rule, tested.clusters, tested.effective_clusters)
    for side, amount in rule.limits:
        if amount.percent and not values.base.any():
            reason = "the baseline's mean is 0, so a change in percent is undefined"
            return outcome(rule, slice_, change, n, failure=reason)
        check = _check_change(rule, values, compare, side, amount, proofs)
        if not check.passed:
            failure = _failure(rule, values, side, amount, check)
            return outcome(rule, slice_, change, n, failure=_join(failure, compared.doubt, uneven))
        if check.without_interval:
            notes.append(check.reason)
    return outcome(rule, slice_, change, n, note=_join(*notes, compared.doubt, uneven))


def _join(*clauses: str) -> str:
    return "; ".join(filter(None, clauses))


def _check_change(
    rule: Rule,
    values: Sample,
    compare: Callable[[Array], MetricComparison],
    side: Side,
    amount: Amount,
    proofs: ProofCounts,
) -> BoundCheck:
    """Check the change against an amount.

    A drop of at most 2 % is tested as candidate - 0.98 base >= 0, which includes the uncertainty of
    the baseline's mean; a fixed amount of 2 % of that mean would ignore it.
    """
    sign = -1.0 if side == "at least" else 1.0
    base = np.asarray(values.base)
    subject, bound = "the change", sign * amount.value
    if amount.percent:
        # Of outcomes and a user's own metrics the mean may be negative.
        factor = 1 + np.copysign(sign * amount.value, sign * base.mean())
        base = factor * base
        subject, bound = f"candidate - {factor:g} baseline", 0.0
    tested = compare(base)
    estimate = GateEstimate(
        value=tested.difference or 0.0,
        uncertainty=tested.studentized,
        subject=subject,
        no_interval=(tested.note or "").split(";")[0],
        constant=tested.studentized is None and tested.p_value is not None,
        scale=max(abs(tested.base_mean or 0.0), abs(tested.candidate_mean or 0.0)),
        show=partial(difference_text, str(rule.metric)),
    )
    return proofs.check(rule, estimate, bound, side)


def _failure(rule: Rule, values: Sample, side: Side, amount: Amount, check: BoundCheck) -> str:
    word, limit = "drop" if side == "at least" else "rise", amount_text(rule, amount)
    if check.settled:
        difference, ratio = measure_change(values)
        change = difference_text(str(rule.metric), abs(difference), signed=False)
        if amount.percent:
            change = level(abs(ratio), digits=4)
        return f"it {word}s by {change}, more than {limit}; {check.reason}"
    if rule.proof == "of_compliance":
        requirement = f", but not {side} 0" if amount.percent else ""
        return f"not proven that it {word}s by at most {limit}: {check.reason}{requirement}"
    if rule.proof == "of_breach" and check.without_interval:
        return f"a {word} by more than {limit} cannot be ruled out: {check.reason}"
    return f"it {word}s by more than {limit}"


def _change_texts(rule: Rule, compared: ComparedValues) -> tuple[str, str]:
    """The means and their change in the unit of the bounds: for programs, and for people.

    A mean that is unknown, since no result has a label, is null or `-`, and no 0.
    """
    values, unknown = compared.values, compared.unknown
    before, after = float(values.base.mean()), float(values.candidate.mean())
    difference, ratio = measure_change(values)
    numbers, texts = [], []
    for percent in dict.fromkeys(amount.percent for _, amount in rule.limits):
        if not percent:
            text = data_text(difference)
            numbers.append(f"+{text}" if difference > 0 and text != "0" else text)
            texts.append(difference_text(str(rule.metric), difference, digits=SHOWN_DIGITS))
        elif before:
            numbers.append(relative(ratio, decimals=2))
            texts.append(numbers[-1])
    show = partial(value_text, str(rule.metric), digits=SHOWN_DIGITS)

    def join_change(show: Callable[[float], str], none: str, changes: list[str]) -> str:
        change = f" ({', '.join(changes)})" if changes and not unknown else ""
        of_base, of_candidate = (
            none if arm in unknown else show(mean)
            for arm, mean in (("base", before), ("candidate", after))
        )
        return f"{of_base} -> {of_candidate}{change}{compared.switched}"

    return join_change(data_text, "null", numbers), join_change(show, NONE, texts)
