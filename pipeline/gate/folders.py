"""Applies a gate to the output folder of a run."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from goodgain.pipeline.comparison.request import ComparisonRequest
from goodgain.pipeline.comparison.sources import Arms, read_arms
from goodgain.pipeline.gate.evaluate import evaluate
from goodgain.pipeline.gate.evidence import GateEvidence, GateMeans, ReadArms
from goodgain.pipeline.gate.outcome import Outcome
from goodgain.pipeline.gate.rules import GateFile, load_gate
from goodgain.pipeline.manifest import check_run
from goodgain.pipeline.outputs.folder import read_manifest, same_folder
from goodgain.pipeline.outputs.means_reader import MeansWanted, read_means
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.slices import EVERYTHING

_IN_EVERY_SLICE = "N"  # every slice has this metric, so it lists the slices
_CACHED_ARMS = 8  # a gate file names few metrics


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
        rules = load_gate(path)
        if baseline is not None:
            check_run(read_manifest(baseline), baseline)
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


def gather(rules: GateFile, folder: str, baseline: str | None, force: bool = False) -> GateEvidence:
    """Read the evidence for a run, as far as the rules need it; for baseline and force see `Gate`.

    Raises:
      UsageError: the folder is not the output of a finished run.
    """
    manifest = read_manifest(folder)
    check_run(manifest, folder)
    return GateEvidence(
        manifest=manifest,
        means=GateMeans(read_means(folder, _wanted(rules))),
        arms=None if baseline is None else _arms_of(baseline, folder, force),
    )


def _arms_of(baseline: str, folder: str, force: bool) -> ReadArms:
    @lru_cache(_CACHED_ARMS)
    def read(metric: str, i: int | None) -> Arms:
        request = ComparisonRequest(
            (baseline, folder), metrics=(metric,), max_i=i or 1, force=force
        )
        return read_arms(request)

    return read


def _wanted(gate: GateFile) -> MeansWanted:
    rules = [rule for rule in gate.rules if not rule.is_change and rule.metric is not None]
    return MeansWanted(
        slices=None if any(rule.slice for rule in rules) else frozenset((EVERYTHING,)),
        metrics=frozenset((_IN_EVERY_SLICE, *(str(rule.metric) for rule in rules))),
        at_end=all(rule.i is None for rule in rules),
    )
