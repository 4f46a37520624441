"""A page: sections of blocks, and the blocks that only pages have, such as charts and menus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, Union

from msgspec import Struct

from goodgain.pipeline.document.model import Cell, Heading, Sentence, TableBlock, join_blocks


class SliceName(Struct, frozen=True):
    """Names the slice that the reader chose."""


class Chart(Struct, frozen=True):
    """A plot with its numbers as a table; the page's script draws both from the page's data.

    Attributes:
      name: of the function that draws it.
      note: what it shows besides its title.
    """

    name: str
    title: str
    note: str


class Menu(Struct, frozen=True):
    """A menu that plots follow.

    Attributes:
      options: values and their texts, by the title of their group; "" = no group.
      chosen: the value that is chosen at first; "" = the first.
      tells: whether the definition of the chosen metric stands beside it.
    """

    id: str
    label: str
    options: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    chosen: str = ""
    tells: bool = False


class Menus(Struct, frozen=True):
    """Menus in one line."""

    menus: tuple[Menu, ...]


class CardLine(Struct, frozen=True):
    """A line of a card.

    Attributes:
      part: names its number if it follows the chosen slice.
      before, after: words around it, less prominent.
    """

    cell: Cell
    look: Literal["number", "small", "verdict", "reason", "meaning"] = "small"
    part: str = ""
    before: str = ""
    after: str = ""


class Card(Struct, frozen=True):
    """A metric with its most important numbers."""

    title: Cell
    lines: tuple[CardLine, ...]


class Cards(Struct, frozen=True):
    """The metrics that are shown first."""

    cards: tuple[Card, ...]


class Entry(Struct, frozen=True):
    """The definition of a metric.

    Attributes:
      anchor: to which terms link.
      notes: further sentences, less prominent.
    """

    anchor: str
    label: str
    unit: str
    meaning: str
    formula: str
    notes: tuple[str, ...]


class Definitions(Struct, frozen=True):
    """Definitions of metrics, folded."""

    title: str
    entries: tuple[Entry, ...]


class CopyCommand(Struct, frozen=True):
    """A command to copy, folded on narrow screens.

    Attributes:
      name: what copying copies.
    """

    text: str
    name: str


class Bar(Struct, frozen=True):
    """An iteration of a conversation as a stacked bar.

    Attributes:
      good, other, copies: its results that are new and good, new and not good, and duplicates.
      words: the same in words, with all else that is known of it.
    """

    good: int
    other: int
    copies: int
    words: str


class Bars(Struct, frozen=True):
    """The iterations of a conversation as stacked bars.

    Attributes:
      words: what they show, for readers who do not see them.
    """

    bars: tuple[Bar, ...]
    words: str


class BarsLegend(Struct, frozen=True):
    """The colours of `Bars`."""


class Details(Struct, frozen=True):
    """Blocks that a reader can unfold."""

    summary: str
    blocks: tuple[PageBlock, ...]
    look: Literal["numbers", "rejection", "conversation"] = "numbers"
    is_open: bool = False


class Beside(Struct, frozen=True):
    """Groups of blocks side by side where there is room."""

    groups: tuple[tuple[PageBlock, ...], ...]
    look: Literal["pair", "reasons"] = "pair"


class Item(Struct, frozen=True):
    """One of several conversations, topics or examples."""

    title: str
    blocks: tuple[PageBlock, ...]


class Items(Struct, frozen=True):
    """A list of conversations, topics or examples."""

    items: tuple[Item, ...]


PageBlock: TypeAlias = Union[
    Heading, Sentence, TableBlock, SliceName, Chart, Menu, Menus, Cards, Definitions, CopyCommand,
    Bars, BarsLegend, "Details", "Beside", "Items",
]  # fmt: skip


class Section(Struct, frozen=True):
    """A part of a page.

    Attributes:
      anchor: to which the table of contents links.
      about: what it shows and how to read it.
      link: its name in the table of contents; "" = the title.
    """

    anchor: str
    title: str
    about: str
    blocks: tuple[PageBlock, ...]
    link: str = ""


class Page(Struct, frozen=True):
    """What a page says; its charts are drawn from data beside it.

    Attributes:
      answers: the main results, in sentences.
      lead: what the page is about.
      parties: who is compared: role, name, and more about each.
      origin: which run it is from.
      slices: the menu of slices, if there are several.
      follows: what follows the menu of slices.
    """

    title: str
    heading: str
    answers: tuple[str, ...]
    lead: str
    sections: tuple[Section, ...]
    parties: tuple[tuple[str, str, str], ...] = ()
    origin: str = ""
    slices: Menu | None = None
    follows: str = ""


def section(
    anchor: str,
    title: str,
    about: str,
    *parts: PageBlock | Iterable[PageBlock] | None,
    link: str = "",
) -> Section:
    """A section of blocks and of series of blocks, without what is None."""
    return Section(anchor, title, about, join_blocks(*parts), link)
