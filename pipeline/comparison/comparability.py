"""Checks that two runs measured the same thing, by the parameters that metrics depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.wording import counted

_PARAMETERS = ("good_gain_threshold", "g_max", "duplicates", "qrels_id", "qrels_topic")
QRELS = "qrels"
POOL = "pool"


class Mismatch(Struct, frozen=True):
    """A parameter in which two runs differ."""

    parameter: str
    base: str
    candidate: str

    def __str__(self) -> str:
        return f"{self.parameter} ({self.base} against {self.candidate})"


def mismatches(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[Mismatch]:
    """The parameters that affect metrics and differ between two manifests."""
    one, other = _compared_parameters(base), _compared_parameters(candidate)
    return [
        Mismatch(name, _shown(one[name]), _shown(other[name]))
        for name in one
        if one[name] != other[name]
    ]


def refuse(differing: list[Mismatch]) -> None:
    """Refuse the comparison if there is a mismatch.

    Raises:
      UsageError: a parameter differs; the message names all that do.
    """
    if differing:
        raise UsageError(
            f"The two runs differ in {', '.join(map(str, differing))}, so their metrics mean "
            "different things: run one of them again with the parameters of the other, or use "
            "--force."
        )


def share_judgments(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Whether two manifests are of runs with the same external judgments."""
    one, other = _compared_parameters(base), _compared_parameters(candidate)
    return any(one[name] for name in (QRELS, POOL)) and all(
        one[name] == other[name] for name in (QRELS, POOL)
    )


def _compared_parameters(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters; judgments and pools by their digests, so that a copy counts as the same."""
    parameters, pool = manifest["parameters"], manifest.get(POOL)
    compared = {name: parameters.get(name) for name in _PARAMETERS}
    relevance = parameters.get("relevance_threshold")
    return compared | {
        "relevance_threshold": compared["good_gain_threshold"] if relevance is None else relevance,
        "rules": manifest.get("rules_digest"),
        QRELS: _qrels(manifest),
        POOL: f"one with the digest {pool['digest'][:8]}" if pool else None,
        "scoring_version": manifest.get("scoring_version"),
    }


def _qrels(manifest: Mapping[str, Any]) -> str | None:
    qrels = manifest.get(QRELS)
    if qrels is None:
        return None
    # Early versions recorded no digest: a mismatch, since an error would end a nightly job.
    if "digest" not in qrels:
        return f"labels that the run of {manifest['started']} did not record"
    return f"{counted(qrels['judgments'], 'judgment')} with the digest {qrels['digest']}"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
