"""Renders a self-contained page from a template, its data, styles and scripts."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from goodgain.pipeline.document.model import Cell
from goodgain.pipeline.document.page import Page
from goodgain.pipeline.document.safe_text import printable
from goodgain.pipeline.views.pages.data.definitions import Definition
from goodgain.transforms.core.metrics.by_name import metric_by_name

_PACKAGE, _FOLDER = "goodgain.pipeline.views.pages", "assets"
_LIBRARY = "plotly-basic.min.js.gz"  # plotly.js-basic-dist-min of npm, 4.1.1
_STYLES = ("report.css", "parts.css")
_COMMON_SCRIPTS = (
    "library.js", "data.js", "theme.js", "marks.js", "pointed.js", "tables.js", "definitions.js",
    "page.js",
)  # fmt: skip
_CODE = re.compile("`([^`]+)`")
_OPTION = re.compile("(?<![-/=\\w])--[a-z][a-z-]*[a-z]")
_PERCENT = re.compile("(?<=\\d) (?=%)")
# In JSON these characters occur only in strings, where an escape means the same. Escaped, no string
# can end the element that contains the JSON, or begin another.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def render_page(page: Page, data: Any, scripts: Sequence[str]) -> bytes:
    """Render a page, HTML in UTF-8, that loads nothing and runs no script but its own.

    Args:
      page: what it says; its texts are escaped.
      data: for its charts.
      scripts: file names, in order; they run after the scripts of every page, in one scope with
        these.
    """
    code = (
        '"use strict";\n(() => {\n'
        + "\n".join(_asset(name) for name in (*_COMMON_SCRIPTS, *scripts))
        + "\n})();\n"
    )
    html = (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            content_policy=_content_policy(_digest(code), _library().digest),
            data=json_island(data),
            style=Markup("\n".join(_asset(name) for name in _STYLES)),
            library=Markup(_library().packed),
            script=Markup(code),
        )
    )
    return html.encode("utf-8", "backslashreplace")


def json_island(data: Any) -> Markup:
    """JSON that is safe inside a `script` element, whatever its strings contain."""
    text = msgspec.json.encode(data).decode()
    for character, escaped in _ESCAPES.items():
        text = text.replace(character, escaped)
    return Markup(text)


# Cached with its compiled templates, since a nightly job and the tests render many pages.
@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE, _FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        kind=lambda block: type(block).__name__,
        anchor=lambda metric: Definition(metric_by_name(metric)).anchor,
        shown=_show,
        words=_words,
        printable=printable,
    )
    return environment


def _show(cell: Cell) -> str:
    return cell.shown if cell.kind == "code" else _unbroken(cell.shown)


def _words(text: str) -> Markup:
    """Words as HTML; what stands in backquotes is code, and no line breaks after dashes."""
    words = str(escape(_unbroken(printable(text))))
    unbroken = _OPTION.sub(r'<span class="whole">\g<0></span>', words)
    return Markup(_CODE.sub(r"<code>\1</code>", unbroken))


def _unbroken(text: str) -> str:
    """Text in which no line ends before a percent sign."""
    return _PERCENT.sub("\N{NO-BREAK SPACE}", text)


class _Library(NamedTuple):
    """Plotly's charts of lines, points and bars, which a page unpacks itself.

    Attributes:
      packed: its text as gzip and base64, a ninth of all of plotly's size.
      digest: of the text.
    """

    packed: str
    digest: str


@cache
def _library() -> _Library:
    packed = files(_PACKAGE).joinpath(_FOLDER, _LIBRARY).read_bytes()
    return _Library(b64encode(packed).decode(), _digest(gzip.decompress(packed).decode()))


def _digest(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()


def _content_policy(*digests: str) -> str:
    """A policy that allows only scripts with these digests, and no loading from anywhere."""
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return files(_PACKAGE).joinpath(_FOLDER, *name.split("/")).read_text(encoding="utf-8")
