"""Explains one conversation, result by result, with the fold of the pipeline (SPEC 3-5)."""

from goodgain.pipeline.explanation.explain import explain
from goodgain.pipeline.explanation.gather import ConversationRecords, gather
from goodgain.pipeline.explanation.model import ConversationExplanation

__all__ = ["ConversationExplanation", "ConversationRecords", "explain", "gather"]
