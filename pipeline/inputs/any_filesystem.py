"""Files on every filesystem that Beam knows."""

from __future__ import annotations

from goodgain.pipeline.inputs.storage import Storage
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.read import find_inputs

ANY_FILESYSTEM = Storage(find_inputs, open_plain)
