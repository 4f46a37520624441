"""Describes the contents of trace files without scoring them (SPEC 2, 3)."""

from goodgain.pipeline.survey.names import (
    NameFinding,
    TypeFinding,
    findings_about_fields,
    findings_about_ids,
    findings_about_types,
)
from goodgain.pipeline.survey.survey import Survey

__all__ = [
    "NameFinding",
    "Survey",
    "TypeFinding",
    "findings_about_fields",
    "findings_about_ids",
    "findings_about_types",
]
