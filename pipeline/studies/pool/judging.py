"""`goodgain pool judge`: a user's program judges unlabelled documents, one per line."""

from __future__ import annotations

import json
import shlex
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import xxhash
from msgspec import Struct

from goodgain.pipeline.results.links import check_links
from goodgain.pipeline.results.pool_store import read_pool
from goodgain.pipeline.settings.pool_config import JudgeConfig
from goodgain.pipeline.studies.pool.answer_journal import AnswerJournal, JudgeAnswer, answers_of
from goodgain.pipeline.studies.pool.aspect_files import names_of
from goodgain.pipeline.studies.pool.judge_answers import BadAnswerError, parse_gain
from goodgain.pipeline.studies.pool.judge_program import JudgeProgram
from goodgain.pipeline.studies.pool.labelling import add_labels
from goodgain.pipeline.studies.pool.todo import row_of
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.pool.todo import sort_documents
from goodgain.transforms.filesystems import is_local

_ASKED = ("topic", "query", "entity_type", "title", "url", "ids", "text")
_PAUSE = 0.2  # seconds before a retry, doubled each time


class Rejected(Struct, frozen=True):
    """A document whose answer could not be used."""

    document: str
    reason: str


class Judged(Struct, frozen=True):
    """The outcome of judging.

    Attributes:
      labels, cached: number of labels given to the pool, and of those from the earlier journal.
      calls: number of questions to the program, retries included.
      bad: number of those without a usable answer.
      left: number of documents not judged because the budget ran out.
    """

    labels: int
    cached: int
    calls: int
    bad: int
    left: int
    rejected: list[Rejected]


def judge_pool(folder: str, config: JudgeConfig, advance: Callable[[int, int], None]) -> Judged:
    """Judge the documents of a pool, and add the labels to it.

    Args:
      advance: called after each document with the number done and the total.

    Raises:
      UsageError: the folder is not a local pool or holds a symbolic link, or the command cannot
        be read or started.
    """
    pool = read_pool(folder)
    if not is_local(folder):
        raise UsageError(f"{folder} is not on this machine; copy the pool here to judge it.")
    check_links(folder)
    try:
        words = shlex.split(config.command)
    except ValueError as error:  # a quotation or an escape that does not end
        raise UsageError(f"--command is not written as in a shell: {error}.") from None
    if not words:
        raise UsageError("--command is empty; give the program that judges.")
    wanted = (
        document
        for document in pool.documents()
        if document.places
        and config.annotator not in document.given
        and (config.again or document.label() is None)
    )
    journal = AnswerJournal(answers_of(folder, config.annotator))
    known = journal.read(config.label_scale)
    rows = map(row_of, sort_documents(wanted, "CG"))
    questions = [{name: row[name] for name in ("document", *_ASKED)} for row in rows]
    keyed = [
        (question["document"], question, _key(question, config.command)) for question in questions
    ]
    found = {document: known[key] for document, _, key in keyed if key in known}
    cached = len(found)
    waiting = [item for item in keyed if item[2] not in known]
    calls = bad = left = 0
    rejected: list[Rejected] = []
    with journal, _Workers(config, words) as workers:
        with ThreadPoolExecutor(config.parallel) as threads:
            answers = threads.map(
                lambda question: workers.answer(question[1], question[2], journal), waiting
            )
            for at, ((document, _, _), (answer, asked)) in enumerate(
                zip(waiting, answers, strict=True)
            ):
                calls += asked
                bad += asked - isinstance(answer, JudgeAnswer)
                if isinstance(answer, JudgeAnswer):
                    found[document] = answer
                elif answer is None:
                    left += 1
                    continue
                else:
                    rejected.append(Rejected(document, answer))
                advance(at + 1 - left, len(waiting))
        keys = {document: key for document, _, key in waiting}
        for document in workers.end_programs():
            if found.pop(document, None) is not None:
                bad += 1
                rejected.append(Rejected(document, "the program gave more than one line for it"))
                journal.withdraw(keys[document])
    if found:
        add_labels(
            folder,
            {document: {config.annotator: answer.gain} for document, answer in found.items()},
            {
                document: {config.annotator: answer.aspects}
                for document, answer in found.items()
                if answer.aspects is not None
            },
        )
    return Judged(len(found), cached, calls, bad, left, rejected)


def _key(question: Mapping[str, Any], command: str) -> str:
    """A digest of the question and the command; equal documents share it."""
    asked = json.dumps([command, [question[name] for name in _ASKED]], ensure_ascii=False)
    return xxhash.xxh3_128_hexdigest(asked.encode())


class _Workers:
    """Copies of the program, at most one per thread."""

    def __init__(self, config: JudgeConfig, words: Sequence[str]) -> None:
        self._config = config
        self._programs = [
            JudgeProgram(words, config.timeout, config.label_scale) for _ in range(config.parallel)
        ]
        self._free = deque(self._programs)
        # Holds the questions that may still be asked; None = no limit.
        self._budget = None if config.at_most is None else threading.Semaphore(config.at_most)

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for program in self._programs:
            program.stop()

    def end_programs(self) -> list[str]:
        """End the programs; the documents whose answers do not count after all."""
        for program in self._programs:
            program.close()
        return [document for program in self._programs for document in program.withdrawn]

    def answer(
        self, question: Mapping[str, Any], key: str, journal: AnswerJournal
    ) -> tuple[JudgeAnswer | str | None, int]:
        """The answer, the reason for none, or None without budget; and the number of questions."""
        reason = ""
        for attempt in range(self._config.retries + 1):
            if self._budget is not None and not self._budget.acquire(blocking=False):
                return None, attempt
            if attempt:
                time.sleep(_PAUSE * 2 ** (attempt - 1))
            program = self._free.pop()
            try:
                label, aspects = program.ask(question)
            except BadAnswerError as error:
                reason = str(error)
                continue
            finally:
                self._free.append(program)
            journal.add(key, label, aspects)
            gain = parse_gain(label, self._config.label_scale)
            if gain is not None:
                return JudgeAnswer(gain, names_of(aspects)), attempt + 1
        return reason, self._config.retries + 1
