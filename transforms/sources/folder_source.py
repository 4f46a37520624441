"""Which folder a stream reads, and how."""

from __future__ import annotations

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.streaming.watermark import (
    WatermarkRule,
)

# At 100 bytes per result this is 0.7 million results, which take 0.3 GB until they are scored.
DEFAULT_PORTION_BYTES = 64 * 1024 * 1024
_SHARD_BYTES = 16 * 1024 * 1024
_LEAST = {"settle_ms": 0, "shard_bytes": 1, "portion_bytes": 1}


class FolderSource(Struct, frozen=True):
    """Which folder to watch, and how.

    Attributes:
      folder: the local folder in which files appear.
      rule: how records move the watermark.
      since_ms: files last changed before this time, in milliseconds since the epoch, are not read;
        None = all are.
      poll_seconds: seconds between two listings of the folder.
      settle_ms: how long a file must be unchanged before it is taken.
      shard_bytes: how much of the files is read in one step.
      portion_bytes: after this many bytes of files, the watermark moves before more files are
        taken. This, and the size of one file, bound what a backlog keeps open.
      by_name: whether the files of one listing are taken in order of name, not of last change.
      adaptation: how to convert records to trace records; None if they need no conversion.
      bounds: memory limits for reading.

    Raises:
      UsageError: a number is out of its range, or the folder is not a local path.

    Example: see `WatchFolder`.
    """

    folder: str
    rule: WatermarkRule = WatermarkRule()
    since_ms: int | None = None
    poll_seconds: float = 1.0
    settle_ms: int = 1_000
    shard_bytes: int = _SHARD_BYTES
    portion_bytes: int = DEFAULT_PORTION_BYTES
    by_name: bool = False
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS

    def __post_init__(self) -> None:
        """Check the fields."""
        if "://" in self.folder:
            raise UsageError(
                f"The folder to watch must be on this machine, not {self.folder!r}; mount it, or "
                "stream from Kafka or Pub/Sub."
            )
        if not self.poll_seconds > 0:
            raise UsageError(f"poll_seconds must be above 0, got {self.poll_seconds}.")
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}, got {getattr(self, name)}.")
