"""Gathers the payloads of each key and folds them: in state, or by a grouping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import BagStateSpec, TimerSpec, on_timer
from apache_beam.typehints import KV

from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.freed_memory import return_freed_memory

Pair = tuple[bytes, bytes]

_FREED_AT_ONCE = 1 << 22  # bytes of payloads


def flatten_pairs(label: str, *sides: beam.PCollection[Pair]) -> beam.PCollection[Any]:
    """Flatten the sides of a join, whose values begin with a byte that tells the sides apart."""
    for side in sides:
        side.element_type = KV[bytes, bytes]
    return sides | label >> beam.Flatten()


class Fold(ABC):
    """What is made of all payloads of a key, on a worker."""

    def setup(self) -> None:  # noqa: B027 - most need nothing
        """Set up the worker."""

    @abstractmethod
    def fold(self, key: str, payloads: Iterable[bytes]) -> Iterator[Any]:
        """The outputs of one key; its payloads are in no particular order."""


class HandOverCoder(beam.coders.Coder):
    """Payloads, each in a list of its own, which encoding empties.

    Beam holds what is added to state until the whole bundle is encoded; so all payloads would be
    in memory twice.
    """

    def encode(self, value: list[bytes]) -> bytes:
        """Take the payload out of its list."""
        return value.pop()

    def decode(self, encoded: bytes) -> list[bytes]:
        """The payload in a list."""
        return [encoded]


@dataclass(eq=False, repr=False)
class FoldInState(beam.DoFn):
    """Keeps payloads in state, and folds those of a key when all of them have arrived.

    For bounded input in the global window, on an engine that delivers all elements of a key before
    its timers.
    """

    PAYLOADS = BagStateSpec("payloads", HandOverCoder())
    END = TimerSpec("end", TimeDomain.WATERMARK)

    folding: Fold

    def setup(self) -> None:
        """Set up the worker."""
        self.folding.setup()
        self._freed = 0

    def process(
        self,
        keyed: Keyed,
        window: Any = beam.DoFn.WindowParam,
        payloads: Any = beam.DoFn.StateParam(PAYLOADS),
        end: Any = beam.DoFn.TimerParam(END),
    ) -> None:
        """Keep one payload until the end of the window."""
        payloads.add([keyed[1]])
        end.set(window.max_timestamp())

    @on_timer(END)
    def end_of_window(
        self, key: str = beam.DoFn.KeyParam, payloads: Any = beam.DoFn.StateParam(PAYLOADS)
    ) -> Iterator[Any]:
        """Fold what was kept, and free its memory."""
        kept = [payload for (payload,) in payloads.read()]
        yield from self.folding.fold(key, kept)
        payloads.clear()
        # All timers are one bundle, at whose end Beam would drop the state of all keys at once.
        payloads.commit()
        self._freed += sum(map(len, kept))
        if self._freed >= _FREED_AT_ONCE:
            kept.clear()
            return_freed_memory()
            self._freed = 0


@dataclass(eq=False, repr=False)
class FoldGroup(beam.DoFn):
    """Folds the payloads of a key that a grouping has gathered."""

    folding: Fold

    def setup(self) -> None:
        """Set up the worker."""
        self.folding.setup()

    def process(self, grouped: tuple[str, Iterable[bytes]]) -> Iterator[Any]:
        """Fold one group."""
        return self.folding.fold(*grouped)
