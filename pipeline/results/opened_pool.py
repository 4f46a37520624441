"""Opening a pool to score with, without Beam (SPEC 9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.results.manifest_checks import decode_manifest
from goodgain.pipeline.results.pool_manifest import POOL, PoolExclusions, PoolManifest
from goodgain.transforms.core.dedup.rules import Unit
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.pool.files import PoolUse
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.warnings.check_inputs import LabelSpan
from goodgain.transforms.core.wording import format_count


class OpenedPool(Struct, frozen=True):
    """A pool that a run is scored with.

    Attributes:
      unit: what its documents are.
      digest: of the pool's content; pools with equal digests give equal scores.
      judged_for_aspects: number of documents of which it says what aspects they cover.
      label_spans: by id name, how far votes on its documents lie apart.
      exclusions: what it was built without.
    """

    use: PoolUse
    folder: str
    digest: str
    rules_digest: str
    unit: Unit
    judged_for_aspects: int = 0
    label_spans: dict[str, LabelSpan] = {}
    exclusions: PoolExclusions | None = None

    def check_exclusions(self, exclusions: Exclusions | None) -> None:
        """Check that a run leaves out what the pool was built without.

        Raises:
          UsageError: it leaves out something else.
        """
        if PoolExclusions.of(exclusions) == self.exclusions:
            return
        how = Remedy("exclude") + " (and " + Remedy("qrels_id") + ", " + Remedy("qrels_topic") + ")"
        if self.exclusions is None:
            raise UsageError(
                f"The pool {self.folder} has all documents: leave out "
                + Remedy("exclude")
                + ", or build another pool with the same "
                + how
                + "."
            )
        pairs = format_count(self.exclusions.pairs, "excluded document")
        raise UsageError(
            f"The pool {self.folder} was built without {pairs}: give the same "
            + how
            + ", or use a pool that has all documents."
        )


def open_pool(
    folder: str, run_name: str | None, open_file: Callable[[str], BinaryIO]
) -> OpenedPool:
    """Read a pool's manifest.

    Args:
      run_name: the name under which the scored run was pooled; None to match all runs.

    Raises:
      UsageError: the folder holds no pool, or the pool has no run of that name.
    """
    folder = folder.rstrip("/")
    manifest = read_pool_manifest(folder, open_file)
    if run_name is not None and run_name not in manifest.runs:
        raise UsageError(
            f"The pool {folder} has no run {run_name}; it has {', '.join(manifest.runs)}. Leave "
            "out " + Remedy("run_name") + " for a run that was not pooled."
        )
    judged_for_aspects = manifest.content.judged_for_aspects
    return OpenedPool(
        PoolUse(manifest.files(folder), manifest.topic, run_name, bool(judged_for_aspects)),
        folder,
        manifest.digest,
        manifest.rules_digest,
        manifest.unit,
        judged_for_aspects,
        manifest.label_spans,
        manifest.exclude,
    )


def read_pool_manifest(folder: str, open_file: Callable[[str], BinaryIO]) -> PoolManifest:
    """The manifest of a pool.

    Raises:
      UsageError: there is none, or a field is missing or has another type.
    """
    path = f"{folder.rstrip('/')}/{MANIFEST}"
    try:
        with open_file(path) as file:
            manifest = msgspec.json.decode(file.read(), type=dict[str, Any])
    except OSError:
        raise UsageError(
            f"{folder} holds no {MANIFEST}: it is not a pool. Make one with `goodgain pool build`."
        ) from None
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} cannot be read ({error}); restore the pool.") from None
    if manifest.get("kind") != POOL:
        raise UsageError(f"{folder} is not a pool; make one with `goodgain pool build`.")
    return decode_manifest(manifest, PoolManifest, folder, "build it again.")
