"""The program of a judge: it gets a question as one line of JSON, and answers with one.

An answer that names its document is matched by it, so that such a program can stay for further
questions. Without that, a line too many would pass for the answer to the next question, so a
program whose answers name none is started anew for each question, and its answer counts if it is
the only line until its output ends.
"""

from __future__ import annotations

import json
import os
import select
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, cast

from goodgain.pipeline.studies.pool.judge_answers import (
    BadAnswerError,
    ProgramAnswer,
    document_in,
    parse_answer,
    show_beginning,
)
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.records.label_map import LabelMap

_CHUNK = 65_536
_LONGEST = 65_536  # bytes of an answer


class JudgeProgram:
    """A copy of the program, started when it is needed.

    Attributes:
      withdrawn: documents for which the program gave another line after an answer that counted.
    """

    def __init__(
        self, words: Sequence[str], seconds: float, label_map: LabelMap | None = None
    ) -> None:
        """Prepare to run the program.

        Args:
          seconds: how long an answer may take.
          label_map: the gains of labels on another scale; None = labels are gains.
        """
        self._words = words
        self._label_map = label_map
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._stays = True
        self._answered: list[str] = []  # documents of the running program's answers so far
        self.withdrawn: list[str] = []

    def ask(self, question: Mapping[str, Any]) -> tuple[Any, list[str] | None]:
        """The label of the document in a question, as written, and its aspects, if any are given.

        Raises:
          BadAnswerError: there was no answer in time, or it is not a label of this document.
          UsageError: the program cannot be started.
        """
        self._end_if_out_of_step()
        process = self._running_process()
        exchange = _Exchange(process, self._seconds)
        try:
            exchange.send(json.dumps(question, ensure_ascii=False).encode() + b"\n")
            if not self._stays:
                exchange.end_input()
            answer = self._receive(exchange)
            if answer.document not in (None, question["document"]):
                raise BadAnswerError(f"it is about another document: {show_beginning(answer.line)}")
        except (OSError, BadAnswerError) as error:
            self._withdraw(self._find_named(exchange.received))
            self.stop()
            if isinstance(error, OSError):
                reason = f"the program gave no answer ({problem_of(error)})"
                raise BadAnswerError(reason) from None
            raise
        if not self._stays:
            self.stop()
        answer.check(self._label_map)
        if self._stays:
            self._answered.append(question["document"])
        return answer.label, answer.aspects

    def _receive(self, exchange: _Exchange) -> ProgramAnswer:
        output = exchange.line() if self._stays else exchange.rest()
        answer = parse_answer(output)
        if self._stays and answer.document is None:
            if self._answered:
                raise BadAnswerError(
                    f"it names no document, unlike those before: {show_beginning(output)}"
                )
            self._stays = False
            exchange.end_input()
            answer = parse_answer(exchange.rest())
        return answer

    def _end_if_out_of_step(self) -> None:
        """End the program if it ended its output, or wrote more than its answer."""
        if self._process is None:
            return
        output = cast(IO[bytes], self._process.stdout)
        if select.select([output], [], [], 0)[0]:
            self._withdraw_for(os.read(output.fileno(), _CHUNK))
            self.stop()

    def _withdraw_for(self, surplus: bytes) -> None:
        """Withdraw the answers that lines too many are about; the latest one if they name none."""
        if surplus:
            self._withdraw(self._find_named(surplus) or self._answered[-1:])

    def _find_named(self, output: bytes) -> list[str]:
        """The documents with an answer by the running program that are in its further output."""
        named = set(map(document_in, output.split(b"\n")))
        return [document for document in self._answered if document in named]

    def _withdraw(self, documents: Sequence[str]) -> None:
        self.withdrawn += [document for document in documents if document not in self.withdrawn]

    def close(self) -> None:
        """Let the program end, to see whether it writes another line."""
        if self._process is not None:
            exchange = _Exchange(self._process, self._seconds)
            with suppress(OSError, BadAnswerError):
                exchange.end_input()
                exchange.rest()
            self._withdraw_for(exchange.received)
        self.stop()

    def stop(self) -> None:
        """Kill the program."""
        process, self._process, self._answered = self._process, None, []
        if process is None:
            return
        process.kill()
        # Not `communicate`, which would wait for whatever the program started.
        for stream in (process.stdin, process.stdout):
            cast(IO[bytes], stream).close()
        process.wait()

    def _running_process(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
                )
            except OSError as error:
                problem = f"{self._words[0]} cannot be started: {problem_of(error)}."
                raise UsageError(problem) from None
        return self._process


class _Exchange:
    """Writes to a program and reads from it, both until one time limit.

    Its methods raise `BadAnswerError` when the time is up, or the output is too long.

    Attributes:
      received: all output so far.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._input, self._output = (
            cast(IO[bytes], stream) for stream in (process.stdin, process.stdout)
        )
        self._seconds = seconds
        self._ends = time.monotonic() + seconds
        self._unsent = b""
        self._ends_input = False
        self.received = b""

    def send(self, data: bytes) -> None:
        """Write data while the answer is read, since a program may write before it reads."""
        os.set_blocking(self._input.fileno(), False)
        self._unsent = data

    def end_input(self) -> None:
        """Close the program's standard input once everything is written."""
        self._ends_input = True
        if not self._unsent:
            self._input.close()

    def line(self) -> bytes:
        """What the program writes up to the end of a line, and what came with it."""
        return self._read(lambda: b"\n" in self.received)

    def rest(self) -> bytes:
        """All that the program writes until its output ends."""
        return self._read(lambda: False)

    def _read(self, is_enough: Callable[[], bool]) -> bytes:
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            if self._unsent:
                selector.register(self._input, selectors.EVENT_WRITE)
            while not is_enough():
                left = self._ends - time.monotonic()
                ready = selector.select(left) if left > 0 else []
                if not ready:
                    raise BadAnswerError(
                        f"the program gave no answer (none within {self._seconds:g} seconds)"
                    )
                for key, _ in ready:
                    if key.fileobj is self._input:
                        self._write(selector)
                        continue
                    chunk = os.read(self._output.fileno(), _CHUNK)
                    if not chunk:
                        return self.received
                    self.received += chunk
                if len(self.received) > _LONGEST:
                    raise BadAnswerError(f"it is longer than {_LONGEST:,} bytes")
        return self.received

    def _write(self, selector: selectors.BaseSelector) -> None:
        try:
            written = os.write(self._input.fileno(), self._unsent)
        except BrokenPipeError:
            written = len(self._unsent)  # it reads no more; whether it answers will show
        self._unsent = self._unsent[written:]
        if not self._unsent:
            selector.unregister(self._input)
            if self._ends_input:
                self._input.close()
