"""Calls of tools, and their results, that stand in a text between tags.

Search-R1 writes `<search>` and `<information>`, Search-o1 `<|begin_search_query|>`, and models that
follow Hermes or Qwen `<tool_call>` and `<tool_response>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from goodgain.pipeline.convert.importing.answers.provider_calls import Call, Returned
from goodgain.pipeline.convert.importing.answers.written_values import decode_json

_TAGS = re.compile(
    r"<search>(?P<search>.*?)</search>"
    r"|<\|begin_search_query\|>(?P<query>.*?)<\|end_search_query\|>"
    r"|<tool_call>(?P<call>.*?)</tool_call>"
    r"|<information>(?P<information>.*?)</information>"
    r"|<\|begin_search_result\|>(?P<result>.*?)<\|end_search_result\|>"
    r"|<tool_response>(?P<response>.*?)</tool_response>",
    re.DOTALL,
)


def calls_of_text(text: str) -> Iterator[Call | Returned]:
    """The calls and results in a text, in order."""
    for match in _TAGS.finditer(text) if "<" in text else ():
        kind, content = str(match.lastgroup), match[str(match.lastgroup)].strip()
        if kind in ("search", "query"):
            yield Call(None, "search", {"query": content})
        elif kind == "call":
            yield from _parse_call(content)
        else:
            answer = match[0] if kind == "information" else content
            yield Returned(None, None, answer)


def _parse_call(content: str) -> Iterator[Call]:
    value = decode_json(content)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        yield Call(None, value["name"], value.get("arguments", value.get("parameters")))
