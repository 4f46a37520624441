"""What MkDocs does with each page: words in code stay whole, and cells with sentences can be read.

Browsers end lines after hyphens, too, which would leave the `--` of `--max-i` in the line before,
and between a number and its percent sign.
"""

import re

_CODE = re.compile(r"<pre.*?</pre>|<code>([^<]*)</code>", re.DOTALL)
_CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)
_WORD = re.compile(r"\S+")
_PERCENT = re.compile(r"(?<=\d) (?=%)")
_NUMBERS = re.compile(r"[\d.,()+% -]*\d[\d.,()+% -]*")
_TAG = re.compile(r"<[^>]*>")
# In characters: code that never breaks, a line of a telephone, and a cell without a sentence.
_SHORT, _LINE, _FEW_WORDS = 24, 40, 24


def on_page_content(html: str, **_: object) -> str:
    """The page with classes of code and cells, for which `tables.css` has the rules."""
    return _CELL.sub(_cell, _outside_code(html))


def _outside_code(html: str) -> str:
    parts, end = [], 0
    for found in _CODE.finditer(html):
        parts += [_PERCENT.sub("\N{NO-BREAK SPACE}", html[end : found.start()]), _code(found)]
        end = found.end()
    return "".join((*parts, _PERCENT.sub("\N{NO-BREAK SPACE}", html[end:])))


def _code(found: re.Match[str]) -> str:
    if found[1] is None:  # a block, whose lines scroll
        return found[0]
    code = found[1]
    return f"<code>{_whole(code) if len(code) <= _SHORT else _WORD.sub(_word, code)}</code>"


def _word(found: re.Match[str]) -> str:
    return _whole(found[0]) if len(found[0]) <= _LINE else found[0]


def _whole(text: str) -> str:
    if re.fullmatch(r"\w*_\w*", text):  # a name, which a telephone may break after an underscore
        return f'<span class="whole name">{text.replace("_", "_<wbr>")}</span>'
    return f'<span class="whole">{text}</span>'


def _cell(found: re.Match[str]) -> str:
    text = _TAG.sub("", found[1])
    if _NUMBERS.fullmatch(text):
        return f'<td class="number">{found[1]}</td>'
    if len(text) <= _FEW_WORDS:
        return found[0]
    return f'<td class="sentences">{found[1]}</td>'
