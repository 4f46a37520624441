"""Ends a stream, and decides which timers still take effect (SPEC 7)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from weakref import WeakValueDictionary


class StreamEnd:
    """Decides when the sources of a stream end, and which timers take effect from then on.

    When a source ends, the engine moves the watermark to the end of time, and every timer fires. In
    a stream that is stopped, rather than over, this must not close all conversations: timers set
    for later than the last real watermark must do nothing.

    This class never stops a source, and every timer takes effect, for streams that end with their
    engine. Beam copies it to every worker, so a subclass that can be stopped must be pickled by
    reference (`InProcess`), and its sources and timers must run in its process.

    Example: see `WindowedMeans`.
    """

    def is_stop_requested(self) -> bool:
        """Whether sources must stop taking input and end."""
        return False

    def begin_draining(self, final_watermark_ms: int) -> None:
        """Called by a source right before it ends, with its last real watermark in ms."""

    def is_due(self, deadline_ms: int) -> bool:
        """Whether a timer set for `deadline_ms` of event time may take effect when it fires."""
        return True


WITH_ENGINE = StreamEnd()
_living: WeakValueDictionary[int, InProcess] = WeakValueDictionary()
_numbers = count()


class InProcess:
    """An object that all steps of a pipeline share, which must run in this process.

    It is pickled as a reference, so that what is unpickled is the object itself.
    """

    def __init__(self) -> None:
        self._number = next(_numbers)
        _living[self._number] = self

    def __reduce__(self) -> tuple[Callable[[int], InProcess], tuple[int]]:
        """Pickle a reference."""
        return _living_object, (self._number,)


def _living_object(number: int) -> InProcess:
    return _living[number]


class StoppableEnd(InProcess, StreamEnd):
    """The end of a stream that this process can stop: its workers are threads, as on Prism.

    Attributes:
      final_watermark: the last real watermark, in ms of event time; None while the stream runs.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stop = threading.Event()
        self.final_watermark: int | None = None

    def request_stop(self) -> None:
        """Ask every source to end; safe in signal handlers."""
        self._stop.set()

    def is_stop_requested(self) -> bool:
        """Whether `request_stop` was called."""
        return self._stop.is_set()

    def begin_draining(self, final_watermark_ms: int) -> None:
        """Keep the final watermark."""
        self.final_watermark = final_watermark_ms

    def is_due(self, deadline_ms: int) -> bool:
        """Whether the final watermark, if there is one, has reached the deadline."""
        return self.final_watermark is None or deadline_ms <= self.final_watermark
