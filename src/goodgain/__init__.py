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

if TYPE_CHECKING:
    from goodgain.pipeline.api.compare import Comparison, compare
    from goodgain.pipeline.api.evaluate import evaluate
    from goodgain.pipeline.api.load import load
    from goodgain.pipeline.api.messages import GoodGainWarning
    from goodgain.pipeline.api.result import Explanation, Run
    from goodgain.pipeline.api.table import Table
    from goodgain.transforms.core.errors import GoodGainError, UsageError
    from goodgain.transforms.core.means.rows import MeanRow
    from goodgain.transforms.core.records.rejected import RejectedRecord
    from goodgain.transforms.core.records.search_call import Result, SearchCall
    from goodgain.transforms.core.scoring.score import ConversationScore
    from goodgain.transforms.core.scoring.settings import Scoring
    from goodgain.transforms.core.streaming.closing import Closing
    from goodgain.transforms.core.streaming.watermark import WatermarkRule
    from goodgain.transforms.sources.folder_watch import FolderSource
    from goodgain.transforms.stream_end import StreamEnd

__all__ = [
    "Closing",
    "Comparison",
    "ConversationScore",
    "Explanation",
    "FolderSource",
    "GoodGainError",
    "GoodGainWarning",
    "MeanRow",
    "RejectedRecord",
    "Result",
    "Run",
    "Scoring",
    "SearchCall",
    "StreamEnd",
    "Table",
    "UsageError",
    "WatermarkRule",
    "compare",
    "evaluate",
    "load",
]

# Imported on first access, to keep `import goodgain` fast.
_MODULES = {
    "Comparison": "goodgain.pipeline.api.compare",
    "compare": "goodgain.pipeline.api.compare",
    "Closing": "goodgain.transforms.core.streaming.closing",
    "ConversationScore": "goodgain.transforms.core.scoring.score",
    "Explanation": "goodgain.pipeline.api.result",
    "FolderSource": "goodgain.transforms.sources.folder_watch",
    "GoodGainError": "goodgain.transforms.core.errors",
    "GoodGainWarning": "goodgain.pipeline.api.messages",
    "MeanRow": "goodgain.transforms.core.means.rows",
    "RejectedRecord": "goodgain.transforms.core.records.rejected",
    "Result": "goodgain.transforms.core.records.search_call",
    "Run": "goodgain.pipeline.api.result",
    "Scoring": "goodgain.transforms.core.scoring.settings",
    "SearchCall": "goodgain.transforms.core.records.search_call",
    "StreamEnd": "goodgain.transforms.stream_end",
    "Table": "goodgain.pipeline.api.table",
    "UsageError": "goodgain.transforms.core.errors",
    "WatermarkRule": "goodgain.transforms.core.streaming.watermark",
    "evaluate": "goodgain.pipeline.api.evaluate",
    "load": "goodgain.pipeline.api.load",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
