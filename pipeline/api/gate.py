"""`goodgain.gate`: whether a run passes some rules, for tests and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from goodgain.pipeline.api.arms import folder_of
from goodgain.pipeline.api.result import Run
from goodgain.pipeline.document.html import fragment_of
from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.settings.wording import as_argument, phrase_for_python
from goodgain.transforms.core.errors import GoodGainError, UsageError

if TYPE_CHECKING:
    from goodgain.pipeline.document.model import Document
    from goodgain.pipeline.studies.gate.outcome import Outcome


class GateFailedError(GoodGainError):
    """A run broke rules; the message has a line for each, with its value and bound.

    Example: see `gate`.
    """


class GateVerdict:
    """The outcome of `gate`: true if no rule failed.

    Attributes:
      passed: the same.
      outcomes: one dict for each rule and slice, with `rule`, `value`, `bound`, `verdict` (passed,
        failed or skipped), `reason` and `n`, as in `goodgain gate --json`.

    Example: see `gate`.
    """

    def __init__(self, outcomes: Sequence[Outcome], shown: Document) -> None:
        """Wrap the outcomes.

        Args:
          outcomes: one for each rule and slice.
          shown: their table, and the verdict.
        """
        import msgspec

        from goodgain.pipeline.studies.gate.outcome import has_passed

        self.outcomes: list[dict[str, Any]] = msgspec.to_builtins(outcomes)
        self.passed = has_passed(outcomes)
        self._shown = shown

    def __bool__(self) -> bool:
        return self.passed

    def check(self) -> None:
        """Do nothing if the run passed.

        Raises:
          GateFailedError: it did not; the message has the rules that it broke.
        """
        broken = [
            f"{' '.join(filter(None, (outcome['subject'], outcome['shown'])))}, "
            f"bound {outcome['limit']}: {outcome['reason']}"
            for outcome in self.outcomes
            if outcome["verdict"] == "failed"
        ]
        if not self.passed:
            raise GateFailedError("The gate failed:\n  " + "\n  ".join(broken))

    def __repr__(self) -> str:
        return text_of(self._shown)

    def _repr_html_(self) -> str:
        return fragment_of(self._shown)


def gate(
    run: Run | str | Path,
    rules: str | Path | Sequence[str | Mapping[str, Any]],
    *,
    baseline: Run | str | Path | None = None,
    force: bool = False,
) -> GateVerdict:
    """Check a run against rules, as `goodgain gate` does.

    Args:
      run: the result of `evaluate` or `load`, or the output folder of a run.
      rules: a file with rules, as `goodgain init gate` writes it; or a list of rules, each a line
        like `"SRE >= 0.2"` or `"CG drop <= 2 %"`, or a dict of its options.
      baseline: the run to compare with, for rules on change.
      force: compare even if the baseline was scored differently.

    Raises:
      UsageError: the rules have mistakes, or something is not a run.

    Example:
      >>> import goodgain as gg
      >>> calls = [
      ...     {"conversation_id": f"c-{n}", "iteration": 1, "results": [{"gain": 2 + n % 2}]}
      ...     for n in range(40)
      ... ]
      >>> verdict: gg.GateVerdict = gg.gate(gg.evaluate(calls), ["CG >= 2", "SRE >= 50 %"])
      >>> bool(verdict)
      True
      >>> try:
      ...     gg.gate(gg.evaluate(calls), ["CG >= 3"]).check()
      ... except gg.GateFailedError as error:
      ...     print(error)
      The gate failed:
        Gain (CG) 2.5000, bound >= 3: it is not at least 3
    """

    from goodgain.pipeline.results.finished_run import read_manifest
    from goodgain.pipeline.studies.gate.evaluate import Gate
    from goodgain.pipeline.studies.gate.gate_file import gate_of, load_gate
    from goodgain.pipeline.views.gate import gate_document

    if isinstance(rules, str) and (">=" in rules or "<=" in rules):
        raise UsageError(f"Rules are a file or a list: give [{rules!r}].")
    with TemporaryDirectory() as scratch, phrase_for_python():
        folder = folder_of(run, scratch, "run")
        against = None if baseline is None else folder_of(baseline, scratch, "baseline")
        read_manifest(folder)  # makes metrics of users known to the rules
        checked = load_gate(str(rules)) if isinstance(rules, str | Path) else gate_of(rules)
        outcomes = [
            outcome.word(as_argument)
            for outcome in Gate.of(checked, against, force).outcomes(folder)
        ]
    return GateVerdict(outcomes, gate_document(outcomes))
