"""Applies a gate to a run: checks every rule; a missing value fails its rule."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from msgspec import Struct

from goodgain.pipeline.document.numbers import count_text
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.results.folder import same_folder
from goodgain.pipeline.studies.gate.bounds import ProofCounts, count_proofs
from goodgain.pipeline.studies.gate.change import judge_change, slices_to_check
from goodgain.pipeline.studies.gate.evidence import GateEvidence, gather
from goodgain.pipeline.studies.gate.gate_file import GateFile, load_gate
from goodgain.pipeline.studies.gate.outcome import Outcome, outcome_of
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.pipeline.studies.gate.values_of_run import broken_bound, judge_means, judge_share
from goodgain.transforms.core.errors import UsageError
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
        yield outcome_of(rule, {}, count_text(count), None, failure=broken_bound(rule, count))
    elif rule.share is not None and rule.share != "undefined":
        part, whole = attrgetter(*_SHARES[rule.share])(evidence.manifest)
        losses = evidence.manifest.records.unknown_losses
        doubt = ""
        if losses and rule.share == "rejected" and rule.at_most is not None:
            doubt = f"an unknown number more is lost at {format_count(losses, 'place')}"
        yield judge_share(rule, {}, part, whole, doubt)
    else:
        yield from judge_means(rule, gate, evidence, proofs)
