"""Stops the stream of this process on Ctrl-C, such that the next start resumes it."""

from __future__ import annotations

import threading

from goodgain.transforms.stream_end import StreamEnd


class _ProcessEnd(StreamEnd):
    """The end of a stream whose workers are threads of this process, as on Prism.

    Attributes:
      final_watermark: the last real watermark, in ms of event time; None while the stream runs.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self.final_watermark: int | None = None

    def __reduce__(self) -> str:
        return "THIS_PROCESS"  # pickled by name: a signal handler must reach every step

    def reset(self) -> None:
        """Forget the last stream, before this process runs another."""
        self._stop.clear()
        self.final_watermark = None

    def request_stop(self) -> None:
        """Ask every source to end; safe in signal handlers."""
        self._stop.set()

    def is_stop_requested(self) -> bool:
        return self._stop.is_set()

    def begin_draining(self, final_watermark_ms: int) -> None:
        self.final_watermark = final_watermark_ms

    def is_due(self, deadline_ms: int) -> bool:
        return self.final_watermark is None or deadline_ms <= self.final_watermark


THIS_PROCESS = _ProcessEnd()
