"""Renders documents for a terminal, and as plain text."""

from __future__ import annotations

from io import StringIO

from rich.box import Box
from rich.console import Console, Group
from rich.table import Table as RichTable
from rich.text import Text

from goodgain.pipeline.document.console import on_terminal
from goodgain.pipeline.document.model import Block, Cell, Document, Heading, Sentence, TableBlock
from goodgain.pipeline.document.safe_text import printable

# Only a rule below the heading, no other lines.
_BOX = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
_STYLES = {
    "": "",
    "strong": "bold",
    "quiet": "dim",
    "good": "green",
    "bad": "red",
    "warning": "yellow",
    "failure": "bold red",
}
_WIDTH = 120  # of a plain text


def show(document: Document, console: Console, wraps: bool = True) -> None:
    """Print a document.

    Args:
      wraps: whether sentences are broken at the width of the console.
    """
    before: Block | None = None
    for block in document.blocks:
        if _is_apart(before, block):
            console.print()
        _print(block, console, wraps)
        before = block


def renderable(document: Document) -> Group:
    """A document as rich draws it, for views that are drawn again and again."""
    return Group(
        *(
            _table(block) if isinstance(block, TableBlock) else _line(block)
            for block in document.blocks
        )
    )


def text_of(document: Document) -> str:
    """A document as lines of plain text, each sentence in one line."""
    text = StringIO()
    # Without the last argument, rich would display each line by itself in a notebook.
    console = Console(
        file=text,
        width=_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
        no_color=True,
        force_terminal=False,
        force_jupyter=False,
    )
    show(document, console, wraps=False)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def _is_apart(before: Block | None, block: Block) -> bool:
    """Whether an empty line separates two blocks."""
    if before is None:
        return False
    if isinstance(block, Heading):
        return not block.minor or isinstance(before, TableBlock)
    if isinstance(before, Heading):
        return False
    if isinstance(block, Sentence) and isinstance(before, Sentence):
        return block.apart or "warning" in (before.tone, block.tone)
    return True


def _print(block: Block, console: Console, wraps: bool) -> None:
    if isinstance(block, TableBlock):
        _print_table(_table(block), console)
    else:
        is_whole = isinstance(block, Sentence) and block.whole
        console.print(_line(block), soft_wrap=is_whole or not wraps)


def _print_table(table: RichTable, console: Console) -> None:
    """Print a table, to files and pipes without the blanks with which rich fills its lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as drawn:
        console.print(table)
    lines = (line.rstrip() for line in drawn.get().splitlines())
    console.print(Text("\n".join(lines)), soft_wrap=True)


def _line(block: Heading | Sentence) -> Text:
    if isinstance(block, Heading):
        return Text(printable(block.text), "bold")
    return Text("  " * block.indent + printable(block.text), _STYLES[block.tone])


def _table(block: TableBlock) -> RichTable:
    block = block.narrow
    if any(column.heading for column in block.columns):
        table = RichTable(box=_BOX, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    else:
        table = RichTable.grid(padding=(0, 2))
    for column in block.columns:
        table.add_column(
            Text(printable(column.heading)),
            justify="right" if column.right else "left",
            max_width=column.widest and on_terminal(column.widest),
            no_wrap=column.whole,
            overflow="fold",
        )
    for row in block.rows:
        table.add_row(*map(_cell, row))
    return table


def _cell(cell: Cell) -> Text:
    text = Text(cell.shown, _STYLES[cell.tone])
    for line in cell.below:
        text.append(f"\n{printable(line)}", style="not bold dim")
    return text
