"""The program of a judge, whatever it writes and whenever."""

import os
import select
import sys

import pytest

from goodgain.pipeline.studies.pool.judge_answers import BadAnswerError
from goodgain.pipeline.studies.pool.judge_program import JudgeProgram

pytestmark = pytest.mark.slow

# Begins every program: `answer` answers a question with its document, `plain` without.
PRELUDE = """
import json, os, sys, time
def questions():
    for line in sys.stdin:
        yield json.loads(line)
def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()
def answer(question, gain):
    write(json.dumps({"document": question["document"], "gain": gain}) + "\\n")
def plain(gain):
    write(json.dumps({"gain": gain}) + "\\n")
def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.01)
"""
LIMIT = 0.5  # seconds; of programs that never answer rightly


@pytest.fixture
def start():
    """Makes a program of a text, and ends it after the test."""
    programs = []

    def start_program(text, seconds=60.0):
        programs.append(JudgeProgram((sys.executable, "-c", PRELUDE + text), seconds))
        return programs[-1]

    yield start_program
    for program in programs:
        program.stop()


def question(document, **fields):
    return {"document": document, **fields}


def reason_of_refusal(program, document, **fields):
    """Why an answer is refused."""
    with pytest.raises(BadAnswerError) as raised:
        program.ask(question(document, **fields))
    return str(raised.value)


def label_of(program, asked):
    """The label in the answer."""
    label, aspects = program.ask(asked)
    assert aspects is None
    return label


def test_a_program_that_names_documents_stays(start):
    program = start("for question in questions(): answer(question, os.getpid() % 5)\n")
    assert len({label_of(program, question(f"d{at}")) for at in range(20)}) == 1
    program.close()
    assert program.withdrawn == []


def test_a_program_that_names_none_is_started_for_each_question(start, tmp_path):
    starts = tmp_path / "starts"
    text = f"open({str(starts)!r}, 'a').write('x')\nfor question in questions(): plain(3)\n"
    program = start(text)
    assert [label_of(program, question(f"d{at}")) for at in range(3)] == [3, 3, 3]
    assert starts.read_text() == "xxx"


def test_an_answer_about_another_document_is_refused(start):
    program = start("for question in questions(): answer({'document': 'other'}, 1)\n")
    assert reason_of_refusal(program, "d").startswith("it is about another document: ")
    assert program.withdrawn == []


@pytest.mark.parametrize("write", ["answer(question, {})", "plain({})"])
def test_two_lines_at_once_are_refused(write, start):
    program = start(
        "lines = []\n"
        "for question in questions():\n"
        "    write, later = lines.append, write\n"
        f"    {write.format(1)}; {write.format(4)}\n"
        "    write = later; write(''.join(lines)); lines.clear()\n"
    )
    assert reason_of_refusal(program, "a").startswith("it is more than one line: ")


def let_it_write(program, path):
    """Make the file for which the program waits, and return when it has written more."""
    path.touch()
    assert select.select([program._process.stdout], [], [], 60)[0]


def test_a_line_too_many_before_the_next_question_withdraws_the_answer(start, tmp_path):
    go = tmp_path / "go"
    program = start(
        "for question in questions():\n"
        "    answer(question, 1)\n"
        f"    if question['document'] == 'b': wait_for({str(go)!r}); answer(question, 4)\n"
    )
    assert [label_of(program, question(document)) for document in "ab"] == [1, 1]
    let_it_write(program, go)
    assert label_of(program, question("c")) == 1
    assert program.withdrawn == ["b"]


def test_a_line_too_many_after_the_next_question_withdraws_the_answer_and_is_no_label(start):
    program = start(
        "earlier = None\n"
        "for question in questions():\n"
        "    if earlier: answer(earlier, 4)\n"
        "    answer(question, 1)\n"
        "    earlier = question\n"
    )
    assert label_of(program, question("a")) == 1
    assert reason_of_refusal(program, "b").startswith(
        ("it is about another document", "it is more than")
    )
    assert label_of(program, question("b")) == 1
    program.close()
    assert program.withdrawn == ["a"]


def test_a_line_too_many_withdraws_the_answer_that_it_names_however_late_it_comes(start, tmp_path):
    go = tmp_path / "go"
    program = start(
        "for number, question in enumerate(questions()):\n"
        "    first = question if number == 0 else first\n"
        "    answer(question, 1)\n"
        f"    if number == 2: wait_for({str(go)!r}); answer(first, 4)\n"
    )
    assert [label_of(program, question(document)) for document in "abc"] == [1, 1, 1]
    let_it_write(program, go)
    assert label_of(program, question("d")) == 1
    assert program.withdrawn == ["a"]


def test_a_line_too_many_without_a_name_is_no_answer_to_the_next_question(start):
    program = start(
        "for number, question in enumerate(questions()):\n"
        "    if number: plain(4); sys.exit()\n"
        "    answer(question, 1)\n"
    )
    assert label_of(program, question("a")) == 1
    assert reason_of_refusal(program, "b").startswith("it names no document, unlike those before: ")
    assert label_of(program, question("b")) == 1


@pytest.mark.parametrize("then", ["time.sleep(600)", "while True: write('x' * 2**16)"])
def test_a_line_too_many_at_the_end_withdraws_the_answer_whatever_follows(then, start, tmp_path):
    go = tmp_path / "go"
    text = (
        "for question in questions(): "
        f"answer(question, 1); wait_for({str(go)!r}); answer(question, 4)\n"
    )
    program = start(text.replace("\n", f"; exec({then!r})\n"))
    assert label_of(program, question("a")) == 1
    let_it_write(program, go)
    program._seconds = LIMIT
    program.close()
    assert program.withdrawn == ["a"]


def test_a_line_too_many_at_the_end_withdraws_the_answer(start):
    program = start("for question in questions(): answer(question, 1)\nanswer(question, 4)\n")
    assert label_of(program, question("a")) == 1
    program.close()
    assert program.withdrawn == ["a"]


def test_a_line_too_many_without_a_name_is_refused_whenever_it_comes(start):
    program = start("for question in questions(): plain(1)\ntime.sleep(0.2)\nplain(4)\n")
    assert reason_of_refusal(program, "a").startswith("it is more than one line: ")
    assert reason_of_refusal(program, "b").startswith("it is more than one line: ")


@pytest.mark.parametrize(
    "text",
    [
        "time.sleep(600)\n",
        "while True: time.sleep(0.01); write('x')\n",
        "for question in questions(): plain(1)\ntime.sleep(600)\n",
        "for question in questions(): plain(1)\nwhile True: time.sleep(0.01); write('x')\n",
    ],
)
def test_the_time_limit_holds_whatever_the_program_writes(text, start):
    assert reason_of_refusal(start(text, LIMIT), "a").endswith("(none within 0.5 seconds)")


def test_a_program_that_writes_without_end_is_stopped_early(start):
    assert reason_of_refusal(start("while True: write('x' * 2**16)\n"), "a").startswith(
        "it is longer than"
    )


def test_a_program_that_closes_its_output_gives_no_answer(start):
    program = start("os.close(1)\ntime.sleep(600)\n")
    assert reason_of_refusal(program, "a") == "the program gave no answer (it ended)"


def test_a_program_that_reads_nothing_may_answer_or_not(start):
    long = "x" * 2**20
    assert reason_of_refusal(start("time.sleep(600)\n", LIMIT), "a", text=long).endswith(
        "0.5 seconds)"
    )
    assert label_of(start("os.close(0)\nplain(2)\n"), question("a", text=long)) == 2


def test_what_the_program_started_does_not_hold_up_its_end(start, tmp_path):
    """It keeps the output open after the program is killed, until somebody opens the pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = f"import subprocess\nsubprocess.Popen(['cat', {str(pipe)!r}])\ntime.sleep(600)\n"
    assert reason_of_refusal(start(text, LIMIT), "a").endswith("0.5 seconds)")
    pipe.open("w").close()


def test_a_long_question_and_a_long_way_to_the_answer(start):
    """Neither side waits for the other, though both write more than a pipe holds."""
    program = start("write(' ' * 65_000)\nfor question in questions(): answer(question, 1)\n")
    assert label_of(program, question("a", text="x" * 2**20)) == 1
