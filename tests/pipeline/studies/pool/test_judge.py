"""`goodgain pool judge` and `agree`: judges that answer, fail or are killed, and a chat service."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import ClassVar

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from tests.named_pipes import open_with, passable
from tests.pipeline.studies.pool.steps import build, documents, write_runs
from tests.reference.test_pool import call, doc

RUNS = {
    "A": [call(*(doc(f"d{n}", title=f"title {n}") for n in range(1, 6)), query="what")],
    "B": [call(doc("d1"), doc("d9", 2))],
}
# Notes each question in a file, and answers with the number in the title.
HONEST = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    open(sys.argv[1], "a").write(question["document"] + "\\n")
    number = int(question["title"].split()[-1])
    print(json.dumps({"gain": number % 5}), flush=True)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judge")
    assert build(folder / "pool", write_runs(folder / "runs", RUNS)) == ExitCode.DONE
    return folder / "pool"


@pytest.fixture
def pool(built, tmp_path):
    shutil.copytree(built, tmp_path / "pool")
    return tmp_path / "pool"


def program(tmp_path, text):
    path = tmp_path / "judge.py"
    path.write_text(text)
    return f"{sys.executable} {path} {tmp_path / 'asked'}"


def judge(pool, command, *options):
    return main(["pool", "judge", str(pool), "--command", command, *options])


def labels_by(pool, annotator="judge"):
    return {
        document.evidence[0].ids["doc_id"]: document.given[annotator]
        for document in documents(pool)
        if annotator in document.given
    }


def questions(tmp_path):
    """The number of questions that the judge was asked."""
    path = tmp_path / "asked"
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize("parallel", ["1", "3"])
def test_every_unlabelled_document_is_judged_once(pool, tmp_path, parallel, capsys):
    command = program(tmp_path, HONEST)
    assert judge(pool, command, "--parallel", parallel) == ExitCode.DONE
    assert labels_by(pool) == {"d1": 1, "d2": 2, "d3": 3, "d4": 4, "d5": 0}
    printed = capsys.readouterr()
    assert (
        "5 labels by judge, 0 of them from earlier answers; 5 calls, 0 without a usable answer; "
        "0 rejected" in printed.out
    )
    assert "5 of 5 documents judged" in printed.err
    assert judge(pool, command) == ExitCode.DONE
    assert questions(tmp_path) == 5


def test_a_second_call_judges_what_the_budget_left(pool, tmp_path, capsys):
    command = program(tmp_path, HONEST)
    assert judge(pool, command, "--at-most", "2") == ExitCode.DONE
    assert "2 calls, 0 without a usable answer; 0 rejected, 3 left" in capsys.readouterr().out
    assert len(labels_by(pool)) == 2
    assert judge(pool, command) == ExitCode.DONE
    assert (len(labels_by(pool)), questions(tmp_path)) == (5, 5)


def test_resumes_from_a_journal_that_was_cut_off(pool, tmp_path, capsys):
    """A kill leaves some lines of the journal, the last of them truncated."""
    command = program(tmp_path, HONEST)
    assert judge(pool, command) == ExitCode.DONE
    journal = pool / "judged-judge.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    assert main(["pool", "label", str(pool), "--undo", "judge"]) == ExitCode.DONE
    journal.write_text("".join(lines[:3]) + lines[3][:20])
    (tmp_path / "asked").unlink()
    assert judge(pool, command) == ExitCode.DONE
    assert questions(tmp_path) == 2
    assert labels_by(pool) == {"d1": 1, "d2": 2, "d3": 3, "d4": 4, "d5": 0}
    assert "3 of them from earlier answers" in capsys.readouterr().out
    assert judge(pool, command) == ExitCode.DONE
    assert "No document lacks a label; --again also judges" in capsys.readouterr().err


# Before it answers for titles 3 and 4, it signals that through a pipe, and waits for another pipe.
WAITING = HONEST.replace(
    "    print(",
    "    here = sys.argv[1]\n"
    "    if number in (3, 4) and os.path.exists(f'{here}-reached-{number}'):\n"
    "        open(f'{here}-reached-{number}', 'w').close()\n"
    "        open(f'{here}-go-{number}').close()\n"
    "    print(",
).replace("import json, sys", "import json, os, sys")


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 2])
def test_killing_the_command_loses_no_answer(pool, tmp_path, parallel, capsys):
    """`kill -9` of the whole command while one or two questions are unanswered."""
    command = program(tmp_path, WAITING)
    in_flight = range(3, 3 + parallel)
    for number in in_flight:
        os.mkfifo(tmp_path / f"asked-reached-{number}")
        os.mkfifo(tmp_path / f"asked-go-{number}")
    words = ["pool", "judge", str(pool), "--command", command, "--parallel", str(parallel)]
    running = subprocess.Popen([sys.executable, "-m", "goodgain.pipeline", *words])
    try:
        for number in in_flight:
            open_with(running, tmp_path / f"asked-reached-{number}", "rb").close()
    finally:
        running.kill()
    assert running.wait() == -signal.SIGKILL
    with ExitStack() as gates:
        for number in in_flight:
            gates.enter_context(passable(tmp_path / f"asked-go-{number}"))
            (tmp_path / f"asked-reached-{number}").unlink()
        assert labels_by(pool) == {}
        assert questions(tmp_path) == 2 + parallel
        assert judge(pool, command) == ExitCode.DONE
    assert labels_by(pool) == {"d1": 1, "d2": 2, "d3": 3, "d4": 4, "d5": 0}
    assert questions(tmp_path) == 5 + parallel
    summary = "5 labels by judge, 2 of them from earlier answers; 3 calls, 0 without"
    assert summary in capsys.readouterr().out


def test_retries_count_against_the_budget(pool, tmp_path, capsys):
    """Of four calls three are for the first document, which gets no valid answer."""
    bad = HONEST.replace("    print(", "    if number == 1: number = 9\n    print(").replace(
        "number % 5", "number"
    )
    command = program(tmp_path, bad)
    assert judge(pool, command, "--at-most", "4") == ExitCode.DATA_QUALITY
    assert questions(tmp_path) == 4
    assert (
        "1 label by judge, 0 of them from earlier answers; 4 calls, 3 without a usable answer; "
        "1 rejected, 3 left" in capsys.readouterr().out
    )
    assert judge(pool, command, "--at-most", "1") == ExitCode.DONE
    assert (
        "0 labels by judge, 0 of them from earlier answers; 1 call, 1 without a usable answer; "
        "0 rejected, 4 left" in capsys.readouterr().out
    )


def test_answers_survive_an_undo_which_says_how_to_remove_them(pool, tmp_path, capsys):
    command = program(tmp_path, HONEST)
    undo = ["pool", "label", str(pool), "--undo", "judge"]
    assert judge(pool, command) == ExitCode.DONE
    assert main(undo) == ExitCode.DONE
    assert "remove the file to make it ask again" in " ".join(capsys.readouterr().out.split())
    assert program(tmp_path, HONEST.replace("number % 5", "4")) == command
    assert judge(pool, command) == ExitCode.DONE
    assert labels_by(pool)["d1"] == 1
    assert main(undo) == ExitCode.DONE
    (pool / "judged-judge.jsonl").unlink()
    assert judge(pool, command) == ExitCode.DONE
    assert labels_by(pool) == dict.fromkeys(("d1", "d2", "d3", "d4", "d5"), 4)


def test_bad_answers_are_rejected_after_retries(pool, tmp_path, capsys):
    """The judge exits at one document, prints no JSON for another and a gain of 7 for a third."""
    bad = HONEST.replace(
        "    print(",
        "    if number == 1: sys.exit(1)\n"
        "    if number == 2: print('?', flush=True); continue\n"
        "    if number == 3: number = 7; print(json.dumps({'gain': 7}), flush=True); continue\n"
        "    print(",
    )
    command = program(tmp_path, bad)
    assert judge(pool, command, "--retries", "1") == ExitCode.DATA_QUALITY
    printed = capsys.readouterr()
    assert "2 labels by judge" in printed.out
    assert "8 calls, 6 without a usable answer; 3 rejected" in printed.out
    assert "gave no answer (it ended)" in printed.err
    assert "no JSON" in printed.err
    assert "no gain from 0 to 4" in printed.err
    assert labels_by(pool) == {"d4": 4, "d5": 0}


# Answers with the document's id, which lets the program stay.
NAMING = HONEST.replace('{"gain"', '{"document": question["document"], "gain"')


NO_LABELS = ["7", "NaN", '"2"', "true", "null", "[2]", "", '{"gain": "2"}', '{"gain": true}', "{}"]


@pytest.mark.parametrize("judge_text", [HONEST, NAMING], ids=["unnamed", "named"])
def test_a_reply_that_is_no_label_is_counted_and_its_document_is_left(judge_text, tmp_path, capsys):
    pool, number = tmp_path / "pool", len(NO_LABELS) + 1
    found = call(*(doc(f"d{at}", title=f"title {at}") for at in range(number + 1)))
    assert build(pool, write_runs(tmp_path / "runs", {"A": [found]})) == ExitCode.DONE
    bad = f"if number < {number}: print({[*NO_LABELS, '?']}[number], flush=True); continue"
    command = program(tmp_path, judge_text.replace("    print(", f"    {bad}\n    print("))
    capsys.readouterr()
    assert judge(pool, command, "--json", "--retries", "0") == ExitCode.DATA_QUALITY
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["calls"], outcome["bad"], outcome["labels"]) == (number + 1, number, 1)
    assert len(outcome["rejected"]) == number
    assert all(row["reason"] for row in outcome["rejected"])
    assert labels_by(pool) == {f"d{number}": number % 5}


@pytest.mark.parametrize("judge_text", [HONEST, NAMING], ids=["unnamed", "named"])
def test_two_lines_for_one_document_label_no_other(judge_text, pool, tmp_path, capsys):
    line = next(line for line in judge_text.splitlines() if "print(" in line).strip()
    twice = f"    if number == 2: {line.replace('number % 5', '4')}\n    print("
    command = program(tmp_path, judge_text.replace("    print(", twice))
    assert judge(pool, command) == ExitCode.DATA_QUALITY
    assert labels_by(pool) == {"d1": 1, "d3": 3, "d4": 4, "d5": 0}
    assert "more than one line" in capsys.readouterr().err
    # The withdrawn answer is asked for again.
    assert program(tmp_path, judge_text) == command
    assert judge(pool, command) == ExitCode.DONE
    assert labels_by(pool)["d2"] == 2


def test_a_program_that_does_not_exist_is_named_without_an_error_number(pool, capsys):
    assert main(["pool", "judge", str(pool), "--command", "no-such-program"]) == ExitCode.USAGE
    message = "goodgain: no-such-program cannot be started: No such file or directory.\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("judge 'me", "--command is not written as in a shell: No closing quotation."),
        (" ", "--command is empty; give the program that judges."),
    ],
)
def test_a_command_that_cannot_be_read_is_refused(command, message, pool, capsys):
    assert main(["pool", "judge", str(pool), "--command", command]) == ExitCode.USAGE
    assert capsys.readouterr().err == f"goodgain: {message}\n"


def test_a_judge_that_does_not_answer_times_out(pool, tmp_path, capsys):
    command = program(tmp_path, "import time\ntime.sleep(60)\n")
    options = ("--retries", "0", "--at-most", "1", "--timeout", "0.2")
    assert judge(pool, command, *options) == ExitCode.DATA_QUALITY
    assert "none within 0.2 seconds" in capsys.readouterr().err


def test_agree_compares_a_judge_with_the_labels_of_the_traces(pool, tmp_path, capsys):
    command = program(tmp_path, HONEST.replace('question["title"].split()[-1]', '"1"'))
    assert judge(pool, command, "--again") == ExitCode.DONE
    assert main(["pool", "agree", str(pool), "votes", "judge", "--json"]) == ExitCode.DONE
    agreement = json.loads(capsys.readouterr().out.split("\n", 1)[1])
    assert agreement["documents"] == 1
    assert agreement["matrix"][2][1] == 1
    assert main(["pool", "agree", str(pool), "votes", "judge"]) == ExitCode.DONE
    shown = capsys.readouterr().out
    assert "weighted kappa: 0 (kappa is undefined without one of the documents" in shown
    assert "In both means, a document without both labels counts with the pool's label." in shown
    assert main(["pool", "agree", str(pool), "ann", "judge"]) == ExitCode.USAGE
    assert "ann has no labels" in capsys.readouterr().err


def test_agree_names_the_means_without_interval_and_says_once_why(tmp_path, capsys):
    pool = tmp_path / "pool"
    calls = [call(doc(f"d{gain}", gain), conversation_id=str(gain)) for gain in (2, 3, 4)]
    assert build(pool, write_runs(tmp_path / "runs", {"A": calls})) == ExitCode.DONE
    command = program(tmp_path, HONEST.replace('question["title"].split()[-1]', '"2"'))
    assert judge(pool, command, "--again") == ExitCode.DONE
    capsys.readouterr()
    for other, of in (("judge", "Good results (GR), Recall of the pool: "), ("votes", "")):
        assert main(["pool", "agree", str(pool), "votes", other]) == ExitCode.DONE
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == f"no interval: {of}no pair differs"


@pytest.mark.parametrize("gain", ["0", "5", "-1", "1.5", "two"])
def test_agree_takes_only_a_gain_above_0_as_threshold(gain, pool, capsys):
    words = ["pool", "agree", str(pool), "votes", "votes", f"--good-gain-threshold={gain}"]
    assert main(words) == ExitCode.USAGE
    assert "--good-gain-threshold must be" in capsys.readouterr().err


class Service(BaseHTTPRequestHandler):
    """A fake chat service that answers with the number in the title, and keeps the requests."""

    requests: ClassVar = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append((self.headers["Authorization"], body))
        text = body["messages"][0]["content"]
        number = int(text.split("Title: title ")[1].split()[0])
        content = {4: None, 5: "I cannot tell"}.get(number, f" {number % 5}\n")
        answer = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def test_shipped_judge_asks_a_chat_service(pool, monkeypatch, capsys):
    monkeypatch.setenv("JUDGE_API_KEY", "secret")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        script = files("goodgain.configs").joinpath("judge/chat_judge.py")
        url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
        command = f"{sys.executable} {script} --url {url} --model m"
        assert judge(pool, command, "--retries", "0") == ExitCode.DATA_QUALITY
    finally:
        server.shutdown()
        server.server_close()
    assert labels_by(pool) == {"d1": 1, "d2": 2, "d3": 3}
    errors = capsys.readouterr().err
    assert "no single digit: I cannot tell" in errors
    assert "TypeError" in errors
    assert "Traceback" not in errors
    key, body = Service.requests[0]
    assert (key, body["model"], body["temperature"]) == ("Bearer secret", "m", 0)
    assert "Query: what" in body["messages"][0]["content"]


OTHER_SCALE = HONEST.replace('{"gain": number % 5}', '{"gain": ["no", "partly", 0.8][number % 3]}')


def test_answers_on_another_scale_are_read_by_the_label_map(pool, tmp_path, capsys):
    command = program(tmp_path, OTHER_SCALE)
    assert judge(pool, command, "--retries", "0", "--at-most", "1") == ExitCode.DATA_QUALITY
    assert "if it is a label on another scale, say so with" in capsys.readouterr().err
    mapped = ("--label-map", "no=0,partly=1,0.5..1=3", "--retries", "0")
    assert judge(pool, command, *mapped) == ExitCode.DONE
    assert labels_by(pool) == {"d1": 1, "d2": 3, "d3": 0, "d4": 1, "d5": 3}
    # Answers are kept as written: another map reads them anew, and asks nothing again.
    asked = questions(tmp_path)
    assert main(["pool", "label", str(pool), "--undo", "judge"]) == ExitCode.DONE
    assert judge(pool, command, "--label-map", "no=0,partly=2,0.5..1=4") == ExitCode.DONE
    assert labels_by(pool) == {"d1": 2, "d2": 4, "d3": 0, "d4": 2, "d5": 4}
    assert questions(tmp_path) == asked
    assert judge(pool, command, "--label-map", "no=5") == ExitCode.USAGE
    assert "with a gain from 0 to 4" in capsys.readouterr().err


def test_of_many_rejected_answers_the_first_are_shown_and_the_rest_counted(tmp_path, capsys):
    pool, number = tmp_path / "pool", 12
    found = call(*(doc(f"d{at}", title=f"title {at}") for at in range(number)))
    assert build(pool, write_runs(tmp_path / "runs", {"A": [found]})) == ExitCode.DONE
    command = program(
        tmp_path, HONEST.replace("    print(", "    print('?', flush=True); continue\n    print(")
    )
    capsys.readouterr()
    assert judge(pool, command, "--retries", "0") == ExitCode.DATA_QUALITY
    printed = capsys.readouterr().err
    assert printed.count("no JSON") == 10
    assert printed.endswith("... and 2 more.\n")
