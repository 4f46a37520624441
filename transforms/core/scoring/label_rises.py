"""Labels of documents whose passages are labelled: the greatest label so far (SPEC 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:  # slow to import, and settings need the type below
    from goodgain.transforms.core.dedup.duplicates import Duplicate

DocumentLabel = Literal["first", "best"]


class LabelRise(Struct, frozen=True):
    """A result with a greater label than all earlier occurrences of its document.

    Attributes:
      index, first: of the result, and of the first occurrence of its document, in the turn.
      label: its own label.
      before: the greatest label before it; None if there was none.
    """

    index: int
    first: int
    label: int
    before: int | None

    def gain(self, good_gain_threshold: int) -> int:
        """What it adds to the good gain of its document, which is 0 below the threshold."""
        if self.label < good_gain_threshold:
            return 0
        return self.label - (self.before or 0) * self._was_good(good_gain_threshold)

    def finds_good(self, good_gain_threshold: int) -> bool:
        """Whether its document is good from here on, and was not before."""
        return self.label >= good_gain_threshold and not self._was_good(good_gain_threshold)

    def _was_good(self, good_gain_threshold: int) -> bool:
        return self.before is not None and self.before >= good_gain_threshold


def label_rises(
    duplicates: Sequence[Duplicate | None], own_labels: Sequence[int | None]
) -> list[LabelRise]:
    """The results of a turn that raise the label of their document, in order."""
    greatest: dict[int, int] = {}
    rises = []
    for index, (duplicate, label) in enumerate(zip(duplicates, own_labels, strict=True)):
        if label is None:
            continue
        first = index if duplicate is None else duplicate.first
        before = greatest.get(first)
        if before is None or label > before:
            greatest[first] = label
            rises.append(LabelRise(index, first, label, before))
    return rises


def raise_labels(
    duplicates: Sequence[Duplicate | None], rises: Iterable[LabelRise]
) -> list[int | None]:
    """By index, the greatest label of the document there."""
    greatest = {rise.first: rise.label for rise in rises}
    return [
        greatest.get(index if duplicate is None else duplicate.first)
        for index, duplicate in enumerate(duplicates)
    ]
