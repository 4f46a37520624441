"""The warnings of a run: computed at its end, kept in its manifest, shown with its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.warnings.check_inputs import READ, CheckInputs, LabelSpan, SliceLabels
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.field_names import SeenNames
from goodgain.transforms.core.warnings.warning import DataWarning, allowed_codes, failing


def warnings_of_run(
    counts: Mapping[str, int],
    means: Iterable[Mapping[str, Any]],
    rules: RuleTable,
    good_gain_threshold: int,
    seen: SeenNames,
    external: bool,
    clock: int | None,
    label_spans: Mapping[str, LabelSpan] = MappingProxyType({}),
) -> list[DataWarning]:
    """The warnings about a run's data.

    Args:
      counts: counts of the pipeline, by dotted name.
      means: rows of `means`, at least those of R and unlabelled at N.
      seen: the names in the first records.
      external: whether labels come from outside the traces.
      clock: start of the run, in ms.
      label_spans: from the pool that the run was scored with.
    """
    return warnings_of(
        CheckInputs(
            counts=counts,
            good_gain_threshold=good_gain_threshold,
            rules=rules,
            records=counts.get(READ, 0),
            seen=seen,
            slices=slice_labels(means),
            external=external,
            clock=clock,
            label_spans=label_spans,
        )
    )


def slice_labels(means: Iterable[Mapping[str, Any]]) -> list[SliceLabels]:
    """The number of unlabelled results in each slice, computed from means."""
    sums: dict[str, dict[str, int]] = {}
    slices: dict[str, Mapping[str, str]] = {}
    for row in means:
        if row["slice"] and row["i"] is None and row["metric"] in ("R", "unlabelled"):
            key = slice_key(row["slice"])
            slices[key] = row["slice"]
            # The sum is a whole number, so rounding undoes the division.
            sums.setdefault(key, {})[row["metric"]] = round((row["mean"] or 0) * row["n"])
    return [
        SliceLabels(slices[key], of_slice.get("R", 0), of_slice.get("unlabelled", 0))
        for key, of_slice in sorted(sums.items())
    ]


def warnings_in(manifest: Mapping[str, Any]) -> list[DataWarning]:
    """The warnings in a manifest; empty for runs of versions without warnings."""
    return msgspec.convert(manifest.get("warnings", []), list[DataWarning])


def failing_in(manifest: Mapping[str, Any]) -> list[DataWarning]:
    """The warnings in a manifest that its options do not allow; they made the exit code 3."""
    parameters = manifest["parameters"]
    allowed = allowed_codes(
        unlabelled=parameters.get("allow_unlabelled", False),
        no_good=parameters.get("allow_no_good", False),
    )
    return failing(warnings_in(manifest), allowed)


def warning_text(warning: DataWarning) -> str:
    """A warning as one paragraph for people."""
    return f"Warning ({warning.code}): {warning.message} {warning.remedy}"
