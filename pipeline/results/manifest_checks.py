"""Decodes manifests that are read back, and words what makes them unusable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.errors import UsageError

_IF = "If another version of goodgain wrote it, or it was changed since,"
REMEDY = f"{_IF} run it again."
_Decoded = TypeVar("_Decoded")


def run_manifest_of(manifest: Mapping[str, Any], folder: str) -> RunManifest:
    """Decode the manifest of a run.

    Raises:
      UsageError: it is that of something else, or a field is missing or has another type.
    """
    if not isinstance(manifest.get("parameters"), dict) or "records" not in manifest:
        raise UsageError(
            f"{folder} is not the output of `goodgain run`: use the folder that its --output named."
        )
    decoded = decode_manifest(manifest, RunManifest, folder)
    with _problem_named(folder, "parameters"):
        _ = decoded.options
    return decoded


def decode_manifest(
    manifest: Mapping[str, Any], into: type[_Decoded], folder: str, advice: str = "run it again."
) -> _Decoded:
    """Decode a manifest, or some of its fields.

    Args:
      into: a Struct with the fields that are needed; others are left out.
      folder: of the outputs, for the message.
      advice: what to do about those of another version, and changed ones.

    Raises:
      UsageError: a field is missing or has another type.
    """
    with _problem_named(folder, advice=advice):
        return msgspec.convert(manifest, into)


@contextmanager
def _problem_named(folder: str, part: str = "", advice: str = "run it again.") -> Iterator[None]:
    """Name the file and the field that cannot be decoded.

    Args:
      part: the field of the manifest that is decoded; "" = all of it.
    """
    try:
        yield
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$.")
        field = ".".join(filter(None, (part, place.removesuffix("`"))))
        named = f"{field}: {problem}" if field else problem
        raise UsageError(f"{folder}/{MANIFEST} cannot be used ({named}). {_IF} {advice}") from None
