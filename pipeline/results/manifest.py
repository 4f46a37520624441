"""Parts of the manifest of a run: what became of it, how it was read, versions (SPEC 6)."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.metadata import version

from goodgain.pipeline.results.given_parts import counted_part
from goodgain.pipeline.results.manifest_counts import ConversationCounts, CountsOfResults
from goodgain.pipeline.results.version import goodgain_version
from goodgain.transforms.core.native import active_path
from goodgain.transforms.core.scoring.data_counts import EXCLUDED, LABELS
from goodgain.transforms.core.wording import format_count

_LIBRARIES = ("apache-beam", "fastavro", "msgspec", "numpy", "pyarrow", "scipy", "xxhash")


def conversations_part(counts: Mapping[str, int]) -> ConversationCounts:
    """What became of the conversations."""
    return counted_part(
        ConversationCounts,
        counts,
        "conversations",
        without_cluster=counts.get("conversations.without_cluster"),
    )


def results_part(counts: Mapping[str, int]) -> CountsOfResults:
    """The results, and why some are duplicates."""
    return counted_part(
        CountsOfResults,
        counts,
        "results",
        excluded=counts.get(EXCLUDED),
        by_label=_labels_by_gain(counts),
        duplicates_by_step=counts_of_group(counts, "duplicates_by_step"),
        duplicates_by_type=counts_of_group(counts, "duplicates_by_type"),
        results_by_type=counts_of_group(counts, "results_by_type"),
        near_misses_by_step=counts_of_group(counts, "near_misses_by_step"),
        candidates_cut=counts.get("candidates_cut", 0),
    )


def _labels_by_gain(counts: Mapping[str, int]) -> dict[str, int]:
    """The number of results of scored turns by their label, without those that no result has."""
    found = ((str(gain), counts.get(name, 0)) for gain, name in enumerate(LABELS))
    return {gain: results for gain, results in found if results}


def versions_of_run() -> dict[str, str]:
    """The versions of all that its numbers and files may depend on."""
    return {
        "goodgain": goodgain_version(),
        "python": platform.python_version(),
        **_library_versions(),
    }


@cache
def _library_versions() -> dict[str, str]:
    return {library: version(library) for library in _LIBRARIES}


def describe_reading(counts: Mapping[str, int]) -> str:
    """Whether workers read with native code or Python, and why Python, if known."""
    native, python = (counts.get(f"shards.{way}", 0) for way in ("native", "python"))
    if not native:
        path = active_path()
        return path if path.startswith("python") else "python"
    reading = f"native in {native} of {native + python} parts of files" if python else "native"
    if from_python := counts.get("records.from_python", 0):
        usable = counts.get("records.read", 0) - counts.get("records.rejected", 0)
        reading += f", but {from_python:,} of {format_count(usable, 'record')} in Python"
    return reading


def cut_to_milliseconds(time: datetime) -> datetime:
    """A time as manifests have it, so that the one read back equals the one written."""
    return time.replace(microsecond=time.microsecond // 1_000 * 1_000)


def counts_of_group(counts: Mapping[str, int], group: str) -> dict[str, int]:
    """The counts whose names begin with a group, by the rest of their names, sorted."""
    prefix = group + "."
    return {
        name.removeprefix(prefix): count
        for name, count in sorted(counts.items())
        if name.startswith(prefix)
    }
