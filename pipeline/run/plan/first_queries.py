"""The first queries of a few conversations, looked up in the traces.

What is scored has no texts, so that it stays small. Native code skips all other conversations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pydantic import ValidationError

from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.run.plan.sources import LocalFiles
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import load_shipped_rules
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.native import native_module
from goodgain.transforms.core.records.search_call import SEARCH, SearchCall
from goodgain.transforms.core.scoring.conversation_picker import ConversationRecord
from goodgain.transforms.core.scoring.delivery import BEFORE_ALL_TIME
from goodgain.transforms.filesystems import is_local

# Of all files together: looking up takes about a second, a fifth of the time of the run itself.
_MOST_BYTES, _MOST_BYTES_IN_PYTHON = 64 * 2**20, 8 * 2**20
_LONGEST = 1_000  # characters that are kept of a query
_Place = tuple[int, int, int, int, bool, str]


def find_queries_of_run(
    manifest: RunManifest, conversation_ids: Collection[str]
) -> Mapping[str, str]:
    """The first queries of conversations in the files that a run read.

    Returns:
      By conversation, without those that have none. Empty if the files are too large to read them
      for this, not on this machine, or no longer as they were.
    """
    files = tuple((file.path, file.size) for file in manifest.inputs)
    if not conversation_ids or not files or not all(is_local(path) for path, _ in files):
        return {}
    most = _MOST_BYTES if native_module() is not None else _MOST_BYTES_IN_PYTHON
    if sum(size for _, size in files) > most:
        return {}
    try:
        config = RunConfig.model_validate(manifest.parameters)
    except ValidationError:
        return {}  # a run of another version
    source = LocalFiles([InputFile(*file) for file in files], config)
    rules = compile_rules(load_shipped_rules())  # they decide nothing here
    try:
        return find_first_queries(source.conversations(conversation_ids, rules), conversation_ids)
    except (OSError, ValueError, GoodGainError):  # gone, or no path: a manifest may say anything
        return {}


def find_first_queries(
    records: Iterable[ConversationRecord], conversation_ids: Collection[str]
) -> dict[str, str]:
    """The query of the first search call that has one, of the last turn that has one.

    Args:
      records: at least those of the conversations.
    """
    first: dict[str, tuple[_Place, str]] = {}
    for record in records:
        if not isinstance(record, SearchCall) or record.action != SEARCH:
            continue
        conversation_id, query = record.conversation_id, (record.query or "").strip()
        if query and conversation_id in conversation_ids:
            found = _place(record), query[:_LONGEST]
            first[conversation_id] = min(first.get(conversation_id, found), found)
    return {conversation_id: query for conversation_id, (_, query) in first.items()}


def _place(call: SearchCall) -> _Place:
    """What calls are ordered by, the last turn first; see `deliver`."""
    return (
        -call.turn,
        call.iteration,
        call.call or 0,
        BEFORE_ALL_TIME if call.timestamp is None else int(call.timestamp),
        call.record_id is not None,
        call.record_id or "",
    )
