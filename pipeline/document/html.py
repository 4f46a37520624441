"""Renders documents as fragments of HTML, for notebooks."""

from __future__ import annotations

from html import escape

from goodgain.pipeline.document.model import Block, Cell, Document, Heading, Sentence, TableColumn
from goodgain.pipeline.document.safe_text import printable

# Styles stand in the elements, since notebooks and their exports drop style sheets.
_MONOSPACED = "font-family: monospace; white-space: pre-wrap"
_STYLES = {
    "": "",
    "strong": "font-weight: bold",
    "quiet": "opacity: 0.7",
    "good": "color: #188038",
    "bad": "color: #d93025",
    "warning": "color: #b06000",
    "failure": "font-weight: bold; color: #d93025",
}


def fragment_of(document: Document) -> str:
    """A document as one element of HTML; its texts are escaped."""
    return f'<div style="{_MONOSPACED}">{"".join(map(_block, document.blocks))}</div>'


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        name = "h5" if block.minor else "h4"
        return f"<{name}>{_safe(block.text)}</{name}>"
    if isinstance(block, Sentence):
        style = f"{_STYLES[block.tone]}; margin: 0.2em 0 0.2em {block.indent}em".lstrip("; ")
        return f'<p style="{style}">{_safe(block.text)}</p>'
    block = block.narrow
    aligned = list(map(_style, block.columns))
    head = "".join(
        f'<th style="{style}">{_safe(column.heading)}</th>'
        for column, style in zip(block.columns, aligned, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(_cell(cell, style) for cell, style in zip(row, aligned, strict=False))
        + "</tr>"
        for row in block.rows
    )
    if any(column.heading for column in block.columns):
        body = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f"<table>{body}</table>"


def _style(column: TableColumn) -> str:
    side = "right" if column.right else "left"
    return f"text-align: {side}" + ("; white-space: nowrap" if column.whole else "")


def _cell(cell: Cell, aligned: str) -> str:
    text = _safe(cell.shown) + "".join(
        f'<br><span style="{_STYLES["quiet"]}">{_safe(line)}</span>' for line in cell.below
    )
    style = f"{aligned}; {_STYLES[cell.tone]}".rstrip("; ")
    return f'<td style="{style}">{text}</td>'


def _safe(text: str) -> str:
    return escape(printable(text))
