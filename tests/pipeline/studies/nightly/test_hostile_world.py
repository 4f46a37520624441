"""Damaged files and hostile webhooks: invalid bytes, redirects, answers that never end."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from goodgain.pipeline.results.folder import MANIFEST, read_manifest
from goodgain.pipeline.studies.nightly.days.history import (
    DAY_FILE,
    HISTORY,
    read_entry,
    read_history,
)
from goodgain.pipeline.studies.nightly.dependencies import post
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.studies.nightly.test_notify import Notifier
from tests.pipeline.studies.nightly.world import listening


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)


def test_files_with_invalid_utf8_are_skipped_or_refused(tmp_path):
    (tmp_path / HISTORY).write_bytes(b'{"date": "\xff"}\n{}\n')
    assert read_history(tmp_path) == []
    (tmp_path / DAY_FILE).write_bytes(b'{"date": "\xff"}\n')
    assert read_entry(tmp_path) is None
    (tmp_path / MANIFEST).write_bytes(b'{"engine": "\xff"}\n')
    with pytest.raises(UsageError, match=r"manifest\.json cannot be read"):
        read_manifest(str(tmp_path))


@contextmanager
def server(answer):
    """Run a server that calls `answer` with each connection, and yield its URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        listener.close()


def test_redirects_are_not_followed_and_not_retried():
    notifier = Notifier()
    with listening() as elsewhere:

        def redirect(connection):
            connection.recv(65_536)
            place = f"HTTP/1.1 302 Found\r\nLocation: {elsewhere.url}\r\nContent-Length: 0\r\n\r\n"
            connection.sendall(place.encode())
            connection.close()

        with server(redirect) as url:
            notifier.notify(webhook=url)
    assert elsewhere.requests == 0
    assert notifier.waits == []
    assert notifier.messages == [
        "webhook 127.0.0.1 could not be notified: it answered with status 302, a redirect, "
        "which is not followed: use the address that it points to (attempt 1 of 4)."
    ]


def test_an_answer_that_never_ends_times_out():
    stopped = threading.Event()

    def drip(connection):
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not stopped.wait(0.05):
            try:
                connection.sendall(b"X-Drip: drop\r\n")
            except OSError:
                return

    with server(drip) as url:
        started = time.monotonic()
        with pytest.raises(TimeoutError, match=r"no answer within 0\.5 s"):
            post(url, b"{}", 0.5)
        took = time.monotonic() - started
        stopped.set()
    assert took < 30  # it would take forever without the limit
