"""Whether two runs measured the same: parameters, judgments and pool."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from goodgain.pipeline.results.folder import format_time
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.metrics.outcomes import outcomes_of
from goodgain.transforms.core.scoring.options import options_of_values, relevance_threshold_of
from goodgain.transforms.core.wording import format_count

_PARAMETERS = ("unit", "qrels_id", "qrels_topic")
QRELS = "qrels"
POOL = "pool"


class Mismatch(Struct, frozen=True):
    """A parameter in which two runs differ."""

    parameter: str
    base: str
    candidate: str

    def __str__(self) -> str:
        return f"{self.parameter} ({self.base} against {self.candidate})"


def find_mismatches(base: RunManifest, candidate: RunManifest) -> list[Mismatch]:
    """The parameters that affect metrics and differ between two manifests."""
    one, other = _compared_parameters(base), _compared_parameters(candidate)
    outcomes = [
        {outcome.name: outcome for outcome in outcomes_of(manifest.outcomes)}
        for manifest in (base, candidate)
    ]
    in_both = sorted(outcomes[0].keys() & outcomes[1].keys())
    return [
        *(
            Mismatch(name, _show(one[name]), _show(other[name]))
            for name in one
            if one[name] != other[name]
        ),
        *(
            Mismatch(f"outcome {name}", str(outcomes[0][name]), str(outcomes[1][name]))
            for name in in_both
            if outcomes[0][name] != outcomes[1][name]
        ),
    ]


def share_judgments(base: RunManifest, candidate: RunManifest) -> bool:
    """Whether two manifests are of runs with the same external judgments."""
    one, other = _compared_parameters(base), _compared_parameters(candidate)
    return any(one[name] for name in (QRELS, POOL)) and all(
        one[name] == other[name] for name in (QRELS, POOL)
    )


def share_aspects(base: RunManifest, candidate: RunManifest) -> bool:
    """Whether two manifests are of runs with the same judgments of aspects, or the same pool."""
    if base.aspect_qrels or candidate.aspect_qrels:
        return _aspects(base) == _aspects(candidate)
    pools = [
        manifest.pool.digest if manifest.pool and manifest.aspects_outside else None
        for manifest in (base, candidate)
    ]
    return pools[0] is not None and pools[0] == pools[1]


def _compared_parameters(manifest: RunManifest) -> dict[str, Any]:
    """The parameters; judgments and pools by their digests, so that a copy counts as the same."""
    parameters, pool = manifest.parameters, manifest.pool
    # Those that a run of an earlier version did not know had their defaults in effect.
    compared = {
        name: parameters.get(name, declared.default)
        for name, declared in options_of_values().items()
    }
    compared |= {name: parameters.get(name) for name in _PARAMETERS}
    compared["relevance_threshold"] = relevance_threshold_of(compared)
    return compared | {
        "rules": manifest.rules_digest,
        QRELS: _qrels(manifest),
        POOL: f"one with the digest {pool.digest[:8]}" if pool else None,
        "aspect_qrels": _aspects(manifest),
        "exclude": _exclusions(manifest),
        "scoring_version": manifest.scoring_version,
    }


def _qrels(manifest: RunManifest) -> str | None:
    qrels = manifest.qrels
    if qrels is None:
        return None
    # Early versions recorded no digest: a mismatch, since an error would end a nightly job.
    if qrels.digest is None:
        return f"labels that the run of {format_time(manifest.started)} did not record"
    return f"{format_count(qrels.judgments, 'judgment')} with the digest {qrels.digest}"


def _aspects(manifest: RunManifest) -> str | None:
    judged = manifest.aspect_qrels
    if judged is None:
        return None
    return f"{format_count(judged.judgments, 'judgment')} with the digest {judged.digest}"


def _exclusions(manifest: RunManifest) -> str | None:
    excluded = manifest.exclude
    if excluded is None:
        return None
    return f"{format_count(excluded.pairs, 'document')} with the digest {excluded.digest}"


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
