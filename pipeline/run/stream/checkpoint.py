"""The state in `.stream/` of the output folder, from which a stream resumes however it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from goodgain.pipeline.results.whole_files import write_whole
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.native import active_path
from goodgain.transforms.filesystems import is_local

STATE_FOLDER = ".stream"
_STARTS = "starts.jsonl"
_PROGRESS = "progress.json"


class Start(Struct, frozen=True, omit_defaults=True):
    """One start of a stream.

    Attributes:
      options: the options that affect rows, by name.
      reading: which code reads, as in the manifest of a run; empty if an earlier release started.
    """

    number: int
    started: str
    options: dict[str, Any]
    reading: str = ""


def open_state_folder(output: str) -> Path:
    """The `.stream/` folder of an output folder, created if needed.

    Raises:
      UsageError: the output folder is not local, has files that no stream wrote, or cannot be
        written to.
    """
    if not is_local(output):
        raise UsageError(
            f"A stream from a folder needs its output on this machine, not in {output}; give a "
            "local folder."
        )
    folder = Path(output) / STATE_FOLDER
    try:
        names = sorted(path.name for path in Path(output).iterdir())
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise UsageError(
            f"Output folder {output} cannot be listed ({error.strerror}); check the path."
        ) from None
    if names and STATE_FOLDER not in names:
        raise UsageError(
            f"Output folder {output} holds {names[0]}, which no stream wrote; use another folder."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Output folder {output} cannot be written to ({error.strerror}); use another folder."
        ) from None
    return folder


def next_start(
    folder: Path, options: Mapping[str, Any], defaults: Mapping[str, Any], now: datetime
) -> Start:
    """Number this start and check its options; `record_start` then records it.

    Args:
      options: the options that affect rows, by name.
      defaults: their defaults, assumed for options that an earlier release did not have.

    Raises:
      UsageError: an earlier start had different options.
      GoodGainError: the record of earlier starts is damaged.
    """
    earlier = _starts(folder / _STARTS)
    if earlier:
        known = {**defaults, **earlier[-1].options}
        for name, value in options.items():
            before = known.get(name)
            if before != value:
                option = "--" + name.replace("_", "-")
                raise UsageError(
                    f"The stream in {folder.parent} was started with {option} {_shown(before)}, "
                    f"not {_shown(value)}; use the same value, or another output folder."
                )
    started = now.isoformat(timespec="seconds")
    return Start(len(earlier) + 1, started, dict(options), active_path())


def record_start(folder: Path, start: Start) -> None:
    """Record a start."""
    path = folder / _STARTS
    whole = b"".join(_encoder.encode(one) + b"\n" for one in _starts(path))
    write_whole(path, whole + _encoder.encode(start) + b"\n")


def read_progress(folder: Path) -> int | None:
    """The watermark, in ms, before which everything that closed is in files; None if unknown."""
    try:
        written = msgspec.json.decode((folder / _PROGRESS).read_bytes(), type=dict[str, int])
        return written["watermark"]
    except (FileNotFoundError, KeyError, msgspec.DecodeError, UnicodeDecodeError):
        return None  # then everything is read again, which is slow but loses nothing


def record_progress(folder: Path, watermark: int) -> None:
    """Record that everything closed before a watermark is in files; it never moves back."""
    before = read_progress(folder)
    if before is None or before < watermark:
        write_whole(folder / _PROGRESS, _encoder.encode({"watermark": watermark}))


def _starts(path: Path) -> list[Start]:
    try:
        return [_decoder.decode(line) for line in path.read_bytes().splitlines()]
    except FileNotFoundError:
        return []
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GoodGainError(
            f"{path} is damaged ({error}); restore it, or use another output folder."
        ) from None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(Start)
