"""Every format that can be imported, by its name."""

from __future__ import annotations

from collections.abc import Mapping

from goodgain.pipeline.convert.importing.formats.browsecomp_plus import (
    browsecomp_plus,
    with_judgment,
)
from goodgain.pipeline.convert.importing.formats.chat import chat_spans, conversations
from goodgain.pipeline.convert.importing.formats.chat_messages import is_message
from goodgain.pipeline.convert.importing.formats.claude_code import sessions
from goodgain.pipeline.convert.importing.formats.format import Format, keep_record
from goodgain.pipeline.convert.importing.formats.langfuse import langfuse_observations
from goodgain.pipeline.convert.importing.formats.langsmith import langsmith_runs
from goodgain.pipeline.convert.importing.formats.mlflow import mlflow_spans
from goodgain.pipeline.convert.importing.formats.otlp import otlp_document, otlp_spans

FORMATS: Mapping[str, Format] = {
    "otlp": Format(
        "OpenTelemetry spans in OTLP's JSON", lambda: otlp_spans, otlp_document, rows=True
    ),
    "langfuse": Format("Langfuse exports", lambda: langfuse_observations, rows=True),
    "langsmith": Format("LangSmith runs", lambda: langsmith_runs, rows=True),
    "mlflow": Format("MLflow traces", lambda: mlflow_spans),
    "browsecomp-plus": Format(
        "runs of BrowseComp-Plus agents", browsecomp_plus, gather=with_judgment
    ),
    "chat": Format(
        "transcripts of chats with tools",
        lambda: chat_spans,
        None,
        False,
        conversations,
        is_message,
    ),
    "claude-code": Format("session files of Claude Code", lambda: chat_spans, gather=sessions),
    "table": Format("tables with one row per result", lambda: keep_record, rows=True),
    "custom": Format("anything, by a mapping of your own", lambda: keep_record, rows=True),
}
