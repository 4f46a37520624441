"""What a source has seen of the folder that it watches (SPEC 7).

An engine keeps it between two steps of the source, and in its checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping

import xxhash
from msgspec import Struct

from goodgain.transforms.core.streaming.watermark import WatermarkState


class TakenFile(Struct, frozen=True, array_like=True):
    """A file that is being read.

    Attributes:
      name: its name in the folder.
      size: its size when it was taken; only these bytes are read.
      clock: when it was taken, by this machine's clock in ms.
      shards: number of shards that have been read.
    """

    name: str
    size: int
    clock: int
    shards: int = 0


class FolderProgress(Struct, frozen=True, array_like=True):
    """The progress of a source through a folder.

    Attributes:
      sizes: the size of each file taken, when it was last listed, by `name_digest`.
      file: the file that is being read; None between files.
      portion: number of files taken since the watermark moved, the one being read included.
      portion_bytes: their size.
      is_over: whether the source has ended.
    """

    watermark_state: WatermarkState = WatermarkState()
    sizes: Mapping[int, int] = {}
    file: TakenFile | None = None
    portion: int = 0
    portion_bytes: int = 0
    is_over: bool = False


def name_digest(name: str) -> int:
    """The digest of 64 bits that stands for the name of a file."""
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogateescape"))
