"""`goodgain pool judge` and `agree`: programs of all kinds, and a chat service on this machine."""

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
from goodgain.pipeline.exit_codes import ExitCode
from tests.named_pipes import opened_with, passable
from tests.pipeline.pool.steps import build, documents, write_runs
from tests.reference.test_pool import call, doc

RUNS = {
    "A": [call(*(doc(f"d{n}", title=f"title {n}") for n in range(1, 6)), query="what")],
    "B": [call(doc("d1"), doc("d9", 2))],
}
# Counts its questions in a file; answers the number in the title.
HONEST = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    open(sys.argv[1], "a").write(asked["document"] + "\\n")
    number = int(asked["title"].split()[-1])
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


def given(pool, annotator="judge"):
    return {
        one.evidence[0].ids["doc_id"]: one.given[annotator]
        for one in documents(pool)
        if annotator in one.given
    }


def asked(tmp_path):
    path = tmp_path / "asked"
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize("parallel", ["1", "3"])
def test_every_document_without_a_label_is_judged_once(pool, tmp_path, parallel, capsys):
    command = program(tmp_path, HONEST)
    assert judge(pool, command, "--parallel", parallel) == ExitCode.DONE
    assert given(pool) == {"d1": 1, "d2": 2, "d3": 3, "d4": 4, "d5": 0}
    said = capsys.readouterr()
    assert "5 labels by judge, 0 of them from earlier answers; 5 calls; 0 rejected" in said.out
    assert "5 of 5 documents judged" in said.err
    assert judge(pool, command) == ExitCode.DONE
    assert asked(tmp_path) == 5


def test_a_budget_and_then_the_rest(pool, tmp_path, capsys):
    command = program(tmp_path, HONEST)
    assert judge(pool, command, "--at-most", "2") == ExitCode.DONE
    assert "2 calls; 0 rejected, 3 left" in capsys.readouterr().out
    assert len(given(pool)) == 2
    assert judge(pool, command) == ExitCode.DONE
    assert (len(given(pool)), asked(tmp_path)) == (5, 5)


def test_a_judge_that_was_killed_goes_on_where_it_was(pool, tmp_path, capsys):
    """What is left of a kill are lines of the journal, the last of them cut off."""
    command = program(tmp_path, HONEST)
    assert judge(pool, command) == ExitCode.DONE
    journal = pool / "judged-judge.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    assert main(["pool", "label", str(pool), "--undo", "judge"]) == ExitCode.DONE
    journal.write_text("".join(lines[:3]) + lines[3][:20])
    (tmp_path / "asked").unlink()
    assert judge(pool, command) == ExitCode.DONE
    assert asked(tmp_path) == 2
    assert given(pool) == {"d1": 1, "d2": 2, "d3": 3, "d4": 4, "d5": 0}
    assert "3 of them from earlier answers" in capsys.readouterr().out


# Before it answers about titles 3 and 4 it says so, and waits until somebody lets it go on.
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
def test_a_judge_that_is_killed_in_the_middle_loses_no_answer(pool, tmp_path, parallel, capsys):
    """kill -9 of the whole command while one or two questions are on their way."""
    command = program(tmp_path, WAITING)
    in_flight = range(3, 3 + parallel)
    for number in in_flight:
        os.mkfifo(tmp_path / f"asked-reached-{number}")
        os.mkfifo(tmp_path / f"asked-go-{number}")
    words = ["pool", "judge", str(pool), "--command", command, "--parallel", str(parallel)]
    running = subprocess.Popen([sys.executable, "-m", "goodgain.pipeline", *words])
    try:
        for number in in_flight:
            opened_with(running, tmp_path / f"asked-reached-{number}", "rb").close()
    finally:
        running.kill()
    assert running.wait() == -signal.SIGKILL
    with ExitStack() as gates:
        for number in in_flight:
            gates.enter_context(passable(tmp_path / f"asked-go-{number}"))
            (tmp_path / f"asked-reached-{number}").unlink()
        assert given(pool) == {}
        assert asked(tmp_path) == 2 + parallel
        assert judge(pool, command) == ExitCode.DONE
    assert given(pool) == {"d1": 1, "d2": 2, "d3": 3, "d4": 4, "d5": 0}
    assert asked(tmp_path) == 5 + parallel
    told = "5 labels by judge, 2 of them from earlier answers; 3 calls; 0 rejected"
    assert told in capsys.readouterr().out


def test_a_budget_counts_further_tries(pool, tmp_path, capsys):
    """Of four calls three go to the first document, which has no answer, one to the next."""
    bad = HONEST.replace("    print(", "    if number == 1: number = 9\n    print(").replace(
        "number % 5", "number"
    )
    command = program(tmp_path, bad)
    assert judge(pool, command, "--at-most", "4") == ExitCode.DATA_QUALITY
    assert asked(tmp_path) == 4
    assert "1 label by judge, 0 of them from earlier answers; 4 calls; 1 rejected, 3 left" in (
        capsys.readouterr().out
    )
    assert judge(pool, command, "--at-most", "1") == ExitCode.DONE
    assert "0 labels by judge, 0 of them from earlier answers; 1 call; 0 rejected, 4 left" in (
        capsys.readouterr().out
    )


def test_answers_outlive_an_undo_which_says_so(pool, tmp_path, capsys):
    command = program(tmp_path, HONEST)
    undo = ["pool", "label", str(pool), "--undo", "judge"]
    assert judge(pool, command) == ExitCode.DONE
    assert main(undo) == ExitCode.DONE
    assert "remove the file to make it ask again" in " ".join(capsys.readouterr().out.split())
    assert program(tmp_path, HONEST.replace("number % 5", "4")) == command
    assert judge(pool, command) == ExitCode.DONE
    assert given(pool)["d1"] == 1
    assert main(undo) == ExitCode.DONE
    (pool / "judged-judge.jsonl").unlink()
    assert judge(pool, command) == ExitCode.DONE
    assert given(pool) == dict.fromkeys(("d1", "d2", "d3", "d4", "d5"), 4)


def test_bad_answers_are_rejected_after_further_tries(pool, tmp_path, capsys):
    """It ends at one document, gives nonsense for another and a gain of 7 for a third."""
    bad = HONEST.replace(
        "    print(",
        "    if number == 1: sys.exit(1)\n"
        "    if number == 2: print('?', flush=True); continue\n"
        "    if number == 3: number = 7; print(json.dumps({'gain': 7}), flush=True); continue\n"
        "    print(",
    )
    command = program(tmp_path, bad)
    assert judge(pool, command, "--retries", "1") == ExitCode.DATA_QUALITY
    said = capsys.readouterr()
    assert "2 labels by judge" in said.out
    assert "8 calls; 3 rejected" in said.out
    assert "gave no answer (it ended)" in said.err
    assert "no JSON" in said.err
    assert "no gain from 0 to 4" in said.err
    assert given(pool) == {"d4": 4, "d5": 0}


def test_an_answer_that_never_comes(pool, tmp_path, capsys):
    command = program(tmp_path, "import time\ntime.sleep(60)\n")
    options = ("--retries", "0", "--at-most", "1", "--timeout", "0.2")
    assert judge(pool, command, *options) == ExitCode.DATA_QUALITY
    assert "none within 0.2 seconds" in capsys.readouterr().err


def test_agreement_with_the_traces(pool, tmp_path, capsys):
    command = program(tmp_path, HONEST.replace('asked["title"].split()[-1]', '"1"'))
    assert judge(pool, command, "--again") == ExitCode.DONE
    assert main(["pool", "agree", str(pool), "votes", "judge", "--json"]) == ExitCode.DONE
    told = json.loads(capsys.readouterr().out.split("\n", 1)[1])
    assert told["documents"] == 1
    assert told["matrix"][2][1] == 1
    assert main(["pool", "agree", str(pool), "votes", "judge"]) == ExitCode.DONE
    assert "weighted kappa" in capsys.readouterr().out
    assert main(["pool", "agree", str(pool), "ann", "judge"]) == ExitCode.USAGE
    assert "ann has no labels" in capsys.readouterr().err


class Service(BaseHTTPRequestHandler):
    """Chat completions: says the number in the title, with a key that it wants to see."""

    asked: ClassVar = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.headers["Authorization"], body))
        text = body["messages"][0]["content"]
        number = int(text.split("Title: title ")[1].split()[0])
        content = {4: None, 5: "I cannot tell"}.get(number, f" {number % 5}\n")
        answer = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def test_the_shipped_judge_asks_a_chat_service(pool, monkeypatch, capsys):
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
    assert given(pool) == {"d1": 1, "d2": 2, "d3": 3}
    told = capsys.readouterr().err
    assert "no single digit: I cannot tell" in told
    assert "TypeError" in told
    assert "Traceback" not in told
    key, body = Service.asked[0]
    assert (key, body["model"], body["temperature"]) == ("Bearer secret", "m", 0)
    assert "Query: what" in body["messages"][0]["content"]
