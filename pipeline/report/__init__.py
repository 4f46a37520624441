"""`report.html`: the results of a run, as one file that opens from disk (SPEC 6)."""

from goodgain.pipeline.report.build import build_report

__all__ = ["build_report"]
