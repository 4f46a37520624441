"""What the page's commands make of the unlabelled spans of two agents, and what they must give."""

import json
import re
import shutil
import subprocess
from fractions import Fraction
from os import pathsep
from pathlib import Path
from statistics import mean

import pytest

from goodgain.pipeline.exit_codes import ExitCode
from goodgain.pipeline.outputs.folder import read_dataset
from tests.page_commands import words_of, written
from tests.pipeline.convert.importing import FIXTURES
from tests.pipeline.runs import rows

PAGE = Path(__file__).parents[1] / "docs" / "traces-from-other-tools.md"
SECTION = "\n## From spans to a verdict, without labels\n"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
QUESTIONS = range(40)


def good_in_pool(t):
    """good-0 to good-2 for each question, good-3 and good-4 where an agent found them."""
    return 3 + (t % 5 == 0) + (t % 3 == 0)


FOUND = {
    "base": lambda t: 1 + (t % 4 != 0) + (t % 3 == 0),
    "new": lambda t: 3 + (t % 5 == 0),
}


def blocks():
    section = PAGE.read_text(encoding="utf-8").split(SECTION)[1]
    return BLOCK.findall(section.split("\n## ")[0])


# Starting the program takes longer than most commands: one process runs them all.
SERVE = """
import contextlib, io, json, sys
from goodgain.pipeline.__main__ import main
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = main(json.loads(line))
    print(json.dumps([code, said.getvalue()]), flush=True)
"""


class Program:
    """The package of an environment, which is told commands one after another in a folder."""

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

    def told(self, commands, code=ExitCode.DONE):
        """What commands print, of which the last ends with an exit code and the others well."""
        answers = [self._answer(words) for words in words_of(written(commands, self._folder))]
        codes = [one for one, _ in answers]
        assert codes == [*[ExitCode.DONE] * (len(answers) - 1), code], answers
        return " ".join(" ".join(said for _, said in answers).split())

    def _answer(self, words):
        self._running.stdin.write(f"{json.dumps(words)}\n")
        self._running.stdin.flush()
        answer = self._running.stdout.readline()
        assert answer, f"It ended while it ran {words}."
        return json.loads(answer)


def follow(folder, programs, environment):
    """From an empty folder to the gate, by the commands of the page."""
    for agent in FOUND:
        shutil.copy(FIXTURES / f"{agent}-spans.jsonl.gz", folder)
    with Program(folder, programs, environment) as program:
        _follow(folder, program)


def _follow(folder, program):
    convert, judge, score, gate = blocks()

    told = program.told(convert)
    assert "40 conversations, 40 turns, 80 iterations, 80 calls, 204 results" in told
    assert "40 conversations, 40 turns, 120 iterations, 120 calls, 248 results" in told
    # Three good and three other documents a question, and those that one agent alone found.
    assert 6 * 40 + 8 + 14 == 262
    assert "262 documents of 40 topics, seen at 452 places" in told
    assert "262 documents without a label" in told
    assert "190 of 452 results need no label of their own" in told

    assert "262 labels by judge" in program.told(judge)

    program.told(score)
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

    assert "2 rules, none failed" in program.told(gate)
    turned = "goodgain gate out-base --config gate.yaml --baseline out-new"
    assert "pool_recall" in program.told(turned, ExitCode.REGRESSION)
