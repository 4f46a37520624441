"""What anyone can put into a Beam pipeline of their own; `transforms.core` works without Beam.

The transforms are imported when they are first asked for, so that the core stays free of Beam.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transforms.fingerprint import FingerprintCalls
    from transforms.means import GlobalMeans
    from transforms.qrels import JoinQrels, ReadQrels
    from transforms.read import ReadTraces
    from transforms.read_again import ReadConversations
    from transforms.score import ScoreConversations, ScorePayloads
    from transforms.windowed_means import WindowedMeans
    from transforms.watch import WatchFolder

__all__ = [
    "FingerprintCalls",
    "GlobalMeans",
    "JoinQrels",
    "ReadConversations",
    "ReadQrels",
    "ReadTraces",
    "ScoreConversations",
    "ScorePayloads",
    "WindowedMeans",
    "WatchFolder",
]

_MODULES = {
    "FingerprintCalls": "fingerprint",
    "GlobalMeans": "means",
    "JoinQrels": "qrels",
    "ReadConversations": "read_again",
    "ReadQrels": "qrels",
    "ReadTraces": "read",
    "ScoreConversations": "score",
    "ScorePayloads": "score",
    "WindowedMeans": "windowed_means",
    "WatchFolder": "watch",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
