"""Notifications about days that did not pass, by webhook and by command, with retries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from goodgain.pipeline.studies.nightly.config import NightlyConfig
from goodgain.pipeline.studies.nightly.days.history import DayEntry
from goodgain.pipeline.studies.nightly.dependencies import Dependencies
from goodgain.transforms.core.errors import UsageError

_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)
_FINAL = range(300, 500)  # a redirect, or an error in the request
_TEMPORARY = (408, 425, 429)  # client errors for which a retry may succeed


class Channel(Struct, frozen=True):
    """A way to send notifications.

    Attributes:
      name: as in messages, without secrets.
      send: sends a document; returns the problem ("" = none) and whether a retry may help.
    """

    name: str
    send: Callable[[bytes], tuple[str, bool]]


def channels_of(config: NightlyConfig, dependencies: Dependencies) -> list[Channel]:
    """The channels that the configuration names.

    Raises:
      UsageError: the webhook's environment variable does not contain a URL.
    """
    channels = []
    if config.webhook is not None:
        url = _url(config.webhook, dependencies)
        send = partial(_post, url, config, dependencies)
        channels.append(Channel(f"webhook {urlsplit(url).hostname}", send))
    if config.command is not None:
        send = partial(_start, config.command, config, dependencies)
        channels.append(Channel(f"command {config.command[0]}", send))
    return channels


def document(subject: str, reasons: tuple[str, ...], entry: DayEntry | None, folder: str) -> bytes:
    """The document that is sent: `text` for chat systems, the rest for programs.

    Args:
      entry: None if the whole job failed.
    """
    content = {
        "text": f"Good Gain, {subject}: {'; '.join(reasons)}",
        "folder": folder,
        "day": entry,
        "reasons": reasons,
    }
    return msgspec.json.encode(content)


def notify(
    body: bytes, channels: list[Channel], config: NightlyConfig, dependencies: Dependencies
) -> None:
    """Send a document through every channel; failures are only reported."""
    for channel in channels:
        for attempt in range(1, config.attempts + 1):
            problem, may_retry = channel.send(body)
            if not problem:
                break
            if not may_retry or attempt == config.attempts:
                tried = f"attempt {attempt} of {config.attempts}"
                dependencies.say(f"{channel.name} could not be notified: {problem} ({tried}).")
                break
            dependencies.sleep(config.backoff_seconds * 2 ** (attempt - 1))


def _url(written: str, dependencies: Dependencies) -> str:
    if not written.startswith("$"):
        return written
    name = written[1:].strip("{}")
    url = dependencies.environment.get(name, "")
    if not url.startswith(("http://", "https://")):
        raise UsageError(
            f"The webhook is read from the environment variable {name}, which is not an http or "
            "https URL: set it, or remove `webhook` from the configuration."
        )
    return url


def _post(
    url: str, config: NightlyConfig, dependencies: Dependencies, body: bytes
) -> tuple[str, bool]:
    try:
        status = dependencies.post(url, body, config.timeout_seconds)
    except (OSError, ValueError) as error:
        return f"no answer ({type(error).__name__})", isinstance(error, OSError)
    if status in _SUCCESS:
        return "", False
    advice = ", a redirect, which is not followed: use the address that it points to"
    return (
        f"it answered with status {status}{advice if status in _REDIRECTS else ''}",
        status not in _FINAL or status in _TEMPORARY,
    )


def _start(
    command: tuple[str, ...], config: NightlyConfig, dependencies: Dependencies, body: bytes
) -> tuple[str, bool]:
    try:
        code = dependencies.start(command, body, config.timeout_seconds)
    except OSError as error:
        return error.strerror or str(error), isinstance(error, TimeoutError)
    return (f"it ended with exit code {code}", True) if code else ("", False)
