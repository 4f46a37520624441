"""The journal of a judge's answers.

Each is written at once, so that a judge that was stopped continues where it stopped, and no
question is asked twice.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from goodgain.pipeline.studies.pool.aspect_files import names_of
from goodgain.pipeline.studies.pool.judge_answers import parse_gain
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.records.written_label import LabelError


def answers_of(folder: str, annotator: str) -> Path:
    """The journal of a judge's answers."""
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in annotator)
    if safe != annotator:
        safe += f"-{xxhash.xxh3_64_hexdigest(annotator.encode())}"
    return Path(folder) / f"judged-{safe}.jsonl"


class JudgeAnswer(NamedTuple):
    """A gain, and the aspects that the answer names; None if it names none."""

    gain: int
    aspects: tuple[str, ...] | None


class AnswerJournal:
    """The answers so far, one per line: a digest of question and command, and the label as written.

    So another `--label-map` reads earlier answers anew.
    """

    def __init__(self, path: Path) -> None:
        """Keep the answers in this file, which need not exist."""
        self._path = path
        self._lock = threading.Lock()

    def read(self, label_map: LabelMap | None) -> dict[str, JudgeAnswer]:
        """The answers by key, with labels that `label_map` reads.

        A line that was truncated when the judge was killed is left out.
        """
        known: dict[str, JudgeAnswer] = {}
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                    key, gain = row["key"], parse_gain(row["gain"], label_map)
                    aspects = names_of(row.get("aspects"))
                except (ValueError, KeyError, TypeError, LabelError):
                    continue
                if gain is None:
                    known.pop(key, None)
                else:
                    known[key] = JudgeAnswer(gain, aspects)
        return known

    def __enter__(self) -> AnswerJournal:
        cut = self._path.exists() and not self._path.read_bytes().endswith(b"\n")
        self._file = self._path.open("a", encoding="utf-8")
        if cut and self._path.stat().st_size:
            self._file.write("\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, key: str, label: Any, aspects: Sequence[str] | None) -> None:
        """Write an answer at once; from any thread."""
        self._write(key, label, aspects)

    def withdraw(self, key: str) -> None:
        """Let the answer to a question count no more."""
        self._write(key, None)

    def _write(self, key: str, label: Any, aspects: Sequence[str] | None = None) -> None:
        row = {"key": key, "gain": label} | ({} if aspects is None else {"aspects": aspects})
        with self._lock:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
