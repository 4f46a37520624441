"""Transforms for any Beam pipeline; `goodgain.transforms.core` works without Beam.

Transforms are imported on first access, so that the core does not import Beam.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goodgain.transforms.beam_rows import GlobalMeanRows as GlobalMeanRows
    from goodgain.transforms.beam_rows import ReadTraceRows as ReadTraceRows
    from goodgain.transforms.beam_rows import ScoreConversationRows as ScoreConversationRows
    from goodgain.transforms.fingerprint import FingerprintCalls as FingerprintCalls
    from goodgain.transforms.means import GlobalMeans as GlobalMeans
    from goodgain.transforms.qrels import JoinQrels as JoinQrels
    from goodgain.transforms.qrels import RequestLabels as RequestLabels
    from goodgain.transforms.read import FindShards as FindShards
    from goodgain.transforms.read import ReadTraces as ReadTraces
    from goodgain.transforms.read_payloads import ReadPayloads as ReadPayloads
    from goodgain.transforms.read_qrels import ReadQrels as ReadQrels
    from goodgain.transforms.score import ScoreConversations as ScoreConversations
    from goodgain.transforms.score import ScorePayloads as ScorePayloads
    from goodgain.transforms.score_stream import (
        ScoreStreamedConversations as ScoreStreamedConversations,
    )
    from goodgain.transforms.score_stream import ScoreStreamedPayloads as ScoreStreamedPayloads
    from goodgain.transforms.sources.kafka import ReadKafkaTraces as ReadKafkaTraces
    from goodgain.transforms.sources.pubsub import ReadPubSubTraces as ReadPubSubTraces
    from goodgain.transforms.sources.watch import WatchFolder as WatchFolder
    from goodgain.transforms.windowed_means import WindowedMeans as WindowedMeans

_MODULES = {
    "FindShards": "read",
    "FingerprintCalls": "fingerprint",
    "GlobalMeanRows": "beam_rows",
    "GlobalMeans": "means",
    "JoinQrels": "qrels",
    "ReadKafkaTraces": "sources.kafka",
    "ReadPayloads": "read_payloads",
    "ReadPubSubTraces": "sources.pubsub",
    "ReadQrels": "read_qrels",
    "ReadTraceRows": "beam_rows",
    "ReadTraces": "read",
    "RequestLabels": "qrels",
    "ScoreConversationRows": "beam_rows",
    "ScoreConversations": "score",
    "ScorePayloads": "score",
    "ScoreStreamedConversations": "score_stream",
    "ScoreStreamedPayloads": "score_stream",
    "WatchFolder": "sources.watch",
    "WindowedMeans": "windowed_means",
}
__all__ = list(_MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
