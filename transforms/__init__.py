"""Transforms for any Beam pipeline; `goodgain.transforms.core` works without Beam.

Transforms are imported on first access, so that the core does not import Beam.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goodgain.transforms.beam_rows import (
        GlobalMeanRows,
        ReadTraceRows,
        ScoreConversationRows,
    )
    from goodgain.transforms.fingerprint import FingerprintCalls
    from goodgain.transforms.means import GlobalMeans
    from goodgain.transforms.qrels import JoinQrels, ReadQrels, RequestLabels
    from goodgain.transforms.read import FindShards, ReadPayloads, ReadTraces
    from goodgain.transforms.score import ScoreConversations, ScorePayloads, ScoreTied
    from goodgain.transforms.score_stream import ScoreStreamedConversations, ScoreStreamedPayloads
    from goodgain.transforms.sources.kafka import ReadKafkaTraces
    from goodgain.transforms.sources.pubsub import ReadPubSubTraces
    from goodgain.transforms.sources.watch import WatchFolder
    from goodgain.transforms.windowed_means import WindowedMeans

__all__ = [
    "FindShards",
    "FingerprintCalls",
    "GlobalMeanRows",
    "GlobalMeans",
    "JoinQrels",
    "ReadKafkaTraces",
    "ReadPayloads",
    "ReadPubSubTraces",
    "ReadQrels",
    "ReadTraceRows",
    "ReadTraces",
    "RequestLabels",
    "ScoreConversationRows",
    "ScoreConversations",
    "ScorePayloads",
    "ScoreStreamedConversations",
    "ScoreStreamedPayloads",
    "ScoreTied",
    "WatchFolder",
    "WindowedMeans",
]

_MODULES = {
    "FindShards": "read",
    "FingerprintCalls": "fingerprint",
    "GlobalMeanRows": "beam_rows",
    "GlobalMeans": "means",
    "JoinQrels": "qrels",
    "ReadKafkaTraces": "sources.kafka",
    "ReadPayloads": "read",
    "ReadPubSubTraces": "sources.pubsub",
    "ReadQrels": "qrels",
    "ReadTraceRows": "beam_rows",
    "ReadTraces": "read",
    "RequestLabels": "qrels",
    "ScoreConversationRows": "beam_rows",
    "ScoreConversations": "score",
    "ScorePayloads": "score",
    "ScoreStreamedConversations": "score_stream",
    "ScoreStreamedPayloads": "score_stream",
    "ScoreTied": "score",
    "WatchFolder": "sources.watch",
    "WindowedMeans": "windowed_means",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
