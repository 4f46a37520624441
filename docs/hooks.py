"""What MkDocs does with each page: words in code stay whole, and cells with sentences can be read.

Browsers end lines after hyphens, too, which would leave the `--` of `--max-i` in the line before.
"""

import re

_CODE = re.compile(r"<pre.*?</pre>|<code>([^<]*)</code>", re.DOTALL)
_CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
_WORD = re.compile(r"\S+")
_TAG = re.compile(r"<[^>]*>")
# In characters: code that never breaks, a line of a telephone, and a cell without a sentence.
_SHORT, _LINE, _FEW_WORDS = 24, 40, 24


def on_page_content(html: str, **_: object) -> str:
    """The page with the classes `whole` and `sentences`, for which `tables.css` has the rules."""
    return _CELL.sub(_cell, _CODE.sub(_code, html))


def _code(found: re.Match[str]) -> str:
    if found[1] is None:  # a block, whose lines scroll
        return found[0]
    code = found[1]
    return f"<code>{_whole(code) if len(code) <= _SHORT else _WORD.sub(_word, code)}</code>"


def _word(found: re.Match[str]) -> str:
    return _whole(found[0]) if len(found[0]) <= _LINE else found[0]


def _whole(text: str) -> str:
    return f'<span class="whole">{text}</span>'


def _cell(found: re.Match[str]) -> str:
    if len(_TAG.sub("", found[1])) <= _FEW_WORDS:
        return found[0]
    return f'<td class="sentences">{found[1]}</td>'
