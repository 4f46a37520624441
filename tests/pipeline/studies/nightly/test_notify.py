"""The command that is told of days that did not pass, or that pass again."""

import json
import sys

import pytest
from msgspec.structs import replace

from goodgain.pipeline.studies.nightly import notify as notifying
from goodgain.pipeline.studies.nightly.notify import (
    document_of_day,
    document_of_failure,
    is_news,
    notify,
)
from tests.pipeline.studies.nightly.world import APPEND
from tests.pipeline.views.pages.nights.entries import entry

PASSED = entry("2025-03-02")
FAILED = replace(PASSED, verdict="gate failed", reasons=("CG fell", "SRE fell"))


@pytest.mark.parametrize(
    ("previous", "current", "expected"),
    [
        (None, PASSED, False),
        (None, FAILED, True),
        (PASSED, PASSED, False),
        (PASSED, FAILED, True),
        (FAILED, FAILED, True),
        (FAILED, PASSED, True),
    ],
)
def test_failures_and_recoveries_are_news(previous, current, expected):
    assert is_news(current, previous) is expected


def test_the_document_is_a_sentence_and_the_entry_of_the_day():
    failed, passed = (json.loads(document_of_day(entry, "n/d")) for entry in (FAILED, PASSED))
    assert failed["text"] == "Good Gain, 2025-03-02: gate failed: CG fell; SRE fell"
    assert failed["folder"] == "n/d"
    assert failed["day"]["verdict"] == "gate failed"
    assert passed["text"] == "Good Gain, 2025-03-02: passed: after a day that did not pass"
    whole = json.loads(document_of_failure("no disk", "n"))
    assert whole == {
        "text": "Good Gain, the nightly job failed: no disk",
        "folder": "n",
        "day": None,
    }


def problems(command, document=b"{}"):
    """What is said about running a command."""
    messages = []
    notify(command, document, messages.append)
    return messages


def test_the_command_reads_the_document(tmp_path):
    target = tmp_path / "told"
    assert problems((sys.executable, "-c", APPEND, str(target)), b'{"text": "x"}') == []
    assert target.read_text() == '{"text": "x"}\n'


def test_a_command_that_fails_is_reported():
    (message,) = problems((sys.executable, "-c", "import sys; sys.exit(7)"))
    assert message == (
        f"{sys.executable}, the command of `notify`, failed: it ended with exit code 7."
    )
    (message,) = problems(("/nowhere/at-all",))
    assert "/nowhere/at-all, the command of `notify`, failed: No such file" in message


def test_a_command_that_reads_nothing_is_no_failure():
    assert problems(("true",), b"x" * 2**20) == []


def test_a_command_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(notifying, "_SECONDS", 0.5)
    (message,) = problems((sys.executable, "-c", "import signal; signal.pause()"))
    assert "it did not end within 0.5 s" in message
