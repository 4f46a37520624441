"""Counts of an import: what it read, converted and left out."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from goodgain.pipeline.convert.importing.tools import NEITHER, NOT_NAMED, ToolUse
from goodgain.transforms.core.records.likely_fields import guess_map, is_field
from goodgain.transforms.core.remedy import Remedy

_MOST_OTHERS = 100  # names of spans that are noted


class Skipped(Struct):
    """Records that were left out for one reason."""

    count: int
    example: str


class ToolCount(ToolUse):
    """The calls of one tool, how it is classified, and why, in words."""

    action: str = ""
    why: str = ""


class ImportCounts(Struct):
    """The outcome of an import.

    Attributes:
      records: number of records read: spans, calls or rows, depending on the format.
      without_members: records in which `each` of a mapping found nothing.
      from_trace_ids: conversations without a session or thread, named by their trace id.
      last_turn_without_search: conversations for which `goodgain run` will have no metrics.
      without_search: sessions and traces without a search; they are not written.
      found_nothing: calls whose list of documents is empty.
      documents_not_recorded: calls that do not say what they found.
      without_identity: results without any id, address or text.
      redirects: URLs that redirect and differ each time, which are left out.
      joined: conversations of sub-agents that belong to the one of the agent that calls them.
      split: traces with several conversations.
      repeated: extra copies of spans.
      counted_once: search spans merged into another: nested ones, or replaced by a re-ranking.
      parent_missing: spans whose parent is not in the input.
      cut_off: answers with truncated JSON, which was read up to the cut.
      opens, cites: records of documents that were opened, or cited by an answer.
      failed: searches with an error.
      tools: the tools that were called, by name.
      others: spans that are neither searches nor calls of tools nor steps of models, by name.
      unmatched_patterns: patterns of `search_tools` and `open_tools` that match no tool.
      costs: calls that report a cost, by name of the cost.
      unread: rows of a table with a value in a column that no expression names, by column.
      skipped: records left out, by reason.
    """

    records: int = 0
    without_members: int = 0
    conversations: int = 0
    from_trace_ids: int = 0
    turns: int = 0
    iterations: int = 0
    calls: int = 0
    results: int = 0
    labelled: int = 0
    last_turn_without_search: int = 0
    without_search: int = 0
    found_nothing: int = 0
    documents_not_recorded: int = 0
    without_identity: int = 0
    redirects: int = 0
    joined: int = 0
    split: int = 0
    repeated: int = 0
    counted_once: int = 0
    parent_missing: int = 0
    cut_off: int = 0
    opens: int = 0
    cites: int = 0
    failed: int = 0
    tools: dict[str, ToolCount] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    unmatched_patterns: list[str] = field(default_factory=list)
    costs: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, Skipped] = field(default_factory=dict)

    @property
    def unconverted(self) -> dict[str, ToolCount]:
        """The tools that answered with lists, but whose calls were left out unasked."""
        return {
            name: tool
            for name, tool in self.tools.items()
            if tool.action == NEITHER and tool.why != NOT_NAMED and tool.answered + tool.lists
        }

    @property
    def proposed_map(self) -> Remedy | None:
        """`--map` for the columns of a table that were not read; None if none is like a field."""
        meant = guess_map(list(self.unread))
        meant |= {name: name for name in self.unread if is_field(name)}
        return Remedy("map", meant) if meant else None

    def note_other(self, name: str | None) -> None:
        """Count a span that counts as nothing, by its name if there are not too many of these."""
        if name is not None and (name in self.others or len(self.others) < _MOST_OTHERS):
            self.others[name] += 1

    def skip(self, reason: str, example: str) -> None:
        """Count a record that is left out."""
        if reason in self.skipped:
            self.skipped[reason].count += 1
        else:
            self.skipped[reason] = Skipped(1, example)
