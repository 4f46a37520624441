"""Good Gain: how much good, new material each iteration of a search agent brought.

Example:
  >>> import goodgain as gg
  >>> run = gg.evaluate([{"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}])
  >>> run.means.where(metric="CG", i=None)[0]["mean"]
  3.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from goodgain import transforms

if TYPE_CHECKING:
    from goodgain.pipeline.api.compare import Comparison, compare
    from goodgain.pipeline.api.evaluate import evaluate
    from goodgain.pipeline.api.explanation import Explanation
    from goodgain.pipeline.api.gate import GateFailedError, GateVerdict, gate
    from goodgain.pipeline.api.given_rows import Labels, Outcomes
    from goodgain.pipeline.api.goodgain_warning import GoodGainWarning
    from goodgain.pipeline.api.inputs import Traces
    from goodgain.pipeline.api.judgments import ExcludedDocuments, Qrels
    from goodgain.pipeline.api.load import load
    from goodgain.pipeline.api.result import Run
    from goodgain.pipeline.api.table import Table
    from goodgain.transforms import (
        FindShards,
        FingerprintCalls,
        GlobalMeanRows,
        GlobalMeans,
        JoinQrels,
        ReadKafkaTraces,
        ReadPayloads,
        ReadPubSubTraces,
        ReadQrels,
        ReadTraceRows,
        ReadTraces,
        RequestLabels,
        ScoreConversationRows,
        ScoreConversations,
        ScorePayloads,
        ScoreStreamedConversations,
        ScoreStreamedPayloads,
        WatchFolder,
        WindowedMeans,
    )
    from goodgain.transforms.core.dedup.rules import RuleTable
    from goodgain.transforms.core.errors import GoodGainError, UsageError
    from goodgain.transforms.core.files.bounds import ReadBounds
    from goodgain.transforms.core.files.outcomes import OutcomesOfRow
    from goodgain.transforms.core.files.shard import FileShard, InputFile
    from goodgain.transforms.core.judgments.exclusions import Exclusions
    from goodgain.transforms.core.judgments.judgment import Judgment, LabelKeys, LabelRequest
    from goodgain.transforms.core.means.mean_row import MeanRow
    from goodgain.transforms.core.means.options import MeansOptions
    from goodgain.transforms.core.metric import Metric
    from goodgain.transforms.core.metrics.own import metric
    from goodgain.transforms.core.metrics.prefix import Prefix
    from goodgain.transforms.core.pool.files import PoolFiles, PoolUse
    from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
    from goodgain.transforms.core.ranking.names import RankingMetric
    from goodgain.transforms.core.records.adaptation import Adaptation
    from goodgain.transforms.core.records.rejection import RejectedRecord
    from goodgain.transforms.core.records.search_call import Result, SearchCall
    from goodgain.transforms.core.scoring.conversation_score import ConversationScore
    from goodgain.transforms.core.scoring.packing import Packing
    from goodgain.transforms.core.scoring.score_rows import ConversationRow, IterationRow
    from goodgain.transforms.core.scoring.settings import Scoring
    from goodgain.transforms.core.streaming.options import Closing
    from goodgain.transforms.core.streaming.watermark import WatermarkRule
    from goodgain.transforms.core.warnings.warning import DataWarning
    from goodgain.transforms.sources.folder_source import FolderSource
    from goodgain.transforms.stream_end import StreamEnd

__all__ = [
    "Adaptation",
    "Closing",
    "Comparison",
    "ConversationRow",
    "ConversationScore",
    "DataWarning",
    "ExcludedDocuments",
    "Exclusions",
    "Explanation",
    "FileShard",
    "FindShards",
    "FingerprintCalls",
    "FolderSource",
    "GateFailedError",
    "GateVerdict",
    "GlobalMeanRows",
    "GlobalMeans",
    "GoodGainError",
    "GoodGainWarning",
    "InputFile",
    "IterationRow",
    "JoinQrels",
    "Judgment",
    "LabelKeys",
    "LabelRequest",
    "Labels",
    "MeanRow",
    "MeansOptions",
    "Metric",
    "Outcomes",
    "OutcomesOfRow",
    "Packing",
    "PoolFiles",
    "PoolUse",
    "Prefix",
    "Qrels",
    "RankingEvaluator",
    "RankingMetric",
    "ReadBounds",
    "ReadKafkaTraces",
    "ReadPayloads",
    "ReadPubSubTraces",
    "ReadQrels",
    "ReadTraceRows",
    "ReadTraces",
    "RejectedRecord",
    "RequestLabels",
    "Result",
    "RuleTable",
    "Run",
    "ScoreConversationRows",
    "ScoreConversations",
    "ScorePayloads",
    "ScoreStreamedConversations",
    "ScoreStreamedPayloads",
    "Scoring",
    "SearchCall",
    "StreamEnd",
    "Table",
    "Traces",
    "UsageError",
    "WatchFolder",
    "WatermarkRule",
    "WindowedMeans",
    "compare",
    "evaluate",
    "gate",
    "load",
    "metric",
]

# Imported on first access, to keep `import goodgain` fast and free of Beam.
_MODULES = {
    **dict.fromkeys(transforms.__all__, "transforms"),
    "Adaptation": "transforms.core.records.adaptation",
    "Metric": "transforms.core.metric",
    "Prefix": "transforms.core.metrics.prefix",
    "metric": "transforms.core.metrics.own",
    "Closing": "transforms.core.streaming.options",
    "Comparison": "pipeline.api.compare",
    "ConversationRow": "transforms.core.scoring.score_rows",
    "ConversationScore": "transforms.core.scoring.score",
    "DataWarning": "transforms.core.warnings.warning",
    "ExcludedDocuments": "pipeline.api.judgments",
    "Exclusions": "transforms.core.judgments.exclusions",
    "Explanation": "pipeline.api.explanation",
    "FileShard": "transforms.core.files.shard",
    "FolderSource": "transforms.sources.folder_source",
    "GateFailedError": "pipeline.api.gate",
    "GateVerdict": "pipeline.api.gate",
    "GoodGainError": "transforms.core.errors",
    "GoodGainWarning": "pipeline.api.goodgain_warning",
    "InputFile": "transforms.core.files.shard",
    "IterationRow": "transforms.core.scoring.score_rows",
    "Judgment": "transforms.core.judgments.judgment",
    "LabelKeys": "transforms.core.judgments.judgment",
    "LabelRequest": "transforms.core.judgments.judgment",
    "Labels": "pipeline.api.given_rows",
    "MeanRow": "transforms.core.means.mean_row",
    "MeansOptions": "transforms.core.means.options",
    "Outcomes": "pipeline.api.given_rows",
    "OutcomesOfRow": "transforms.core.files.outcomes",
    "Packing": "transforms.core.scoring.packing",
    "PoolFiles": "transforms.core.pool.files",
    "PoolUse": "transforms.core.pool.files",
    "Qrels": "pipeline.api.judgments",
    "RankingEvaluator": "transforms.core.ranking.evaluator",
    "RankingMetric": "transforms.core.ranking.names",
    "ReadBounds": "transforms.core.files.bounds",
    "RejectedRecord": "transforms.core.records.rejection",
    "Result": "transforms.core.records.search_call",
    "RuleTable": "transforms.core.dedup.rules",
    "Run": "pipeline.api.result",
    "Scoring": "transforms.core.scoring.settings",
    "SearchCall": "transforms.core.records.search_call",
    "StreamEnd": "transforms.stream_end",
    "Table": "pipeline.api.table",
    "Traces": "pipeline.api.inputs",
    "UsageError": "transforms.core.errors",
    "WatermarkRule": "transforms.core.streaming.watermark",
    "compare": "pipeline.api.compare",
    "evaluate": "pipeline.api.evaluate",
    "gate": "pipeline.api.gate",
    "load": "pipeline.api.load",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
