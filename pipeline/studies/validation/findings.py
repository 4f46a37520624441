"""What `goodgain validate` finds in files of traces, as one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from goodgain.pipeline.results.balance import UNKNOWN_LOSSES
from goodgain.pipeline.studies.validation.name_findings import (
    findings_about_fields,
    findings_about_ids,
    findings_about_types,
)
from goodgain.pipeline.studies.validation.survey import Survey
from goodgain.transforms.core.dedup.identity_text import describe_identity
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.records.max_rejected import MaxRejected
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count

UNLABELLED = "unlabelled"


def make_report(
    survey: Survey,
    files: Sequence[InputFile],
    rules: RuleTable,
    max_rejected: MaxRejected,
    warnings: Sequence[DataWarning],
) -> dict[str, Any]:
    """All findings, by name."""
    found = survey.of_results
    records = survey.records
    return {
        "files": [{"path": file.path, "bytes": file.size} for file in files],
        "records": {
            "read": records.read,
            "usable": records.calls,
            "rejected": records.rejected,
            UNKNOWN_LOSSES: records.unknown_losses,
            "redelivered": survey.redelivered,
            "conflicting_redeliveries": survey.conflicting,
            "without_results": survey.empty_calls,
            "with_timestamp": survey.timed,
        },
        "conversations": len(survey.conversations | survey.flagged),
        "conversations_with_rejected_records": len(survey.flagged),
        "turns": len(survey.turns),
        "iterations": len(survey.iterations),
        "results": survey.results,
        "results_with_score": found.scored,
        "first_timestamp": survey.first_timestamp,
        "last_timestamp": survey.last_timestamp,
        "labels": {
            UNLABELLED if gain is None else str(gain): results
            for gain, results in survey.labels().items()
        },
        "entity_types": msgspec.to_builtins(findings_about_types(found.types, rules)),
        "names_without_rule": msgspec.to_builtins(
            findings_about_ids(found.ids, rules)
            + findings_about_fields(found.fields, found.field_types, rules)
        ),
        "attributes": [
            {
                "name": name,
                "records": number,
                "values": sorted(survey.attribute_values.get(name, ())),
            }
            for name, number in survey.attributes.most_common()
        ],
        "rejected_by_reason": msgspec.to_builtins(survey.rejections.by_frequency()),
        "max_rejected": str(max_rejected),
        "too_many_rejected": max_rejected.is_exceeded(
            records.rejected, records.read, records.unknown_losses
        ),
        "identity": describe_identity(rules),
        "warnings": msgspec.to_builtins(warnings),
        "notes": _notes(survey),
    }


def _notes(survey: Survey) -> list[str]:
    """Hints that may be intended, which is why a run does not warn about them."""
    notes = []
    calls = survey.records.calls
    if 0 < survey.timed < calls:
        untimed = calls - survey.timed
        records = format_count(untimed, "record has", "records have")
        notes.append(f"{records} no timestamp; streaming needs one on each.")
    return notes
