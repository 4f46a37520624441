"""Renders documents as Markdown, for summaries of CI."""

from __future__ import annotations

from goodgain.pipeline.document.model import Block, Cell, Document, Heading, Sentence
from goodgain.pipeline.document.safe_text import printable

_SPECIAL = "\\`*_{}[]<>#|~&!"
_STRONG = ("bad", "failure", "strong")


def markdown_of(document: Document) -> str:
    """A document as GitHub shows it; its texts are escaped."""
    return "\n\n".join(map(_block, document.blocks)) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"### {_escape(block.text)}"
    if isinstance(block, Sentence):
        return _escape(block.text)
    block = block.narrow
    headings = (_escape(column.heading) for column in block.columns)
    rules = ("---:" if column.right else "---" for column in block.columns)
    rows = (map(_cell, row) for row in block.rows)
    lines = [f"| {' | '.join(headings)} |", f"|{'|'.join(rules)}|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def _cell(cell: Cell) -> str:
    shown = " ".join(map(_escape, (cell.shown, *cell.below)))
    return f"**{shown}**" if cell.tone in _STRONG and shown else shown


def _escape(text: str) -> str:
    """Escape Markdown and HTML in a text."""
    return "".join(
        "\\" + character if character in _SPECIAL else character for character in printable(text)
    )
