"""Rules on shares and counts of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goodgain.pipeline.gate.evidence import GateEvidence
from goodgain.pipeline.gate.rules import Rule

# Where the manifest has the part and the whole of each share: group and name.
_SHARES = {
    "rejected": (("records", "rejected"), ("records", "read")),
    "late": (("records", "late"), ("records", "read")),
    "redelivered": (("records", "redelivered"), ("records", "read")),
    "unlabelled": (("results", "unlabelled"), ("results", "total")),
    "without_search": (("conversations", "without_search"), ("conversations", "total")),
    "with_rejected_records": (
        ("conversations", "with_rejected_records"),
        ("conversations", "total"),
    ),
}
# Where the manifest has each count.
_COUNTS = {
    "conversations": ("conversations", "in_means"),
    "records": ("records", "read"),
    "results": ("results", "total"),
}


def share(rule: Rule, evidence: GateEvidence) -> tuple[int, int]:
    """The part and the whole of the share that a rule bounds."""
    part, whole = _SHARES[str(rule.share)]
    return _count(evidence.manifest, *part), _count(evidence.manifest, *whole)


def count(rule: Rule, evidence: GateEvidence) -> int:
    """The count that a rule bounds."""
    return _count(evidence.manifest, *_COUNTS[str(rule.count)])


def _count(manifest: Mapping[str, Any], group: str, name: str) -> int:
    # The manifest has no entry for a count of 0.
    return int(manifest.get(group, {}).get(name, 0))
