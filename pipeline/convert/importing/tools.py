"""Which tools search, which open documents and which do neither, decided once for an import."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from goodgain.pipeline.convert.importing.tool_answers import ToolAnswer
from goodgain.transforms.core.records.search_call import OPEN, SEARCH

NEITHER = "neither"  # instead of an action
NOT_NAMED = "not under search_tools"
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SEARCH_WORDS = frozenset(
    (
        "search", "searches", "searcher", "websearch", "retrieve", "retriever", "retrieval",
        "lookup", "find", "query", "rag", "grep", "duckduckgo", "google", "bing", "brave",
        "tavily", "serper", "serpapi", "wikipedia", "arxiv", "pubmed", "similarity", "knn",
        "recall", "knowledge", "kb",
    )
)  # fmt: skip
# Of a span that says nothing about its kind, only these make it likely to be one: a
# `transform_query` hands documents on.
_WORDS_OF_SEARCHES = frozenset(
    (
        "search", "searches", "websearch", "retrieve", "retriever", "retrieval", "duckduckgo",
        "tavily", "serper", "serpapi", "bing", "brave",
    )
)  # fmt: skip
_OPEN_WORDS = frozenset(
    (
        "open", "opens", "fetch", "fetcher", "webfetch", "extract", "scrape", "scraper",
        "crawl", "browse", "click", "visit", "read", "reader", "navigate", "goto", "download",
        "view",
    )
)  # fmt: skip
# What a tool gets when it does not search.
_GET_WORDS = frozenset(
    (
        "get", "load", "show",
    )
)  # fmt: skip
_THINGS = frozenset(
    (
        "document", "documents", "doc", "docs", "page", "pages", "webpage", "file", "files",
        "content", "contents", "url", "urls", "article", "articles", "message", "messages",
        "email", "emails", "website", "text", "chunk", "chunks", "passage",
    )
)  # fmt: skip


class ToolUse(Struct):
    """What the calls of one tool have shown; each number counts calls.

    Attributes:
      answered: answers with documents; `singles` of them are one document by itself.
      listed: answers whose text lists documents.
      empty: answers that say that nothing was found.
      failed: calls with an error, and without documents.
      lists, texts: answers that are lists of something else, or texts that list no documents.
      unrecorded: calls without an answer.
      queries, addresses: calls with a query, or with URLs or ids, among their arguments; `urls`
        with URLs.
    """

    calls: int = 0
    answered: int = 0
    singles: int = 0
    listed: int = 0
    empty: int = 0
    failed: int = 0
    lists: int = 0
    texts: int = 0
    unrecorded: int = 0
    queries: int = 0
    addresses: int = 0
    urls: int = 0

    @property
    def with_documents(self) -> int:
        """Number of answers with documents, as values or listed in a text."""
        return self.answered + self.listed

    @property
    def others(self) -> int:
        """Number of calls that answered with something else, or whose answer is not recorded."""
        return self.lists + self.texts + self.unrecorded

    def add(self, answer: ToolAnswer) -> None:
        """Count a call by its answer and arguments."""
        self.calls += 1
        self.queries += answer.has_query
        self.addresses += answer.has_address
        self.urls += answer.has_url
        if answer.found:
            self.answered += 1
            self.singles += answer.is_single
        elif answer.error is not None:
            self.failed += 1
        elif answer.found is not None:
            self.empty += 1
        elif answer.listed:
            self.listed += 1
        elif answer.is_list:
            self.lists += 1
        elif answer.otherwise:
            self.texts += 1
        else:
            self.unrecorded += 1


def is_named_as_search(name: str) -> bool:
    """Whether a span is likely to be a search by its name alone."""
    return not _WORDS_OF_SEARCHES.isdisjoint(word.lower() for word in _WORDS.findall(name))


class ToolVerdict(Struct, frozen=True):
    """How a tool is classified, and why, in words."""

    action: str
    why: str


class Tools:
    """The tools of an import: their calls are noted first, then each tool is classified."""

    def __init__(self, search_tools: Sequence[str] = (), open_tools: Sequence[str] = ()) -> None:
        """Take the patterns of a mapping, which come before everything else."""
        self._patterns = {SEARCH: search_tools, OPEN: open_tools}
        self._uses: dict[str, ToolUse] = {}
        self._verdicts: dict[str, ToolVerdict] = {}

    def add(self, tool: str, answer: ToolAnswer) -> None:
        """Note a call, before the first use of `verdict`."""
        self._uses.setdefault(tool, ToolUse()).add(answer)

    def verdict(self, tool: str) -> ToolVerdict:
        """How a tool is classified by all its calls."""
        known = self._verdicts.get(tool)
        if known is None:
            known = self._verdicts[tool] = self._classify(tool)
        return known

    def finds(self, tool: str) -> bool:
        """Whether a tool searches, and found documents at least once."""
        return self.verdict(tool).action == SEARCH and self._uses[tool].with_documents > 0

    def is_named(self, tool: str) -> bool:
        """Whether a pattern of `search_tools` matches a tool."""
        return _find_pattern(self._patterns[SEARCH], tool) is not None

    def find_unmatched(self) -> list[str]:
        """The patterns that match no tool, each after the key under which it stands."""
        return [
            f"{'search_tools' if action == SEARCH else 'open_tools'}: {pattern}"
            for action, patterns in self._patterns.items()
            for pattern in patterns
            if not any(fnmatchcase(tool, pattern) for tool in self._uses)
        ]

    def _classify(self, tool: str) -> ToolVerdict:
        for action, key in ((SEARCH, "search_tools"), (OPEN, "open_tools")):
            pattern = _find_pattern(self._patterns[action], tool)
            if pattern is not None:
                return ToolVerdict(action, f"{key}: {pattern}")
        use = self._uses.get(tool, ToolUse())
        verdict = _by_use(use, frozenset(word.lower() for word in _WORDS.findall(tool)))
        if verdict.action == SEARCH and self._patterns[SEARCH]:
            return ToolVerdict(NEITHER, NOT_NAMED)
        return verdict


def _find_pattern(patterns: Iterable[str], tool: str) -> str | None:
    return next((pattern for pattern in patterns if fnmatchcase(tool, pattern)), None)


def _by_use(use: ToolUse, words: frozenset[str]) -> ToolVerdict:
    searches = not _SEARCH_WORDS.isdisjoint(words)
    opens = not _OPEN_WORDS.isdisjoint(words)
    opens |= not (_GET_WORDS.isdisjoint(words) or _THINGS.isdisjoint(words))
    if use.addresses > use.queries or (opens and not searches and use.addresses):
        if opens:
            return ToolVerdict(OPEN, "its name, and arguments that are URLs or ids")
        by_ids = use.answered and not use.urls and not use.queries
        by_urls = use.urls and not searches and (use.answered or use.listed or use.texts)
        if by_ids or by_urls:
            return ToolVerdict(OPEN, "its arguments are URLs or ids")
    if opens and not searches and not use.queries and (use.singles or use.texts):
        return ToolVerdict(OPEN, "its name, and answers that are one document")
    if use.answered > use.singles or (use.singles and (use.queries or searches)):
        return ToolVerdict(SEARCH, "its answers are documents")
    if use.listed and (use.queries or searches):
        return ToolVerdict(SEARCH, "its answers are texts that list documents")
    if use.lists:
        return ToolVerdict(NEITHER, "its answers are lists of something else than documents")
    if use.texts or use.listed:
        return ToolVerdict(NEITHER, "its answers are texts that list no documents")
    if use.queries and (use.empty or (searches and use.failed)):
        return ToolVerdict(SEARCH, "it has a query, and found nothing")
    if searches and (use.empty or use.failed):
        return ToolVerdict(SEARCH, "its name, and it found nothing")
    is_named = not _WORDS_OF_SEARCHES.isdisjoint(words)
    if is_named and use.unrecorded and not use.addresses:
        return ToolVerdict(SEARCH, "its name; answers are not recorded, or cannot be read")
    return ToolVerdict(NEITHER, "no answer holds documents")
