"""The record of one day: its verdict, means and counts."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from math import isclose
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.metric import DescribedMetric
from goodgain.transforms.core.metrics.groups import GROUPS
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.warnings.warning import DataWarning

Verdict = Literal["passed", "gate failed", "bad data", "failed"]


EXIT_CODES: Mapping[Verdict, ExitCode] = {
    "passed": ExitCode.DONE,
    "gate failed": ExitCode.REGRESSION,
    "bad data": ExitCode.DATA_QUALITY,
    "failed": ExitCode.FAILED,
}


class DayMean(Struct, frozen=True):
    """A mean over the conversations of a day, with its 95 % interval (SPEC 6)."""

    n: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None


class DayChange(Struct, frozen=True):
    """A mean's difference from the baseline, in the unit of the metric, with its interval.

    Attributes:
      n_base, n: number of conversations; of pairs if the baseline has the same conversations.
      ci_low, ci_high: its 95 % interval, not corrected.
      p_holm: two-sided, corrected for the number of headline metrics that decide.
      verdict_ci_low, verdict_ci_high: the interval that decides the verdict, corrected like it.
      verdict, reason, population: see `ComparisonRow`.
    """

    n_base: int
    n: int
    base: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    verdict: str
    reason: str | None = None
    population: str = "all"
    p_holm: float | None = None
    verdict_ci_low: float | None = None
    verdict_ci_high: float | None = None

    @property
    def mean(self) -> float | None:
        """The mean of the day over the conversations that are compared."""
        if self.base is None or self.difference is None:
            return None
        return self.base + self.difference

    def is_of(self, mean: DayMean) -> bool:
        """Whether mean - base is the difference; True without a difference."""
        if self.mean is None or mean.mean is None:
            return self.mean is None
        return isclose(self.mean, mean.mean, rel_tol=1e-9, abs_tol=1e-12)

    @property
    def shown_by_itself(self) -> bool:
        """Whether the 95 % interval excludes 0, but the corrected verdict is `not shown`."""
        if self.verdict != "not shown" or self.ci_low is None or self.ci_high is None:
            return False
        return self.ci_low > 0 or self.ci_high < 0

    @property
    def about(self) -> str:
        """A remark if it is not comparable or includes conversations without search; else ""."""
        if self.reason is not None:
            return f"not comparable: {self.reason}"
        if self.population == "everyone":
            return "conversations that did not search count with gain 0 (population everyone)"
        return ""


class DayPool(Struct, frozen=True):
    """The state of the pool that a day was scored with.

    Attributes:
      run_name: the day's name in the pool; None if the day is not in the pool.
    """

    folder: str
    digest: str
    run_name: str | None


class DayEntry(Struct, frozen=True):
    """The history's entry of a day.

    Attributes:
      date: like 2025-03-01.
      reasons: why it did not pass, one sentence each.
      baseline: the days that it was compared with, ascending; may be empty.
      means: by metric, at N over all conversations.
      changes: by metric, against the baseline.
      counts: counts of input files and bytes, records, conversations and results.
      pool: the pool that it was scored with; absent without a pool.
      own_metrics: the users' metrics among the means; absent if there are none.
      outcomes: those of the run, as `parse_outcome` reads them; absent if there are none.
      started: UTC, ISO 8601.
      seconds: duration; only this and `started` differ when the same day is run again.
    """

    date: str
    verdict: Verdict
    exit_code: int
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    baseline: tuple[str, ...]
    means: dict[str, DayMean]
    changes: dict[str, DayChange]
    counts: dict[str, int]
    started: str
    seconds: float
    warnings: tuple[DataWarning, ...] = ()
    pool: DayPool | UnsetType = UNSET
    own_metrics: tuple[DescribedMetric, ...] | UnsetType = UNSET
    outcomes: tuple[str, ...] | UnsetType = UNSET

    @property
    def day(self) -> datetime.date:
        """The day."""
        return datetime.date.fromisoformat(self.date)


def entry_of_failure(
    day: datetime.date, reason: str, started: str, seconds: float, code: ExitCode = ExitCode.FAILED
) -> DayEntry:
    """The entry of a day without outputs."""
    return DayEntry(
        day.isoformat(), "failed", int(code), (reason,), (), (), {}, {}, {}, started, seconds
    )


def day_means(rows: Iterable[Mapping[str, Any]], manifest: RunManifest) -> dict[str, DayMean]:
    """The headline and the ranking metrics of the run, from rows of `means`."""
    means = {
        row["metric"]: DayMean(row["n"], row["mean"], row["ci_low"], row["ci_high"])
        for row in rows
        if not row["slice"] and row["i"] is None and row["population"] == "all"
    }
    further = (metric.name for group in GROUPS for metric in group.at_n if group is not GAINS)
    asked_for = manifest.options.metrics
    wanted = (*headline_among("comparison", means), *further, *asked_for)
    return {name: means[name] for name in wanted if name in means}


def day_counts(manifest: RunManifest) -> dict[str, int]:
    """The counts of a day from the manifest of its run."""
    records, conversations, results = manifest.records, manifest.conversations, manifest.results
    return {
        "input_files": len(manifest.inputs),
        "input_bytes": sum(file.size for file in manifest.inputs),
        "records": records.read,
        "rejected": records.rejected,
        "conversations": conversations.total,
        "in_means": conversations.in_means,
        "results": results.total,
        "unlabelled": results.unlabelled,
    }


def day_pool(manifest: RunManifest) -> DayPool | UnsetType:
    """The pool of a day from the manifest of its run."""
    pool = manifest.pool
    return UNSET if pool is None else DayPool(pool.folder, pool.digest, pool.run_name)
