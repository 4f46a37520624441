"""Opening a pool to score with, without Beam (SPEC 9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.results.manifest_checks import decode_manifest
from goodgain.pipeline.results.pool_manifest import POOL, PoolExclusions, PoolManifest
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.pool.files import PoolUse
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.wording import format_count


class OpenedPool(Struct, frozen=True):
    """A pool that a run is scored with.

    Attributes:
      run_name: the name under which the scored run was pooled; None to match all runs.
    """

    folder: str
    manifest: PoolManifest
    run_name: str | None

    @property
    def use(self) -> PoolUse:
        """How conversations are scored with it."""
        manifest = self.manifest
        return PoolUse(
            manifest.files(self.folder),
            manifest.topic,
            self.run_name,
            bool(manifest.content.judged_for_aspects),
        )

    def check_exclusions(self, exclusions: Exclusions | None) -> None:
        """Check that a run leaves out what the pool was built without.

        Raises:
          UsageError: it leaves out something else.
        """
        excluded = self.manifest.exclude
        if PoolExclusions.of(exclusions) == excluded:
            return
        how = Remedy("exclude") + " (and " + Remedy("qrels_id") + ", " + Remedy("qrels_topic") + ")"
        if excluded is None:
            raise UsageError(
                f"The pool {self.folder} has all documents: leave out "
                + Remedy("exclude")
                + ", or build another pool with the same "
                + how
                + "."
            )
        pairs = format_count(excluded.pairs, "excluded document")
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
    return OpenedPool(folder, manifest, run_name)


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
