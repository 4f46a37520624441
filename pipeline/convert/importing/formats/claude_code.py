"""Sessions of Claude Code: files with a message, or a part of one, in each line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from goodgain.pipeline.convert.importing.formats.chat import PLACE
from goodgain.pipeline.convert.importing.formats.format import object_of
from goodgain.transforms.core.files.spool import Spool

_SPEAKERS = ("user", "assistant")
# What the program itself says in the name of the user.
_OF_PROGRAM = ("<command-", "<local-command", "[Request interrupted", "Caveat: The messages below")

_BYTES_PER_PART = 8 * 2**20
_MOST_PARTS = 256

Line = dict[str, Any]


class _Kept(Struct, frozen=True, array_like=True):
    """A message of a session."""

    message: Line


def sessions(path: str, records: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Line]]:
    """Conversations, one for each session; what is no message is left out.

    The result of a tool is its structured value, where there is one. Messages to and from
    sub-agents belong to the turn in which these run. Only some sessions of a file are in memory at
    a time.
    """
    parts = min(_MOST_PARTS, 1 + os.path.getsize(path) // _BYTES_PER_PART)
    with Spool(parts, _Kept) as by_session:
        for _, record in records:
            line = object_of(record)
            if line.get("type") in _SPEAKERS and not line.get("isMeta"):
                message = _message(line)
                if message is not None:
                    session = str(line.get("sessionId") or PurePath(path).name.partition(".")[0])
                    by_session.add(session, _Kept(message))
        for session, several in by_session.groups():
            messages = [kept.message for kept in several]
            place = f"{path} {session}"
            yield path, {"conversation_id": session, "messages": messages, PLACE: place}


def _message(line: Line) -> Line | None:
    message = object_of(line.get("message"))
    content = message.get("content")
    results = [
        block
        for block in (content if isinstance(content, list) else ())
        if object_of(block).get("type") == "tool_result"
    ]
    if line["type"] == "user" and not results:
        text = content if isinstance(content, str) else ""
        if line.get("isSidechain") or text.startswith(_OF_PROGRAM):
            return None
    structured = line.get("toolUseResult")
    if len(results) == 1 and isinstance(structured, dict | list):
        content = [{**results[0], "content": _answer(structured, results[0])}]
    return {**message, "role": line["type"], "content": content, "timestamp": line.get("timestamp")}


def _answer(structured: Any, result: Line) -> Any:
    """The structured value of a result; that of a fetched page has its text under `result`.

    Names of files, which its searches through files find, are documents.
    """
    page = object_of(structured)
    if isinstance(page.get("filenames"), list) and page["filenames"]:
        return [{"path": name} for name in page["filenames"]]
    if isinstance(page.get("url"), str) and isinstance(page.get("result"), str):
        return {"url": page["url"], "text": page["result"]}
    return result.get("content") if result.get("is_error") else structured
