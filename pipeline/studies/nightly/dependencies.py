"""What the nightly job depends on outside its own code: time, HTTP, processes and the engine."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from msgspec import Struct, field

from goodgain.pipeline.run.engines.runners import create
from goodgain.pipeline.run.hosts.batch import run
from goodgain.pipeline.run.hosts.finish import Report
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.studies.gate.outcome import Outcome
from goodgain.pipeline.studies.nightly.days.history import DayEntry
from goodgain.pipeline.studies.pool.build import PoolRequest, build_pool


def _say(message: str) -> None:
    sys.stderr.write(f"goodgain: {message}\n")


def post(url: str, body: bytes, timeout_seconds: float) -> int:
    """Send JSON by HTTP POST, and return the status of the answer.

    Redirects are not followed: that would send a GET without the document.

    Raises:
      OSError: no complete answer in time.
      ValueError: the URL cannot be used.
    """
    outcome: queue.SimpleQueue[int | BaseException] = queue.SimpleQueue()

    def send() -> None:
        try:
            outcome.put(_posted(url, body, timeout_seconds))
        except BaseException as error:
            outcome.put(error)

    # A socket's timeout restarts with each byte, so a daemon thread enforces the total.
    threading.Thread(target=send, daemon=True).start()
    try:
        answer = outcome.get(timeout=timeout_seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer within {timeout_seconds:g} s") from None
    if isinstance(answer, BaseException):
        raise answer
    return answer


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirection)


def _posted(url: str, body: bytes, timeout_seconds: float) -> int:
    request = urllib.request.Request(
        url, body, {"Content-Type": "application/json", "User-Agent": "goodgain"}, method="POST"
    )
    try:
        with _opener.open(request, timeout=timeout_seconds) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def start(words: Sequence[str], standard_input: bytes, timeout_seconds: float) -> int:
    """Run a command, and return its exit code; its output goes to stderr.

    Raises:
      OSError: it cannot be started.
      TimeoutError: it took too long and was killed.
    """
    try:
        done = subprocess.run(
            list(words),
            input=standard_input,
            stdout=sys.stderr.fileno(),
            timeout=timeout_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"it did not end within {timeout_seconds:g} s") from None
    return done.returncode


class NightViews(Struct, frozen=True):
    """What people see of the nights.

    Attributes:
      day: builds the page of a day.
      nights: builds the page over all days.
      gate: the gate's outcomes of a day as Markdown, from its date.
    """

    day: Report
    nights: Callable[[Sequence[DayEntry]], bytes]
    gate: Callable[[Sequence[Outcome], str], str]


class Dependencies(Struct, frozen=True):
    """What the job calls outside its own code; tests replace some of it.

    Attributes:
      run: scores a day, see `goodgain.pipeline.run.hosts.batch.run`.
      check_engine: refuses an engine, or options for it, that cannot be used.
      build_pool: adds a day to the pool, see `goodgain.pipeline.studies.pool.build.build_pool`.
    """

    views: NightViews
    now: Callable[[], datetime] = partial(datetime.now, UTC)
    sleep: Callable[[float], None] = time.sleep
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    post: Callable[[str, bytes, float], int] = post
    start: Callable[[Sequence[str], bytes, float], int] = start
    run: Callable[[RunConfig, Sequence[str]], int] = run
    build_pool: Callable[[PoolRequest, Sequence[str]], object] = build_pool
    check_engine: Callable[[str, Sequence[str]], object] = partial(create, command="nightly")
    say: Callable[[str], None] = _say

    @classmethod
    def quiet(cls, views: NightViews) -> Dependencies:
        """The real ones, with days scored without progress."""
        return cls(views, run=partial(run, quiet=True), build_pool=partial(build_pool, quiet=True))
