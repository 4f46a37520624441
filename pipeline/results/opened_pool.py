"""Opening a pool to score with, without Beam (SPEC 9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from goodgain.transforms.core.dedup.rules import Unit
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.pool.files import PoolFiles, PoolUse
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.warnings.check_inputs import LabelSpan
from goodgain.transforms.core.wording import format_count

_MANIFEST = "manifest.json"
_KIND = "pool"
EXCLUDE = "exclude"  # of a run and of a pool


class PoolExclusions(Struct, frozen=True):
    """What a pool was built without; equal for the same documents of the same topics.

    Attributes:
      digest: of the pairs of topic and document.
      pairs: their number.
      qrels_id, qrels_topic: how they are matched to results.
    """

    digest: str
    pairs: int
    qrels_id: str
    qrels_topic: str | None = None

    @classmethod
    def of(cls, exclusions: Exclusions | None) -> PoolExclusions | None:
        """What is excluded; None if nothing is."""
        if exclusions is None:
            return None
        keys = exclusions.keys
        return cls(exclusions.digest, exclusions.number, keys.qrels_id, keys.qrels_topic)


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
    if run_name is not None and run_name not in manifest["runs"]:
        raise UsageError(
            f"The pool {folder} has no run {run_name}; it has {', '.join(manifest['runs'])}. Leave "
            "out " + Remedy("run_name") + " for a run that was not pooled."
        )
    judged_for_aspects = manifest["content"].get("judged_for_aspects", 0)
    return OpenedPool(
        PoolUse(files_of(folder, manifest), manifest["topic"], run_name, bool(judged_for_aspects)),
        folder,
        manifest["digest"],
        manifest["rules_digest"],
        manifest["unit"],
        judged_for_aspects,
        msgspec.convert(manifest["label_spans"], dict[str, LabelSpan]),
        exclusions_of(manifest),
    )


def exclusions_of(manifest: Mapping[str, Any]) -> PoolExclusions | None:
    """What the pool of a manifest was built without."""
    return msgspec.convert(manifest.get(EXCLUDE), PoolExclusions | None)


def read_pool_manifest(folder: str, open_file: Callable[[str], BinaryIO]) -> dict[str, Any]:
    """The manifest of a pool.

    Raises:
      UsageError: there is none.
    """
    path = f"{folder.rstrip('/')}/{_MANIFEST}"
    try:
        with open_file(path) as file:
            manifest: dict[str, Any] = msgspec.json.decode(file.read(), type=dict[str, Any])
    except OSError:
        raise UsageError(
            f"{folder} holds no {_MANIFEST}: it is not a pool. Make one with `goodgain pool build`."
        ) from None
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} cannot be read ({error}); restore the pool.") from None
    if manifest.get("kind") != _KIND:
        raise UsageError(f"{folder} is not a pool; make one with `goodgain pool build`.")
    return manifest


def files_of(folder: str, manifest: dict[str, Any]) -> PoolFiles:
    """The files that hold the documents of a pool."""
    return PoolFiles(
        f"{folder.rstrip('/')}/{manifest['documents']}",
        f".{manifest['format']}",
        manifest["shards"],
        manifest["preferred"],
    )
