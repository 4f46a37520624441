"""The warnings of a run, kept in its manifest and shown with its numbers.

Also names in its options that no conversation has, which may be misspelt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.metrics.costs import COST
from goodgain.transforms.core.metrics.outcomes import OUTCOME
from goodgain.transforms.core.warnings.check_inputs import SliceLabels
from goodgain.transforms.core.warnings.warning import DataWarning, allowed_codes, failing_warnings


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


def allowed_codes_in(manifest: RunManifest) -> frozenset[str]:
    """The codes of the warnings that the options of a run allow."""
    options = manifest.options
    return allowed_codes(
        unlabelled=options.allow_unlabelled,
        no_good=options.allow_no_good,
        contradicted_ids=options.allow_contradicted_ids,
    )


def failing_warnings_in(manifest: RunManifest) -> list[DataWarning]:
    """The warnings in a manifest that its options do not allow; they made the exit code 3."""
    return failing_warnings(manifest.warnings, allowed_codes_in(manifest))


def is_bad(manifest: RunManifest) -> bool:
    """Whether the data of a run make its exit code 3."""
    return manifest.records.too_many_rejected or bool(failing_warnings_in(manifest))


def warning_text(warning: DataWarning) -> str:
    """A warning as one paragraph for people."""
    return f"Warning ({warning.code}): {warning.message} {warning.remedy}"


def warn_of_misspelt_names(
    means: Sequence[Mapping[str, Any]],
    slices: Iterable[Mapping[str, str]],
    manifest: RunManifest,
) -> Iterator[str]:
    """A sentence for each name in the options of a run that no conversation has.

    Args:
      means: rows at N of all conversations.
      slices: the slices of the run, repeated or not.
    """
    yield from warn_of_unknown_costs(means, manifest)
    yield from warn_of_unknown_outcomes(means, manifest)
    yield from warn_of_unknown_attributes(slices)
    if line := warn_of_unshared_cluster(means, manifest):
        yield line


def warn_of_unknown_costs(
    means: Iterable[Mapping[str, Any]], manifest: RunManifest
) -> Iterator[str]:
    """A sentence for each cost that was asked for, or met in the data, and no conversation has.

    Args:
      means: rows at N of all conversations.
    """
    is_named = bool(manifest.options.cost or manifest.options.budget)
    for row in means:
        is_cost = row["metric"].startswith(COST) and row["population"] == "all"
        if is_cost and row["undefined"] and not row["n"]:
            name = row["metric"].removeprefix(COST)
            question = "; is it misspelt?" if is_named else "."
            yield f"Costs: no conversation has {name} in all its calls{question}"


def warn_of_unknown_outcomes(
    means: Iterable[Mapping[str, Any]], manifest: RunManifest
) -> Iterator[str]:
    """A sentence for each outcome that was asked for and no conversation in the means has.

    Args:
      means: rows at N of all conversations.
    """
    if not manifest.options.outcome:
        return
    rows = [row for row in means if row["metric"].startswith(OUTCOME)]
    # Those that never searched may have an outcome that all others lack.
    known = {row["metric"] for row in rows if row["n"]}
    for row in rows:
        if row["population"] == "all" and row["undefined"] and row["metric"] not in known:
            name = row["metric"].removeprefix(OUTCOME)
            yield f"Outcomes: no conversation has {name}; is it misspelt?"


def warn_of_unknown_attributes(slices: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """A sentence for each attribute of slices that no conversation has."""
    values: dict[str, set[str]] = {}
    for slice_ in slices:
        for name, value in slice_.items():
            values.setdefault(name, set()).add(value)
    for name in sorted(name for name, occurring in values.items() if occurring == {""}):
        yield f"Slices: no conversation has the attribute {name}; is it misspelt?"


def warn_of_unshared_cluster(
    means: Iterable[Mapping[str, Any]], manifest: RunManifest
) -> str | None:
    """A sentence if every conversation is alone in its cluster since none has the attribute.

    Args:
      means: rows at N of all conversations.
    """
    attribute, alone = manifest.options.cluster, manifest.conversations.without_cluster
    clustered = [row for row in means if row["population"] == "all" and row["clusters"]]
    if attribute and alone and all(row["clusters"] == row["n"] for row in clustered):
        return f"No two conversations share {attribute}; is it misspelt?"
    return None
