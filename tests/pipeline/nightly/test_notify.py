import json
import sys

import pytest

from goodgain.pipeline.nightly.config import NightlyConfig
from goodgain.pipeline.nightly.notify import channels, notify
from goodgain.pipeline.nightly.surroundings import Surroundings
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.nightly.world import listening


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)


class Told:
    """Surroundings that keep the waits and the messages."""

    def __init__(self, **given):
        self.waits, self.said = [], []
        self.surroundings = Surroundings(sleep=self.waits.append, say=self.said.append, **given)

    def tell(self, body=b'{"text": "x"}', **options):
        config = NightlyConfig(input="{date}", output="out", **options)
        notify(body, channels(config, self.surroundings), config, self.surroundings)


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
def test_webhook_is_tried_again_where_that_may_help(answers, requests, waits):
    told = Told()
    with listening(answers) as listener:
        told.tell(webhook=listener.url)
    assert listener.requests == requests
    assert told.waits == waits
    delivered = len(listener.bodies) == 1
    assert delivered == (not told.said)
    if not delivered:
        assert told.said[0].startswith("webhook 127.0.0.1 could not be notified: it answered ")
        assert f"(attempt {requests} of 4)" in told.said[0]


def test_nobody_listens():
    with listening() as listener:
        url = listener.url
    told = Told()
    told.tell(webhook=url + "?token=secret", attempts=2)
    assert told.waits == [2]
    assert told.said == [
        "webhook 127.0.0.1 could not be notified: no answer (URLError) (attempt 2 of 2)."
    ]


def test_webhook_from_the_environment():
    with listening() as listener:
        Told(environment={"HOOK": listener.url}).tell(webhook="$HOOK")
    assert listener.bodies == [{"text": "x"}]
    with pytest.raises(UsageError, match="environment variable HOOK, which is not an http"):
        Told(environment={}).tell(webhook="$HOOK")


def test_command_gets_the_document(tmp_path):
    target = tmp_path / "told.json"
    script = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
    told = Told()
    told.tell(command=(sys.executable, "-c", script, str(target)))
    assert json.loads(target.read_text()) == {"text": "x"}
    assert told.said == []


def test_command_that_fails_is_tried_again(tmp_path):
    counter = tmp_path / "counter"
    script = "import sys; open(sys.argv[1], 'a').write('x'); sys.exit(7)"
    told = Told()
    told.tell(command=(sys.executable, "-c", script, str(counter)), attempts=3)
    assert counter.read_text() == "xxx"
    assert told.waits == [2, 4]
    assert told.said[0].endswith(
        "could not be notified: it ended with exit code 7 (attempt 3 of 3)."
    )


def test_command_that_is_not_there():
    told = Told()
    told.tell(command=("/nowhere/at-all",))
    assert told.waits == []
    assert "No such file" in told.said[0]


def test_command_that_does_not_end():
    told = Told()
    told.tell(
        command=(sys.executable, "-c", "import signal; signal.pause()"),
        timeout_seconds=0.5,
        attempts=1,
    )
    assert "it did not end within 0.5 s" in told.said[0]


def test_one_way_that_fails_does_not_stop_the_other(tmp_path):
    told = Told()
    with listening([404]) as listener:
        target = tmp_path / "told"
        script = "import sys; open(sys.argv[1], 'w')"
        told.tell(webhook=listener.url, command=(sys.executable, "-c", script, str(target)))
    assert target.exists()
    assert len(told.said) == 1
