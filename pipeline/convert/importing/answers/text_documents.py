"""Documents in an answer that is a text: links, lists within it, and blocks of named lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from goodgain.pipeline.convert.importing.answers.document_fields import is_document, url_of
from goodgain.pipeline.convert.importing.answers.written_values import parse_written_value

Document = dict[str, Any]

_MARKDOWN = re.compile(
    r"(?<!!)\[(?P<title>[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]"
    r"\(\s*<?(?P<url>(?:https?|file|ftp)://[^\s<>]*?)>?(?:\s+\"[^\"\n]*\")?\s*\)"
    r"(?![^\s()]*\))"
)
_IMAGE = re.compile(r"!\[[^\[\]\n]*\]\([^()\n]*\)")
_BARE = re.compile(r"(?:https?|ftp)://[^\s<>\"'`\]|]+")
_MARKER = re.compile(r"^\s*(?:[-*+•>#]+\s*|\[?\d{1,3}[\].):]+\s*|\[\^?\d+\]\s*|\*\*)+")
_NAME_OF_LINE = r"(?:title|url|link|source|href|snippet|description|summary|content|text)"
_LABEL = re.compile(rf"^\W*{_NAME_OF_LINE}\W*:\W*", re.IGNORECASE)
_NAMED_LINE = re.compile(
    r"^\s*(?:[-*•]\s*|\d{1,3}[.)]\s*|\[\d+\]\s*)?\**(?P<name>title|url|link|href|source|snippet|"
    r"description|summary|content|text|highlights?|author|published(?: date)?|date|score|"
    r"doc(?:ument)?[_ ]?id|id|page)\**\s*:\**\s*(?P<value>.*)$",
    re.IGNORECASE,
)
_FIELDS = {
    **dict.fromkeys(("url", "link", "href", "source"), "url"),
    **dict.fromkeys(("title", "page"), "title"),
    **dict.fromkeys(("snippet", "description", "summary", "content", "text"), "snippet"),
    **dict.fromkeys(("highlight", "highlights"), "snippet"),
    **dict.fromkeys(("doc_id", "docid", "doc id", "document_id", "document id", "id"), "id"),
    "documentid": "id",
    "score": "score",
}
_SEARCH_R1 = re.compile(
    r"Doc\s*\d+\s*\(\s*Title:\s*(?:\"(?P<quoted>.*?)\"|(?P<title>.*?))\s*\)", re.DOTALL
)
_WITH_ID = re.compile(
    r"^\W*(?:(?:doc|document|result|passage)\s*\d*\W{1,3})?(?:docid|doc_id|document_id)\s*[:=]\s*"
    r"(?P<id>[^\s\])]+)[\])]?[ \t]*:?",
    re.IGNORECASE | re.MULTILINE,
)
_LIST_OF_LINKS = "Links:"
_INFORMATION = re.compile(r"<information>(?P<text>.*?)(?:</information>|\Z)", re.DOTALL)
# What DuckDuckGo's tool of LangChain prints.
_IN_ONE_LINE = re.compile(
    r"snippet:\s*(?P<snippet>.*?),\s*title:\s*(?P<title>.*?),\s*link:\s*(?P<url>[^\s,\]]+)",
    re.DOTALL,
)
_DASHES = " -\u2013\u2014:|"
_raw_decode = json.JSONDecoder().raw_decode


def parse_text_documents(text: str) -> list[Document] | None:
    """The documents that a text lists, by the first way of listing that it follows; else None."""
    for reader in _READERS:
        documents = reader(text)
        if documents:
            return documents
    return None


def links(text: str) -> list[Document] | None:
    """Markdown links and bare URLs, in order, each URL once, with the lines around them.

    The title is the link's text or, of a bare URL, the line before it or the rest of its line; the
    snippet is what follows up to the next link.
    """
    text = _IMAGE.sub("", text)
    found = list(_links(text))
    ends = [0, *(match.end() for match in found)]
    begins = [
        _begin_of_link(text, match.start(), end) for match, end in zip(found, ends, strict=False)
    ]
    documents: dict[str, Document] = {}
    for match, begin, after in zip(found, begins, [*begins[1:], len(text)], strict=False):
        title, url = _title_and_url(text, match, begin)
        document = _present(
            {"url": url, "title": title, "snippet": _plain(text[match.end() : after])}
        )
        documents[url] = document | documents.get(url, {})
    return list(documents.values()) or None


def _links(text: str) -> Iterator[re.Match[str]]:
    """Markdown links, and bare URLs outside them."""
    end = 0
    for match in _MARKDOWN.finditer(text):
        yield from _BARE.finditer(text, end, match.start())
        yield match
        end = match.end()
    yield from _BARE.finditer(text, end)


def _begin_of_link(text: str, start: int, earlier_end: int) -> int:
    """Where the part of a link begins: at its line, or at the one before a URL on its own."""
    line = text.rfind("\n", earlier_end, start) + 1
    begin = max(line, earlier_end)
    if not _strip_label(text[begin:start]) and line > earlier_end:
        before = text.rfind("\n", earlier_end, max(line - 1, earlier_end)) + 1
        before = max(before, earlier_end)
        if text[before:line].strip():
            return before
    return begin


def _title_and_url(text: str, match: re.Match[str], begin: int) -> tuple[str | None, str]:
    if match.re is _MARKDOWN:
        return _strip_label(match["title"]) or None, match["url"]
    url = match[0].rstrip(".,;:!?*_")
    while url.endswith(")") and url.count("(") < url.count(")"):
        url = url[:-1]
    before = [_strip_label(line) for line in text[begin : match.start()].splitlines()]
    return next((line.strip(_DASHES + "(") for line in before if line), None) or None, url


def _strip_label(line: str) -> str:
    """A line without its number, its bullet and a name like `Title:`."""
    unmarked = _MARKER.sub("", line).strip().strip("*").strip()
    return _LABEL.sub("", unmarked + " ").strip() if _LABEL.match(unmarked + " ") else unmarked


def _plain(text: str) -> str | None:
    lines = (_strip_label(line).strip(_DASHES + ")") for line in text.splitlines())
    return "\n".join(line for line in lines if line) or None


def first_list(text: str) -> list[Document] | None:
    """The first JSON list of documents inside a text, with those that stand behind `Links:`, too.

    Claude Code's search has such a list for each query that it took.
    """
    found: list[Document] = []
    at = -1
    while (at := text.find("[", at + 1)) >= 0:
        if text[at + 1 : at + 20].lstrip()[:1] != "{":
            continue
        if found and not text[:at].rstrip().endswith(_LIST_OF_LINKS):
            continue
        try:
            value, end = _raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if value and all(map(is_document, value)):
            found += value
            at = end - 1
    return found or None


def parse_numbered_documents(text: str) -> list[Document] | None:
    """Blocks with a heading: `Doc 1(Title: ...) text`, as Search-R1 has them, `[docid: 7] text`."""
    inside = "\n".join(match["text"] for match in _INFORMATION.finditer(text)) or text
    begins = list(_SEARCH_R1.finditer(inside)) or list(_WITH_ID.finditer(inside))
    ends = [*(match.start() for match in begins[1:]), len(inside)]
    documents = []
    for match, end in zip(begins, ends, strict=False):
        named = {name: (value or "").strip() for name, value in match.groupdict().items()}
        title = named.get("quoted") or named.get("title")
        snippet = inside[match.end() : end].strip()
        documents.append(_present({"id": named.get("id"), "title": title, "snippet": snippet}))
    return documents or None


def parse_named_lines(text: str) -> list[Document] | None:
    """Blocks of lines like `Title: ...`, `URL: ...`; a name that repeats begins the next block.

    Lines without a name continue the text of the block. Blocks without address, id or title are
    no documents.
    """
    blocks: list[Document] = [{}]
    field = ""
    for line in text.splitlines():
        match = _NAMED_LINE.match(line)
        if match is None:
            if field == "snippet" and line.strip():
                blocks[-1]["snippet"] = f"{blocks[-1].get('snippet', '')}\n{line.strip()}".strip()
            continue
        field = _FIELDS.get(match["name"].lower(), "")
        value = match["value"].strip().strip("*").strip()
        if not field:
            continue
        if field in blocks[-1] and field != "snippet":
            blocks.append({})
        if field == "url" and value.startswith("{"):  # the metadata that Python prints
            value = _address_in(value)
        if value and (field != "url" or match["name"].lower() != "source" or "/" in value):
            earlier = blocks[-1].get(field)
            blocks[-1][field] = f"{earlier}\n{value}" if earlier else value
    documents = [block for block in blocks if "url" in block or {"title", "snippet"} <= set(block)]
    named = sum("title" in block or "snippet" in block for block in documents)
    return documents if documents and named == len(documents) else None


def _address_in(written: str) -> str:
    """The address in a document's metadata, which a text has as JSON or as Python prints it."""
    read = parse_written_value(written)
    return (None if read is None else url_of(read.value)) or written


def lines_of_duckduckgo(text: str) -> list[Document] | None:
    """`snippet: ..., title: ..., link: ...`, several of which may stand in one line."""
    if ", link:" not in text:
        return None
    return [_present(match.groupdict()) for match in _IN_ONE_LINE.finditer(text)] or None


def _present(document: Document) -> Document:
    return {name: value for name, value in document.items() if value}


_READERS: tuple[Callable[[str], list[Document] | None], ...] = (
    first_list,
    parse_numbered_documents,
    lines_of_duckduckgo,
    parse_named_lines,
    links,
)
