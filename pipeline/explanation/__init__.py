"""One conversation explained, result by result, by the fold that the pipeline uses (SPEC 3-5)."""

from pipeline.explanation.explain import explain
from pipeline.explanation.gather import Gathered, gather
from pipeline.explanation.model import Explanation

__all__ = ["Explanation", "Gathered", "explain", "gather"]
