import json
import sys

import pytest

from goodgain.pipeline.studies.nightly.config import NightlyConfig
from goodgain.pipeline.studies.nightly.dependencies import Dependencies
from goodgain.pipeline.studies.nightly.notify import channels_of, notify
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.studies.nightly.world import VIEWS, listening


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)


class Notifier:
    """Sends notifications, and records waits and messages instead of sleeping and printing."""

    def __init__(self, **given):
        self.waits, self.messages = [], []
        self.dependencies = Dependencies(
            VIEWS, sleep=self.waits.append, say=self.messages.append, **given
        )

    def notify(self, body=b'{"text": "x"}', **options):
        config = NightlyConfig(input="{date}", output="out", **options)
        notify(body, channels_of(config, self.dependencies), config, self.dependencies)


@pytest.mark.parametrize(
    ("answers", "requests", "waits"),
    [
        ([], 1, []),
        ([500], 2, [2]),
        ([429, 503, 408], 4, [2, 4, 8]),
        ([500] * 9, 4, [2, 4, 8]),
        ([404], 1, []),
    ],
)
def test_webhook_is_retried_after_temporary_errors(answers, requests, waits):
    notifier = Notifier()
    with listening(answers) as listener:
        notifier.notify(webhook=listener.url)
    assert listener.requests == requests
    assert notifier.waits == waits
    delivered = len(listener.bodies) == 1
    assert delivered == (not notifier.messages)
    if not delivered:
        assert notifier.messages[0].startswith(
            "webhook 127.0.0.1 could not be notified: it answered "
        )
        assert f"(attempt {requests} of 4)" in notifier.messages[0]


def test_a_refused_connection_is_retried_and_its_message_hides_the_url():
    with listening() as listener:
        url = listener.url
    notifier = Notifier()
    notifier.notify(webhook=url + "?token=secret", attempts=2)
    assert notifier.waits == [2]
    assert notifier.messages == [
        "webhook 127.0.0.1 could not be notified: no answer (URLError) (attempt 2 of 2)."
    ]


def test_webhook_can_be_an_environment_variable():
    with listening() as listener:
        Notifier(environment={"HOOK": listener.url}).notify(webhook="$HOOK")
    assert listener.bodies == [{"text": "x"}]
    with pytest.raises(UsageError, match="environment variable HOOK, which is not an http"):
        Notifier(environment={}).notify(webhook="$HOOK")


def test_command_reads_the_notification_from_stdin(tmp_path):
    target = tmp_path / "received.json"
    script = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
    notifier = Notifier()
    notifier.notify(command=(sys.executable, "-c", script, str(target)))
    assert json.loads(target.read_text()) == {"text": "x"}
    assert notifier.messages == []


def test_failing_command_is_retried(tmp_path):
    counter = tmp_path / "counter"
    script = "import sys; open(sys.argv[1], 'a').write('x'); sys.exit(7)"
    notifier = Notifier()
    notifier.notify(command=(sys.executable, "-c", script, str(counter)), attempts=3)
    assert counter.read_text() == "xxx"
    assert notifier.waits == [2, 4]
    assert notifier.messages[0].endswith(
        "could not be notified: it ended with exit code 7 (attempt 3 of 3)."
    )


def test_missing_command_is_not_retried():
    notifier = Notifier()
    notifier.notify(command=("/nowhere/at-all",))
    assert notifier.waits == []
    assert "No such file" in notifier.messages[0]


def test_command_that_does_not_end_times_out():
    notifier = Notifier()
    notifier.notify(
        command=(sys.executable, "-c", "import signal; signal.pause()"),
        timeout_seconds=0.5,
        attempts=1,
    )
    assert "it did not end within 0.5 s" in notifier.messages[0]


def test_a_failing_webhook_does_not_stop_the_command(tmp_path):
    notifier = Notifier()
    with listening([404]) as listener:
        target = tmp_path / "received"
        script = "import sys; open(sys.argv[1], 'w')"
        notifier.notify(webhook=listener.url, command=(sys.executable, "-c", script, str(target)))
    assert target.exists()
    assert len(notifier.messages) == 1
