"""The warnings of a run: computed at its end, kept in its manifest, shown with its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.warnings.check_inputs import SliceLabels
from goodgain.transforms.core.warnings.warning import DataWarning, allowed_codes, failing


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


def is_bad(manifest: Mapping[str, Any]) -> bool:
    """Whether the data of a run make its exit code 3."""
    return manifest["records"]["too_many_rejected"] or bool(failing_in(manifest))


def warning_text(warning: DataWarning) -> str:
    """A warning as one paragraph for people."""
    return f"Warning ({warning.code}): {warning.message} {warning.remedy}"
