"""The sections of a run's page about its data and its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from goodgain.pipeline.document.model import (
    Cell,
    Heading,
    Sentence,
    TableBlock,
    TableColumn,
    count,
    join_blocks,
    table,
)
from goodgain.pipeline.document.numbers import count_text, share
from goodgain.pipeline.document.page import Beside, Details, PageBlock, Section, section
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.folder import format_time
from goodgain.pipeline.results.manifest_counts import FileOfRun, RecordCounts
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.studies.validation.survey import Rejection
from goodgain.pipeline.views.pages.sections.section_parts import parameter_blocks, sentences_if
from goodgain.pipeline.views.records import given_part
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.wording import format_count

_MOST_REASONS = 20
_MOST_INPUTS = 50
_LONGEST_REASON = 300
_LONGEST_PLACE = 200
_LONGEST_ID = 80
_LONGEST_PAYLOAD = 400
_OUTCOMES = (
    ("scored", "belongs to the last turn and counts"),
    ("earlier_turn", "belongs to an earlier turn"),
    ("redelivered", "a copy of a record that was delivered before"),
    ("rejected", "cannot be used"),
    ("late", "arrived after its conversation was closed"),
)


def quality_section(
    manifest: RunManifest, rejections: Sequence[Rejection], calls_in_vain: str
) -> Section:
    """What became of every record.

    Args:
      rejections: the reasons for rejecting records, most frequent first.
      calls_in_vain: how many calls brought nothing, in one sentence.
    """
    return section(
        "quality",
        "Data quality",
        "The outcome of every record that was read, and the reasons for rejecting some: no record "
        "is dropped silently.",
        Beside(((_records_table(manifest.records),), (_counts_table(manifest),))),
        given_part(manifest),
        sentences_if(calls_in_vain),
        Heading("Rejected records"),
        _rejections(rejections),
    )


def _records_table(records: RecordCounts) -> TableBlock:
    read, counts = records.read, asdict(records)
    sum_of = "the sum of these" if records.balance_holds else "does not add up"
    return table(
        (
            TableColumn("outcome", whole=True),
            TableColumn("what it means"),
            TableColumn("records", right=True),
            TableColumn("share", right=True),
        ),
        [
            *(
                (name.replace("_", " "), meaning, count(counts[name]), share(counts[name], read))
                for name, meaning in _OUTCOMES
            ),
            (Cell("read", tone="strong"), sum_of, Cell(count_text(read), tone="strong"), ""),
        ],
        "Records: one search call each",
    )


def _counts_table(manifest: RunManifest) -> TableBlock:
    conversations, results = manifest.conversations, manifest.results
    total, found = conversations.total, results.total
    labelled = results.labelled_duplicates or 0
    lines = [
        ("Conversations", total, 0, ""),
        ("in the means", conversations.in_means, total, "conversations"),
        (
            "left out: did not search",
            conversations.without_search,
            total,
            "conversations",
        ),
        (
            "left out: have rejected records",
            conversations.with_rejected_records,
            total,
            "conversations",
        ),
        ("Results", found, 0, ""),
        ("unlabelled: counted as gain 0", results.unlabelled, found, "results"),
        ("Copies: repeat an earlier result", results.duplicates, found, "results"),
        (
            "copies labelled differently",
            results.label_conflicts,
            labelled,
            "labelled copies",
        ),
    ]
    return table(
        ("count of", "number", "share"),
        [
            (label, count(n), f"{share(n, whole)} of {what}" if whole else "")
            for label, n, whole, what in lines
        ],
        "Conversations and labels",
    )


def _rejections(rejections: Sequence[Rejection]) -> Iterator[PageBlock]:
    if not rejections:
        yield Sentence("None: every record could be used.", "strong")
        return
    yield Sentence(
        "By reason, with the first examples of each; all of them are in the dataset `rejected`.",
        "quiet",
    )
    for at, rejection in enumerate(rejections[:_MOST_REASONS]):
        reason = shorten(rejection.reason, _LONGEST_REASON)
        yield Details(
            f"{format_count(rejection.records, 'record')}: {reason}",
            join_blocks(*map(_example, rejection.examples)),
            "rejection",
            is_open=at == 0,
        )
    if len(rejections) > _MOST_REASONS:
        yield Sentence(
            f"and {format_count(len(rejections) - _MOST_REASONS, 'more reason')}", "quiet"
        )


def _example(row: RejectedRecord) -> Iterator[Sentence]:
    place = f"{shorten(row.source, _LONGEST_PLACE)}, {shorten(row.position, _LONGEST_ID)}"
    if row.conversation_id:
        place += f", conversation {shorten(row.conversation_id, _LONGEST_ID)}"
    yield Sentence(f"{place}: {shorten(row.reason, _LONGEST_REASON)}")
    if row.payload:
        yield Sentence(shorten(row.payload, _LONGEST_PAYLOAD), whole=True)


def manifest_section(manifest: RunManifest) -> Section:
    """Input, parameters and versions."""
    return section(
        "manifest",
        "Manifest",
        "Input, parameters and versions of the run: enough to repeat it.",
        Beside(
            (
                parameter_blocks("Parameters", manifest.parameters),
                join_blocks(_inputs(manifest.inputs), _run_table(manifest)),
            )
        ),
    )


def _inputs(inputs: Sequence[FileOfRun]) -> Iterator[PageBlock]:
    shown = inputs[:_MOST_INPUTS]
    yield table(
        (TableColumn("path"), TableColumn("bytes", right=True)),
        [(Cell(file.path, longest=_LONGEST_PLACE), count(file.size)) for file in shown],
        "Input files",
    )
    if len(inputs) > len(shown):
        more = count_text(len(inputs) - len(shown))
        yield Sentence(f"and {more} more, in `manifest.json`", "quiet")


def _run_table(manifest: RunManifest) -> TableBlock:
    return table(
        (TableColumn("name", whole=True), TableColumn("value")),
        [
            ("started", format_time(manifest.started)),
            ("finished", format_time(manifest.finished)),
            ("engine", manifest.engine),
            ("rules digest", Cell(manifest.rules_digest, "code")),
            *manifest.versions.items(),
            *((f"rows of {name}", count(rows)) for name, rows in manifest.datasets.items()),
        ],
        "Run",
    )
