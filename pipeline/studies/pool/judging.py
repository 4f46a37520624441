"""`goodgain pool judge`: a user's program judges unlabelled documents, one per line.

Each answer is immediately written to a journal, under a digest of the question and the command. So
an interrupted judge continues where it stopped, and no question is asked twice.
"""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, cast

import xxhash
from msgspec import Struct

from goodgain.pipeline.studies.pool.labelling import add_labels
from goodgain.pipeline.studies.pool.store import read_pool
from goodgain.pipeline.studies.pool.todo import row_of
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.pool.todo import in_order
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.filesystems import is_local

_ASKED = ("topic", "query", "entity_type", "title", "url", "text")
_CHUNK = 65_536
_SHOWN = 200
_PAUSE = 0.2  # seconds before a retry, doubled each time


class JudgingRequest(Struct, frozen=True):
    """The pool to judge, and how.

    Attributes:
      command: the program with its arguments; it reads one JSON object per line and answers with
        one.
      at_most: most questions, retries included; None = no limit.
      again: also judge documents that others have labelled.
    """

    folder: str
    command: str
    annotator: str
    parallel: int = 1
    at_most: int | None = None
    again: bool = False
    retries: int = 2
    seconds: float = 120.0


class Rejected(Struct, frozen=True):
    """A document whose answer could not be used."""

    document: str
    reason: str


class Judged(Struct, frozen=True):
    """The outcome of judging.

    Attributes:
      labels, cached: number of labels given to the pool, and of those from the earlier journal.
      calls: number of questions to the program, retries included.
      left: number of documents not judged because the budget ran out.
    """

    labels: int
    cached: int
    calls: int
    left: int
    rejected: list[Rejected]


class _BadAnswerError(Exception):
    """An answer that is not a label."""


def judge_pool(request: JudgingRequest, advance: Callable[[int, int], None]) -> Judged:
    """Judge the documents of a pool, and add the labels to it.

    Args:
      advance: called after each document with the number done and the total.

    Raises:
      UsageError: the folder is not a local pool, or the program cannot be started.
    """
    pool = read_pool(request.folder)
    if not is_local(request.folder):
        raise UsageError(
            f"{request.folder} is not on this machine; copy the pool here to judge it."
        )
    words = shlex.split(request.command)
    if not words:
        raise UsageError("--command is empty; give the program that judges.")
    wanted = (
        one
        for one in pool.documents()
        if one.places
        and request.annotator not in one.given
        and (request.again or one.label() is None)
    )
    journal = _Journal(answers_of(request.folder, request.annotator))
    known = journal.read()
    rows = map(row_of, in_order(wanted, "CG"))
    questions = [{name: row[name] for name in ("document", *_ASKED)} for row in rows]
    keyed = [(one["document"], one, _key(one, request.command)) for one in questions]
    gains = {document: known[key] for document, _, key in keyed if key in known}
    cached = len(gains)
    waiting = [one for one in keyed if one[2] not in known]
    calls = left = 0
    rejected: list[Rejected] = []
    with (
        journal,
        _Workers(request, words) as workers,
        ThreadPoolExecutor(request.parallel) as threads,
    ):
        answers = threads.map(lambda one: workers.answer(one[1], one[2], journal), waiting)
        for at, ((document, _, _), (answer, asked)) in enumerate(
            zip(waiting, answers, strict=True)
        ):
            calls += asked
            if isinstance(answer, int):
                gains[document] = answer
            elif answer is None:
                left += 1
                continue
            else:
                rejected.append(Rejected(document, answer))
            advance(at + 1 - left, len(waiting))
    if gains:
        labels = {document: {request.annotator: gain} for document, gain in gains.items()}
        add_labels(request.folder, labels)
    return Judged(len(gains), cached, calls, left, rejected)


def _key(question: Mapping[str, Any], command: str) -> str:
    """A digest of the question and the command; equal documents share it."""
    asked = json.dumps([command, [question[name] for name in _ASKED]], ensure_ascii=False)
    return xxhash.xxh3_128_hexdigest(asked.encode())


def answers_of(folder: str, annotator: str) -> Path:
    """The journal of a judge's answers."""
    safe = "".join(one if one.isalnum() or one in "-_" else "_" for one in annotator)
    if safe != annotator:
        safe += f"-{xxhash.xxh3_64_hexdigest(annotator.encode())}"
    return Path(folder) / f"judged-{safe}.jsonl"


class _Journal:
    """The answers so far, one per line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def read(self) -> dict[str, int]:
        """The answers by key, without a line that was truncated when the judge was killed."""
        known: dict[str, int] = {}
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                    known[row["key"]] = int(row["gain"])
                except (ValueError, KeyError, TypeError):
                    continue
        return known

    def __enter__(self) -> _Journal:
        cut = self._path.exists() and not self._path.read_bytes().endswith(b"\n")
        self._file = self._path.open("a", encoding="utf-8")
        if cut and self._path.stat().st_size:
            self._file.write("\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, key: str, gain: int) -> None:
        with self._lock:
            self._file.write(json.dumps({"key": key, "gain": gain}) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())


class _Workers:
    """Copies of the program, at most one per thread."""

    def __init__(self, request: JudgingRequest, words: Sequence[str]) -> None:
        self._request = request
        self._programs = [_Program(words) for _ in range(request.parallel)]
        self._free = deque(self._programs)
        # Holds the questions that may still be asked; None = no limit.
        self._budget = None if request.at_most is None else threading.Semaphore(request.at_most)

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for program in self._programs:
            program.stop()

    def answer(
        self, question: Mapping[str, Any], key: str, journal: _Journal
    ) -> tuple[int | str | None, int]:
        """The label, the reason for none, or None without budget; and the number of questions."""
        reason = ""
        for attempt in range(self._request.retries + 1):
            if self._budget is not None and not self._budget.acquire(blocking=False):
                return None, attempt
            if attempt:
                time.sleep(_PAUSE * 2 ** (attempt - 1))
            program = self._free.pop()
            try:
                gain = _gain(program.ask(question, self._request.seconds))
            except _BadAnswerError as error:
                reason = str(error)
                continue
            finally:
                self._free.append(program)
            journal.add(key, gain)
            return gain, attempt + 1
        return reason, self._request.retries + 1


class _Program:
    """A running copy of the program; restarted after it ended or timed out."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Mapping[str, Any], seconds: float) -> bytes:
        process = self._running_process()
        stdin, stdout = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        try:
            stdin.write(json.dumps(question, ensure_ascii=False).encode() + b"\n")
            stdin.flush()
            return _line(stdout.fileno(), seconds)
        except (OSError, _BadAnswerError) as error:
            self.stop()
            raise _BadAnswerError(f"the program gave no answer ({problem_of(error)})") from None

    def _running_process(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            try:
                self._process = subprocess.Popen(
                    self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            except OSError as error:
                problem = f"{self._words[0]} cannot be started: {problem_of(error)}."
                raise UsageError(problem) from None
        return self._process

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _line(descriptor: int, seconds: float) -> bytes:
    ends = time.monotonic() + seconds
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(ends - time.monotonic(), 0))
        if not ready:
            raise _BadAnswerError(f"none within {seconds:g} seconds")
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            raise _BadAnswerError("it ended")
        line += chunk
    return line


def _gain(line: bytes) -> int:
    try:
        answer = json.loads(line)
    except ValueError:
        raise _BadAnswerError(f"no JSON: {line[:_SHOWN]!r}") from None
    gain = answer.get("gain") if isinstance(answer, dict) else None
    if isinstance(gain, bool) or not isinstance(gain, int) or not 0 <= gain <= GREATEST_GAIN:
        raise _BadAnswerError(f"it has no gain from 0 to {GREATEST_GAIN}: {line[:_SHOWN]!r}")
    return gain
