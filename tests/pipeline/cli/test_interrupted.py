"""Interrupts and unusual mistakes give one message and the documented exit code."""

import signal
import subprocess
import sys

import pytest

import goodgain.transforms
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from tests.pipeline.runs import SAMPLE

_READS_FOREVER = """
import signal, sys, threading
import goodgain.transforms.read_payloads as reading
from goodgain.pipeline.__main__ import main

def waiting(*_):
    print("reading", flush=True)
    threading.Event().wait()

reading.payloads_of_shard = waiting
# In background jobs of a shell, SIGINT is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


# Ctrl-C when a module is imported.
_WHILE_IMPORTING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == interrupted:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
interrupted = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupting())
from goodgain.pipeline.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module", ["goodgain.pipeline.cli.commands", "pydantic", "msgspec", "goodgain.pipeline.cli.run"]
)
def test_an_interrupt_during_imports_gives_one_message(module):
    words = [sys.executable, "-c", _WHILE_IMPORTING, module, "run", "--help"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (ExitCode.INTERRUPTED, "")
    assert done.stderr == "goodgain: interrupted.\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGINT, ExitCode.INTERRUPTED, "goodgain: interrupted."),
        (signal.SIGTERM, ExitCode.TERMINATED, "goodgain: terminated."),
    ],
)
def test_a_signal_ends_a_run_with_one_message_and_no_outputs(sent, code, message, tmp_path):
    words = ["run", "--input", SAMPLE, "--output", str(tmp_path / "out")]
    with subprocess.Popen(
        [sys.executable, "-c", _READS_FOREVER, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "reading\n"
        process.send_signal(sent)
        _, errors = process.communicate()
    assert process.returncode == code
    assert errors.splitlines()[-1] == message
    assert "Traceback" not in errors
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["run", "stream", "nightly", "gate"])
@pytest.mark.parametrize(
    ("opening", "closing"), [pytest.param("[", "]", marks=pytest.mark.slow), ("{a: ", "}")]
)
def test_rejects_a_configuration_nested_20000_deep(command, opening, closing, tmp_path, capsys):
    path = tmp_path / "deep.yaml"
    path.write_text(f"input: {opening * 20_000}{closing * 20_000}\n")
    output = [str(tmp_path)] if command == "gate" else []
    assert main([command, *output, "--config", str(path)]) == ExitCode.USAGE
    assert capsys.readouterr().err == f"goodgain: {path} is nested too deeply.\n"


def test_suggests_a_metric_of_iterations_before_a_ranking_metric(tmp_path, capsys):
    (tmp_path / "gate.yaml").write_text("rules:\n- SREE >= 0.2\n")
    words = ["gate", str(tmp_path), "--config", str(tmp_path / "gate.yaml")]
    assert main(words) == ExitCode.USAGE
    assert "there is no metric 'SREE' (did you mean 'SRE'?)" in capsys.readouterr().err


def test_dir_shows_what_the_transforms_export():
    assert dir(goodgain.transforms) == sorted(goodgain.transforms.__all__)
