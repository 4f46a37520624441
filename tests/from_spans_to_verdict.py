"""Runs the commands of a page on the unlabelled spans of two agents, and checks the outcome."""

import json
import re
import shutil
import subprocess
from fractions import Fraction
from os import pathsep
from pathlib import Path
from statistics import mean

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_dataset
from tests.page_commands import arguments_of, write_files
from tests.pipeline.convert.importing import FIXTURES
from tests.pipeline.runs import rows

PAGE = Path(__file__).parents[1] / "docs" / "traces-from-other-tools.md"
SECTION = "\n## From spans to a verdict, without labels\n"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
QUESTIONS = range(40)


def good_in_pool(t):
    """Number of good documents for a question: three, and up to two that only one agent finds."""
    return 3 + (t % 5 == 0) + (t % 3 == 0)


# By agent, the number of good documents that it finds for a question.
FOUND = {
    "base": lambda t: 1 + (t % 4 != 0) + (t % 3 == 0),
    "new": lambda t: 3 + (t % 5 == 0),
}


def blocks():
    section = PAGE.read_text(encoding="utf-8").split(SECTION)[1]
    return BLOCK.findall(section.split("\n## ")[0])


# One process runs all commands, since starting Python takes longer than most of them.
SERVE = """
import contextlib, io, json, sys
from goodgain.pipeline.__main__ import main
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main(json.loads(line))
    print(json.dumps([code, printed.getvalue()]), flush=True)
"""


class Program:
    """The program as installed in an environment: runs commands in a folder, one after another."""

    def __init__(self, folder, programs, environment):
        paths = pathsep.join((str(programs), environment["PATH"]))
        self._folder = folder
        self._running = subprocess.Popen(
            [programs / "python", "-c", SERVE],
            cwd=folder,
            env={**environment, "PATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._running.stdin.close()
        self._running.stdout.close()
        self._running.wait()

    def output_of(self, commands, code=ExitCode.DONE):
        """Run commands and return what they print; `code` is the exit code of the last one."""
        answers = [
            self._answer(arguments)
            for arguments in arguments_of(write_files(commands, self._folder))
        ]
        codes = [answer for answer, _ in answers]
        assert codes == [*[ExitCode.DONE] * (len(answers) - 1), code], answers
        return " ".join(" ".join(printed for _, printed in answers).split())

    def _answer(self, arguments):
        self._running.stdin.write(f"{json.dumps(arguments)}\n")
        self._running.stdin.flush()
        answer = self._running.stdout.readline()
        assert answer, f"The process ended while it ran {arguments}."
        return json.loads(answer)


def follow(folder, programs, environment):
    """Run the page's commands in an empty folder, from the spans to the gate."""
    for agent in FOUND:
        shutil.copy(FIXTURES / f"{agent}-spans.jsonl.gz", folder)
    with Program(folder, programs, environment) as program:
        _follow(folder, program)


def _follow(folder, program):
    convert, judge, score, gate = blocks()

    printed = program.output_of(convert)
    assert "40 conversations, 40 turns, 80 iterations, 80 calls, 204 results" in printed
    assert "40 conversations, 40 turns, 120 iterations, 120 calls, 248 results" in printed
    # Three good and three other documents per question, and those that only one agent found.
    assert 6 * 40 + 8 + 14 == 262
    assert "262 documents of 40 topics, seen at 452 places" in printed
    assert "262 documents without a label" in printed
    assert "190 of 452 results need no label of their own" in printed

    assert "262 labels by judge" in program.output_of(judge)

    program.output_of(score)
    for agent, found in FOUND.items():
        output = folder / f"out-{agent}"
        by_id = {row["conversation_id"]: row for row in rows(output, "conversations")}
        for t in QUESTIONS:
            row, share = by_id.pop(f"question-{t}"), Fraction(found(t), good_in_pool(t))
            assert row["recall"] == row["pool_recall"] == pytest.approx(float(share))
            assert (row["GR"], row["CG"], row["DupR"]) == (found(t), 2 * found(t), 1)
            assert row["half_of_pool_reached"] == (share >= Fraction(1, 2))
            assert row["unlabelled"] == 0
        assert by_id == {}
    compared = {
        row["metric"]: row for row in read_dataset(str(folder / "comparison"), "comparison")
    }
    for metric, value in (
        ("recall", lambda found, t: Fraction(found, good_in_pool(t))),
        ("CG", lambda found, t: Fraction(2 * found)),
    ):
        row = compared[metric]
        base, new = (mean(value(FOUND[a](t), t) for t in QUESTIONS) for a in ("base", "new"))
        assert (row["n_base"], row["verdict"]) == (40, "better")
        assert row["base_mean"] == pytest.approx(float(base))
        assert row["candidate_mean"] == pytest.approx(float(new))

    assert "2 rules, none failed" in program.output_of(gate)
    swapped = "goodgain gate out-base --config gate.yaml --baseline out-new"
    assert "Recall of the pool" in program.output_of(swapped, ExitCode.REGRESSION)
