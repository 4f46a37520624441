"""The way of good documents, from found to opened to cited, and what was lost on it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from goodgain.pipeline.document.model import Cell, TableBlock, TableColumn, table
from goodgain.pipeline.document.numbers import count_text, share
from goodgain.pipeline.results.way_sums import way_numbers
from goodgain.pipeline.studies.comparison.ways import ArmWays
from goodgain.transforms.core.wording import format_count, pluralize

Row = Mapping[str, Any]
_LONGEST_NAME = 60


class WayStep(Struct, frozen=True):
    """A step of the way.

    Attributes:
      label: what became of the documents: found, opened, cited.
      count: the number of good documents that search found and that got so far.
      share: of those found, from 0 to 1.
      text: both as text.
      lost: how many did not get so far, in words; "" for the first step.
    """

    label: str
    count: int
    share: float
    text: str
    lost: str


class Way(Struct, frozen=True):
    """The way of the good documents of some conversations.

    Attributes:
      name: the slice, or "" for all conversations.
      steps: those that the records tell of.
      beside: what was opened or cited beside it, in sentences.
    """

    name: str
    steps: tuple[WayStep, ...]
    beside: tuple[str, ...]


class WaySums:
    """Sums over the conversations of some slices, from their rows of `conversations`."""

    def __init__(self, slices: Sequence[Mapping[str, str]]) -> None:
        """Sum for each of the slices, given by their attributes; {} is all conversations."""
        self._slices = slices
        self._sums: list[dict[str, int]] = [{} for _ in slices]

    def add(self, row: Row) -> None:
        """Add a conversation that is in the means."""
        numbers = way_numbers(row)
        for attributes, sums in zip(self._slices, self._sums, strict=True):
            own = row["attributes"]
            if all(own.get(name, "") == value for name, value in attributes.items()):
                for name, number in numbers.items():
                    sums[name] = sums.get(name, 0) + number

    def ways(self) -> list[Way]:
        """The way in each slice; empty if no record is of opened or cited documents."""
        named = [_name(attributes) for attributes in self._slices]
        return _ways_of(zip(named, self._sums, strict=True))

    def calls(self) -> str:
        """How many calls of all conversations brought nothing, in one sentence; "" if none."""
        sums = self._sums[0] if self._sums else {}
        shares = [
            f"{share(sums[name], sums['calls'])} {words}"
            for name, words in (
                ("queries_repeated", "repeat the query of an earlier one"),
                ("calls_empty", "returned nothing"),
                ("calls_failed", "failed"),
            )
            if sums.get(name)
        ]
        if not shares:
            return ""
        return f"Of {format_count(sums['calls'], 'search call')}, {'; '.join(shares)}."


def ways_of_arms(ways: Iterable[ArmWays], slices: Container[Mapping[str, str]]) -> list[Way]:
    """The ways of both arms, in each of the slices.

    Args:
      ways: of the manifest of a comparison: the sums of both arms by slice.
    """
    return _ways_of(
        (", ".join(filter(None, (_name(way.slice), arm))), sums)
        for way in ways
        if way.slice in slices
        for arm, sums in (("base", way.base), ("candidate", way.candidate))
    )


def losses(way: Way) -> str:
    """What was lost on the way, in one sentence; "" without good documents."""
    found, *later = way.steps
    if not found.count or not later:
        return ""
    lost = " and ".join(step.lost for step in later)
    return f"Of {format_count(found.count, 'good document')} found, {lost}."


def way_table(ways: Iterable[Way]) -> TableBlock:
    """The way in each slice, step by step, with a picture."""
    return table(
        (
            TableColumn("conversations"),
            TableColumn(""),
            TableColumn("good documents", wide=True),
            TableColumn("number and share", right=True),
            TableColumn("lost"),
        ),
        [
            (
                Cell("" if at else way.name or "all", longest=_LONGEST_NAME),
                step.label,
                Cell("", "bar", drawn=(step.share,)),
                step.text,
                step.lost,
            )
            for way in ways
            for at, step in enumerate(way.steps)
        ],
        "Good documents found, opened and cited",
    )


def _ways_of(sums: Iterable[tuple[str, Mapping[str, int]]]) -> list[Way]:
    known = [(name, counts) for name, counts in sums if counts]
    if not any(counts["opens"] or counts["cites"] for _, counts in known):
        return []
    return [
        Way(name, tuple(_steps(counts)), tuple(_documents_beside(counts))) for name, counts in known
    ]


def _name(attributes: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in attributes.items())


def _steps(sums: Mapping[str, int]) -> Iterable[WayStep]:
    found = sums["GR"]
    yield WayStep("found", found, float(found > 0), count_text(found), "")
    for did, records, never in (
        ("opened", "opens", "never opened"),
        ("cited", "cites", "never cited"),
    ):
        if sums[records]:
            count = sums[did]
            text = f"{count_text(count)}, {share(count, found)}" if found else count_text(count)
            lost = found - count
            was = pluralize(lost, "was", "were")
            words = f"{count_text(lost)} ({share(lost, found)}) {was} {never}" if found else ""
            yield WayStep(did, count, count / found if found else 0.0, text, words)


def _documents_beside(sums: Mapping[str, int]) -> Iterable[str]:
    for name, what, how in (
        ("opened_unsurfaced", "opened document", "found by no search"),
        ("cited_unsurfaced", "cited document", "found by no search"),
        ("cited_unopened", "cited document", "never opened"),
    ):
        if number := sums[name]:
            yield f"{format_count(number, what)} {pluralize(number, 'was', 'were')} {how}."
