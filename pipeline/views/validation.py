"""The document of a validation: what was read, labels, types, names, and what is rejected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Document,
    Heading,
    Sentence,
    TableColumn,
    document,
    sentences,
    table,
)
from goodgain.pipeline.document.numbers import minute, share
from goodgain.pipeline.results.balance import UNKNOWN_LOSSES, describe_excess
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.studies.validation.findings import UNLABELLED
from goodgain.transforms.core.warnings.warning import DataWarning, failing_warnings
from goodgain.transforms.core.wording import format_count, list_first, pluralize

Report: TypeAlias = Mapping[str, Any]
_MOST_ROWS = 40
_LONGEST_NAME = 60
_LONGEST_REASON = 300
_SHOWN_VALUES = 5
_AGAIN = "each record counts once"
_OF_NUMBERS = ("number", "results", "records", "share")


def validation_document(report: Report) -> Document:
    """The document of what a validation found, from `make_report`."""
    return document(
        _overview(report),
        _tables(report),
        Heading("What makes two results the same document"),
        sentences(report["identity"]),
        validation_warnings(report),
        (Sentence(f"Note: {note}", "warning") for note in report["notes"]),
        _verdict(report),
    )


def validation_warnings(report: Report) -> Iterator[Sentence]:
    """The warnings about the data."""
    warnings = msgspec.convert(report["warnings"], list[DataWarning])
    fatal = failing_warnings(warnings, allowed=())
    for warning in warnings:
        ending = " A run exits with code 3." if warning in fatal else ""
        yield Sentence(f"{warning_text(warning)}{ending}", "warning", apart=True)


def _overview(report: Report) -> Iterator[Block]:
    records = report["records"]
    files = report["files"]
    rows = [
        ("files", len(files), f"{sum(file['bytes'] for file in files):,} bytes"),
        ("records read", records["read"], ""),
        ("usable", records["usable"], share(records["usable"], records["read"])),
        ("rejected", records["rejected"], share(records["rejected"], records["read"])),
        ("delivered again", records["redelivered"], _describe_redelivered(records)),
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
    return _table(
        "What was read",
        ("what", "number", "notes"),
        [(name, f"{number:,}", note) for name, number, note in rows],
    )


def _describe_redelivered(records: Report) -> str:
    text = share(records["redelivered"], records["read"])
    conflicting = records["conflicting_redeliveries"]
    return f"{text}, {conflicting:,} with other content" if conflicting else text


def _span(report: Report) -> str:
    if report["first_timestamp"] is None:
        return "no timestamps"
    return f"{minute(report['first_timestamp'])} to {minute(report['last_timestamp'])} UTC"


def _tables(report: Report) -> Iterator[Block]:
    yield from _table(
        "Labels",
        ("label", "results", "share"),
        [
            (
                label if label == UNLABELLED else f"gain {label}",
                f"{results:,}",
                share(results, report["results"]),
            )
            for label, results in report["labels"].items()
            if report["results"]
        ],
    )
    yield from _table(
        "Entity types",
        ("type", "results", "rules that apply", "did you mean"),
        [
            (
                entity_type["name"] or "(no type)",
                f"{entity_type['results']:,}",
                entity_type["rules"],
                entity_type["likely"] or "",
            )
            for entity_type in report["entity_types"]
        ],
    )
    yield from _table(
        "Names that no rule uses, some of them perhaps misspelt",
        ("name", "results", "did you mean", "what it does"),
        [
            (
                f"{name['kind']}s.{name['name']}",
                f"{name['results']:,}",
                name["likely"] or "",
                name["effect"],
            )
            for name in report["names_without_rule"]
        ],
    )
    yield from _table(
        "Attributes, to slice by",
        ("attribute", "records", "values"),
        [
            (
                attribute["name"],
                f"{attribute['records']:,}",
                list_first(attribute["values"], _SHOWN_VALUES),
            )
            for attribute in report["attributes"]
        ],
    )
    rejected = []
    for rejection in report["rejected_by_reason"]:
        rejected.append((f"{rejection['records']:,}", rejection["reason"]))
        rejected += [
            ("", f"  {example['source']}, {example['position']}: {example['reason']}")
            for example in rejection["examples"]
        ]
    yield from _table("Rejected", ("records", "why, with examples"), rejected, _LONGEST_REASON)


def _verdict(report: Report) -> Iterator[Sentence]:
    records = report["records"]
    text = f"{records['rejected']:,} of {format_count(records['read'], 'record')} "
    text += f"{pluralize(records['rejected'] or records['read'], 'is', 'are')} rejected; "
    limit = f"--max-rejected {report['max_rejected']}"
    if report["too_many_rejected"]:
        yield Sentence(
            f"{text}{describe_excess(records[UNKNOWN_LOSSES], limit)}.", "failure", apart=True
        )
    else:
        yield Sentence(f"{text}{limit} allows that.", "strong", apart=True)


def _table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    longest: int = _LONGEST_NAME,
) -> Iterator[Block]:
    """A table below its title, if there are rows; columns of numbers are right-aligned."""
    if not rows:
        return
    cells = [[Cell(text, longest=longest) for text in row] for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        cells.append([Cell(f"and {len(rows) - _MOST_ROWS:,} more, see --json")])
    yield Heading(title)
    yield table([TableColumn(heading, right=heading in _OF_NUMBERS) for heading in headings], cells)
