"""The section of a run's page about duplicates: by entity type, and by the evidence (SPEC 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from goodgain.pipeline.document.model import Sentence, TableBlock, TableColumn, count, table
from goodgain.pipeline.document.numbers import count_text, share, value_text
from goodgain.pipeline.document.page import Beside, Chart, PageBlock, Section, section
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.manifest_counts import CountsOfResults
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.dedup.verification import Step
from goodgain.transforms.core.scoring.duplicate_rows import UNTYPED
from goodgain.transforms.core.wording import format_count

_LONGEST_NAME = 40
_MOST_TYPES = 30
# For each step of SPEC 4.3, why two results are the same document, and why they are not.
_STEPS: Mapping[Step, tuple[str, str]] = {
    Step.TYPE: ("", "their types differ"),
    Step.PASSAGE: ("", "the ids of passages, or their texts, differ"),
    Step.IDS: ("an id that identifies the document is the same", "an id differs"),
    Step.URL: ("the URL is the same", "host or path of the URL differs"),
    Step.URL_IDENTITY: ("", "a query parameter that names the document differs"),
    Step.URL_TEXT: (
        "the URL without its query is the same, and so is the text",
        "the URL without its query is the same, but the text differs",
    ),
    Step.FIELDS: ("enough fields of its type agree", "a field of its type differs"),
    Step.GENERIC_ID: ("the generic id is the same and nothing contradicts it", ""),
    Step.NAMED_ID: ("another id is the same and nothing contradicts it", ""),
    Step.IDENTICAL: ("all known fields are the same", ""),
    Step.INCONCLUSIVE: ("", "too few fields are known to decide"),
}


def duplicates_section(manifest: RunManifest, repeated: float | None) -> Section:
    """What was retrieved again, and why it counts so.

    Args:
      repeated: the mean share of repeated results; None = unknown.
    """
    return section(
        "duplicates",
        "Duplicates",
        "Which types of results the agent retrieved again, and the evidence that they are the same "
        "document. Counts over the last turns of all conversations.",
        _blocks(manifest, repeated),
    )


def _blocks(manifest: RunManifest, repeated: float | None) -> Iterator[PageBlock]:
    results = manifest.results
    if not results.total:
        yield Sentence("No results were retrieved.", "strong")
        return
    yield Sentence(" ".join(_sentences(manifest, repeated)))
    yield Chart("types", "Results by entity type", "and how many of them are duplicates.")
    same = _steps_table("Why results are duplicates", "duplicates", results, same=True)
    distinct = _steps_table("Why similar results are distinct", "pairs", results, same=False)
    yield Beside(((same,), (distinct,)))


def _sentences(manifest: RunManifest, repeated: float | None) -> Iterator[str]:
    results = manifest.results
    copies, total = results.duplicates, results.total
    mean = (
        ""
        if repeated is None
        else (
            "; here each result weighs the same, so long conversations weigh more than in the mean "
            f"over conversations, {value_text('SRR', repeated)}"
        )
    )
    yield (
        f"{count_text(copies)} of {format_count(total, 'result')} ({share(copies, total)}) "
        f"{'repeats' if copies == 1 else 'repeat'} an earlier one{mean}."
    )
    if cut := results.candidates_cut:
        yield (
            f"{format_count(cut, 'comparison was', 'comparisons were')} skipped because of "
            "`max_candidates`, so some duplicates may be missed."
        )
    if conflicts := results.label_conflicts:
        labelled = results.labelled_duplicates
        of_labelled = f" ({share(conflicts, labelled)} of the labelled copies)" if labelled else ""
        other = (
            "judgment than their document" if manifest.qrels else "label than the first occurrence"
        )
        yield (
            f"{format_count(conflicts, 'copy', 'copies')}{of_labelled} "
            f"{'has' if conflicts == 1 else 'have'} another {other}, whose label counts"
            f"{' where the pool has none' if manifest.pool else ''}."
        )


def _steps_table(title: str, counts: str, results: CountsOfResults, same: bool) -> TableBlock:
    pairs = results.duplicates_by_step if same else results.near_misses_by_step
    return table(
        (TableColumn("step", whole=True), TableColumn("why"), TableColumn(counts, right=True)),
        [(step, why, count(n)) for step, why, n in step_counts(pairs, same)],
        title,
    )


def type_counts(
    results: Mapping[str, int], copies: Mapping[str, int]
) -> list[tuple[str, int, int]]:
    """Entity types with their results and duplicates, most frequent first.

    Rare types share the last entry.

    Args:
      results, copies: by type.
    """
    types = [
        (
            "(no type)" if name == UNTYPED else shorten(name, _LONGEST_NAME),
            total,
            copies.get(name, 0),
        )
        for name, total in results.items()
    ]
    types.sort(key=lambda row: (-row[1], row[0]))
    if rare := types[_MOST_TYPES:]:
        _, totals, duplicates = zip(*rare, strict=True)
        types[_MOST_TYPES:] = [
            (format_count(len(rare), "other type"), sum(totals), sum(duplicates))
        ]
    return types


def type_texts(total: int, copies: int) -> list[str]:
    """Results, duplicates, their share, and first occurrences."""
    return [*map(count_text, (total, copies)), share(copies, total), count_text(total - copies)]


def step_counts(pairs: Mapping[str, int], same: bool) -> list[tuple[str, str, int]]:
    """Steps with the reason for their decision and the number of pairs, most frequent first.

    Args:
      same: whether it decided that they are the same document.
    """
    meanings = {step.value: words[0 if same else 1] for step, words in _STEPS.items()}
    counts = [(name.replace("_", " "), meanings.get(name, ""), n) for name, n in pairs.items()]
    return sorted(counts, key=lambda row: (-row[2], row[0]))
