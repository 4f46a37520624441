"""A document for eyes: headings, sentences and tables with typed cells.

Each subject (a run, a comparison, a gate, ...) is built into one document, and each medium
(terminal, HTML, Markdown) has one renderer of documents. All numbers are text by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from msgspec import Struct

from goodgain.pipeline.document.numbers import (
    NONE,
    clipped_interval,
    count_text,
    difference_text,
    interval_text,
    mean_interval_text,
    mean_text,
    value_text,
)
from goodgain.pipeline.document.safe_text import printable, shorten
from goodgain.transforms.core.metrics.by_name import metric_by_name

Tone: TypeAlias = Literal["", "strong", "quiet", "good", "bad", "warning", "failure"]
Kind: TypeAlias = Literal[
    "text", "term", "value", "mean", "interval", "difference", "share", "count", "place", "verdict",
    "code", "bar", "range",
]  # fmt: skip
_TONES: dict[str, Tone] = {
    "better": "good",
    "worse": "bad",
    "changed": "warning",
    "not comparable": "warning",
    "passed": "good",
    "failed": "bad",
    "skipped": "warning",
}


class Cell(Struct, frozen=True):
    """One cell of a table.

    Attributes:
      text: what it shows; may come from traces, so renderers escape it.
      below: further lines, less prominent.
      longest: the text is cut to this many characters; None = as it is.
      metric: the metric that a term names.
      link: where a page leads from it; "" = nowhere.
      drawn: the numbers of a picture: the share of a `bar`; of a `range` from 0 to 1 its value and
        ends. Only pages show pictures.
    """

    text: str
    kind: Kind = "text"
    tone: Tone = ""
    below: tuple[str, ...] = ()
    longest: int | None = None
    metric: str = ""
    link: str = ""
    drawn: tuple[float | None, ...] = ()

    @property
    def shown(self) -> str:
        """Its text as a printable line, cut to its length."""
        return printable(self.text) if self.longest is None else shorten(self.text, self.longest)


class TableColumn(Struct, frozen=True):
    """One column of a table.

    Attributes:
      right: whether its cells are aligned to the right, as numbers are.
      widest: most characters on a terminal, which folds longer cells; None = no limit.
      whole: whether a line never ends within its cells.
      wide: whether only pages show it, which have room.
      long: the heading where there is room; "" = the same.
      part: names its numbers for a page, whose reader may choose another slice; "" = they stay.
    """

    heading: str
    right: bool = False
    widest: int | None = None
    whole: bool = False
    wide: bool = False
    long: str = ""
    part: str = ""


class TableBlock(Struct, frozen=True):
    """Rows of cells below headings; without any heading, a list of facts.

    Attributes:
      caption: says on a page what the table shows.
    """

    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    @property
    def narrow(self) -> TableBlock:
        """The table without the columns that only pages show."""
        shown = [at for at, column in enumerate(self.columns) if not column.wide]
        if len(shown) == len(self.columns):
            return self
        rows = (tuple(row[at] for at in shown) for row in self.rows)
        return TableBlock(tuple(self.columns[at] for at in shown), tuple(rows), self.caption)


class Heading(Struct, frozen=True):
    """A heading; a `minor` one stands close to what is above."""

    text: str
    minor: bool = False


class Sentence(Struct, frozen=True):
    """One or more sentences, or another line of text.

    Attributes:
      indent: depth of the line below what it belongs to.
      apart: whether space separates it from the sentence before.
      whole: whether a terminal must not break it into lines, like a command to copy.
      anchor: names it for a page, whose script may replace its text.
    """

    text: str
    tone: Tone = ""
    indent: int = 0
    apart: bool = False
    whole: bool = False
    anchor: str = ""


Block: TypeAlias = Heading | Sentence | TableBlock
_Block = TypeVar("_Block", bound=Struct)


class Document(Struct, frozen=True):
    """What a reader sees of one subject, in order."""

    blocks: tuple[Block, ...]


def document(*parts: Block | Iterable[Block] | None) -> Document:
    """A document of blocks and of series of blocks, without what is None."""
    return Document(join_blocks(*parts))


def join_blocks(*parts: _Block | Iterable[_Block] | None) -> tuple[_Block, ...]:
    """Blocks from blocks and from series of blocks, without what is None."""
    blocks: list[_Block] = []
    for part in parts:
        if isinstance(part, Struct):
            blocks.append(part)
        elif part is not None:
            blocks.extend(part)
    return tuple(blocks)


def sentences(lines: Iterable[str], tone: Tone = "", indent: int = 0) -> list[Sentence]:
    """Lines with one tone."""
    return [Sentence(line, tone, indent) for line in lines]


def table(
    columns: Sequence[TableColumn | str], rows: Iterable[Sequence[Cell | str]], caption: str = ""
) -> TableBlock:
    """A table from columns or their headings, and from rows of cells or their texts.

    Columns that are given as headings hold numbers, but the first.
    """
    return TableBlock(
        tuple(
            column
            if isinstance(column, TableColumn)
            else TableColumn(column, right=at > 0, whole=at > 0)
            for at, column in enumerate(columns)
        ),
        tuple(
            tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows
        ),
        caption,
    )


def facts(pairs: Iterable[tuple[str, str]]) -> TableBlock:
    """Names with what is to say about each."""
    rows = [(Cell(name, tone="quiet"), Cell(text)) for name, text in pairs]
    return TableBlock((TableColumn(""), TableColumn("")), tuple(rows))


def term(metric: str, note: str = "") -> Cell:
    """The name of a metric for readers, with a note in brackets."""
    label = metric_by_name(metric).label
    return Cell(f"{label} ({note})" if note else label, "term", metric=metric)


def value(metric: str, number: float | None) -> Cell:
    """A value of a metric in its unit."""
    return Cell(value_text(metric, number), "value")


def mean(row: Any) -> Cell:
    """The mean of a row of `means`, which says if it is over less than half."""
    return Cell(mean_text(row["metric"], row["mean"], row["n"], row["undefined"]), "mean")


def mean_interval(row: Any) -> Cell:
    """The interval of a row of `means`."""
    return Cell(mean_interval_text(row["metric"], *clipped_interval(row)), "interval")


def difference(metric: str, number: float | None, signed: bool = True) -> Cell:
    """A difference of a metric in its unit."""
    return Cell(difference_text(metric, number, signed), "difference")


def interval(metric: str, low: float | None, high: float | None) -> Cell:
    """The interval of a difference."""
    return Cell(interval_text(metric, low, high), "interval")


def count(number: int | None) -> Cell:
    """A count; "" for none."""
    return Cell("" if number is None else count_text(number), "count")


def verdict(word: str, note: str = "") -> Cell:
    """A verdict of a comparison or a gate in its colour."""
    return Cell(f"{word} {note}" if note else word, "verdict", _TONES.get(word, ""))


def place(text: str | None) -> Cell:
    """Where something is, or a name from the data; a dash for none."""
    return Cell(text or NONE, "place")
