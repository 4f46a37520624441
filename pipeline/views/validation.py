"""What `goodgain validate` reports: as JSON, and as tables for people, which show the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from goodgain.pipeline.document.console import plain_table
from goodgain.pipeline.document.numbers import minute, share
from goodgain.pipeline.document.safe_text import printable, untrusted
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.manifest import UNKNOWN_LOSSES, above_limit
from goodgain.pipeline.settings.option_types import MaxRejected
from goodgain.pipeline.studies.survey import (
    Survey,
    findings_about_fields,
    findings_about_ids,
    findings_about_types,
)
from goodgain.transforms.core.dedup.identity_text import identity_lines
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.warnings.warning import DataWarning, failing
from goodgain.transforms.core.wording import counted, pluralize

_UNLABELLED = "unlabelled"
_MOST_ROWS = 40
_LONGEST_NAME = 60
_LONGEST_REASON = 300
_SHOWN_VALUES = 5
_AGAIN = "each record counts once"


def make_report(
    survey: Survey,
    files: Sequence[InputFile],
    rules: RuleTable,
    max_rejected: MaxRejected,
    warnings: Sequence[DataWarning],
) -> dict[str, Any]:
    """All findings, by name."""
    rejected, unknown_losses = survey.rejections.records, survey.rejections.unknown_losses
    return {
        "files": [{"path": file.path, "bytes": file.size} for file in files],
        "records": {
            "read": survey.read,
            "usable": survey.calls,
            "rejected": rejected,
            UNKNOWN_LOSSES: unknown_losses,
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
        "results_with_score": survey.scored,
        "first_timestamp": survey.first_timestamp,
        "last_timestamp": survey.last_timestamp,
        "labels": {
            _UNLABELLED if gain is None else str(gain): results
            for gain, results in survey.labels().items()
        },
        "entity_types": msgspec.to_builtins(findings_about_types(survey.types, rules)),
        "names_without_rule": msgspec.to_builtins(
            findings_about_ids(survey.ids, rules)
            + findings_about_fields(survey.fields, survey.field_types, rules)
        ),
        "attributes": [
            {
                "name": name,
                "records": records,
                "values": sorted(survey.attribute_values.get(name, ())),
            }
            for name, records in survey.attributes.most_common()
        ],
        "rejected_by_reason": msgspec.to_builtins(survey.rejections.by_frequency()),
        "max_rejected": str(max_rejected),
        "too_many_rejected": max_rejected.exceeded(rejected, survey.read, unknown_losses),
        "identity": identity_lines(rules),
        "warnings": msgspec.to_builtins(warnings),
        "notes": _notes(survey),
    }


def _notes(survey: Survey) -> list[str]:
    """Hints that may be intended, which is why a run does not warn about them."""
    notes = []
    if 0 < survey.timed < survey.calls:
        untimed = survey.calls - survey.timed
        records = counted(untimed, "record has", "records have")
        notes.append(f"{records} no timestamp; streaming needs one on each.")
    return notes


def render(report: dict[str, Any], console: Console) -> None:
    """Print a report."""
    _overview(report, console)
    _tables(report, console)
    console.print(Text("\nWhat makes two results the same document", style="bold"))
    for line in report["identity"]:
        console.print(Text(line))
    render_warnings(report, console)
    for note in report["notes"]:
        console.print(Text(f"\nNote: {note}", style="yellow"))
    console.print()
    console.print(_verdict(report))


def render_warnings(report: dict[str, Any], console: Console) -> None:
    """Print the warnings about the data."""
    warnings = msgspec.convert(report["warnings"], list[DataWarning])
    fatal = failing(warnings, allowed=())
    for warning in warnings:
        ending = " A run exits with code 3." if warning in fatal else ""
        console.print(Text(f"\n{printable(warning_text(warning))}{ending}", style="yellow"))


def _overview(report: dict[str, Any], console: Console) -> None:
    records = report["records"]
    files = report["files"]
    rows = [
        ("files", len(files), f"{sum(file['bytes'] for file in files):,} bytes"),
        ("records read", records["read"], ""),
        ("usable", records["usable"], share(records["usable"], records["read"])),
        ("rejected", records["rejected"], share(records["rejected"], records["read"])),
        ("delivered again", records["redelivered"], _redelivered(records)),
        ("without results", records["without_results"], "they count as searches"),
        ("conversations", report["conversations"], _span(report)),
        (
            "with rejected records",
            report["conversations_with_rejected_records"],
            "they stay out of the means",
        ),
        ("turns", report["turns"], "only the last of a conversation counts"),
        ("iterations", report["iterations"], ""),
        ("results", report["results"], _AGAIN if records["redelivered"] else ""),
    ]
    _table(
        console,
        "What was read",
        ("", "number", ""),
        [(name, f"{number:,}", note) for name, number, note in rows],
    )


def _redelivered(records: dict[str, Any]) -> str:
    text = share(records["redelivered"], records["read"])
    conflicting = records["conflicting_redeliveries"]
    return f"{text}, {conflicting:,} with other content" if conflicting else text


def _span(report: dict[str, Any]) -> str:
    if report["first_timestamp"] is None:
        return "no timestamps"
    return f"{minute(report['first_timestamp'])} to {minute(report['last_timestamp'])} UTC"


def _tables(report: dict[str, Any], console: Console) -> None:
    _table(
        console,
        "Labels",
        ("label", "results", "share"),
        [
            (label if label == _UNLABELLED else f"gain {label}", f"{results:,}", part)
            for label, results in report["labels"].items()
            if (part := share(results, report["results"]))
        ],
    )
    _table(
        console,
        "Entity types",
        ("type", "results", "rules that apply", "did you mean"),
        [
            (one["name"] or "(no type)", f"{one['results']:,}", one["rules"], one["likely"] or "")
            for one in report["entity_types"]
        ],
    )
    _table(
        console,
        "Names that no rule uses, some of them perhaps misspelt",
        ("name", "results", "did you mean", "what it does"),
        [
            (
                f"{one['kind']}s.{one['name']}",
                f"{one['results']:,}",
                one["likely"] or "",
                one["effect"],
            )
            for one in report["names_without_rule"]
        ],
    )
    _table(
        console,
        "Attributes, to slice by",
        ("attribute", "records", "values"),
        [
            (one["name"], f"{one['records']:,}", _first_values(one["values"]))
            for one in report["attributes"]
        ],
    )
    rejected = []
    for rejection in report["rejected_by_reason"]:
        rejected.append((f"{rejection['records']:,}", rejection["reason"]))
        rejected += [
            ("", f"  {example['source']}, {example['position']}: {example['reason']}")
            for example in rejection["examples"]
        ]
    _table(console, "Rejected", ("records", "why, with examples"), rejected, _LONGEST_REASON)


def _first_values(values: Sequence[str]) -> str:
    return ", ".join(values[:_SHOWN_VALUES]) + (", ..." if len(values) > _SHOWN_VALUES else "")


def _verdict(report: dict[str, Any]) -> Text:
    records = report["records"]
    text = f"{records['rejected']:,} of {counted(records['read'], 'record')} "
    text += f"{pluralize(records['rejected'] or records['read'], 'is', 'are')} rejected; "
    limit = f"--max-rejected {report['max_rejected']}"
    if report["too_many_rejected"]:
        return Text(f"{text}{above_limit(records, limit)}.", style="bold red")
    return Text(f"{text}{limit} allows that.", style="bold")


def _table(
    console: Console,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    longest: int = _LONGEST_NAME,
) -> None:
    """A table whose cells may contain any text; columns of numbers are right-aligned."""
    if not rows:
        return
    table = plain_table()
    for heading in headings:
        right = heading in ("number", "results", "records", "share")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in rows[:_MOST_ROWS]:
        table.add_row(*(untrusted(cell, longest) for cell in row))
    if len(rows) > _MOST_ROWS:
        table.add_row(f"and {len(rows) - _MOST_ROWS:,} more, see --json")
    console.print(Text(f"\n{title}", style="bold"))
    console.print(table)
