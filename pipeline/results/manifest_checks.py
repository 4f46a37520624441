"""Decodes manifests that are read back, and words what makes them unusable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.errors import UsageError

REMEDY = "If another version of goodgain wrote it, or it was changed since, run it again."
_Decoded = TypeVar("_Decoded")


def check_run(manifest: Mapping[str, Any], folder: str) -> RunManifest:
    """Decode the manifest of a run.

    Raises:
      UsageError: it is that of something else, or a field is missing or has another type.
    """
    if not isinstance(manifest.get("parameters"), dict) or "records" not in manifest:
        raise UsageError(
            f"{folder} is not the output of `goodgain run`: use the folder that its --output named."
        )
    return decode_manifest(manifest, RunManifest, folder)


def decode_manifest(manifest: Mapping[str, Any], into: type[_Decoded], folder: str) -> _Decoded:
    """Decode a manifest, or some of its fields.

    Args:
      into: a Struct with the fields that are needed; others are left out.
      folder: of the outputs, for the message.

    Raises:
      UsageError: a field is missing or has another type.
    """
    try:
        return msgspec.convert(manifest, into)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$.")
        field = f"{place.removesuffix('`')}: " if place else ""
        raise UsageError(
            f"{folder}/{MANIFEST} cannot be used ({field}{problem}). {REMEDY}"
        ) from None
