"""What was found, and whether the outcome was good, in each slice of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.model import Cell, TableBlock, TableColumn, table
from goodgain.pipeline.document.numbers import NONE, count_text, share
from goodgain.pipeline.results.unlabelled_arms import NO_LABEL
from goodgain.pipeline.views.finds_by_outcome import count_finds_by_outcome
from goodgain.pipeline.views.outcomes import FOUND, GATHERED, OutcomeView, auc_text
from goodgain.pipeline.views.pages.data.slices import SliceMeans
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.outcomes import OUTCOME

Row = Mapping[str, Any]
_ByMetric = dict[tuple[str, str], Row]  # by metric and population


def slice_tables(
    views: Iterable[OutcomeView], rows: Iterable[Row], slices: Sequence[SliceMeans]
) -> dict[str, TableBlock]:
    """For each outcome by name, what was found and right in each slice; those without are left out.

    Args:
      rows: of `outcome_relations`.
    """
    found: dict[tuple[str, frozenset[tuple[str, str]]], _ByMetric] = {}
    for row in rows:
        if row["slice"] and row["metric"] in (FOUND, GATHERED):
            place = row["outcome"].removeprefix(OUTCOME), frozenset(row["slice"].items())
            found.setdefault(place, {})[row["metric"], row["population"]] = row
    tables = {}
    for view in views:
        by_slice = (
            found.get((view.name, frozenset(slice_.attributes.items()))) for slice_ in slices
        )
        lines: list[Sequence[Cell | str]] = [
            (slice_.label, *_cells(of_slice, slice_))
            for slice_, of_slice in zip(slices, by_slice, strict=True)
            if of_slice
        ]
        if lines:
            tables[view.name] = _table(view, lines)
    return tables


def _table(view: OutcomeView, lines: Sequence[Sequence[Cell | str]]) -> TableBlock:
    good, bad = view.headings
    # Three of the fields of the table over all conversations, in its words.
    headings = (good, "reading failed", "known, or luck", "search failed", f"AUC of {GATHERED}")
    return table(
        (TableColumn("slice"), *(TableColumn(heading, right=True) for heading in headings)),
        lines,
        f"{view.name} by slice: conversations, and how well gain tells {good} from {bad}",
    )


def _cells(rows: _ByMetric, of_slice: SliceMeans) -> Iterator[Cell]:
    found = rows.get((FOUND, "everyone")) or rows[FOUND, "all"]
    good, bad = count_finds_by_outcome(found, metric_by_name(found["outcome"]).direction == "lower")
    means = of_slice.at_end.get(FOUND)
    is_labelled = means is not None and means["note"] != NO_LABEL
    yield Cell(_part(good[0] + bad[0], found["n"]), "share")
    for number in (good[1], *bad):
        yield Cell(_part(number, found["n"]) if is_labelled else NONE, "share")
    gathered = rows.get((GATHERED, "all"))
    yield Cell(auc_text(gathered) if gathered and is_labelled else NONE)


def _part(number: int, whole: int) -> str:
    return f"{count_text(number)} ({share(number, whole)})"
