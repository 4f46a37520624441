"""The rows that result from scoring a conversation, with the column names of SPEC 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.metrics.costs import COST_AT_I, COST_I
from goodgain.transforms.core.metrics.prefix import Prefix, prefixes
from goodgain.transforms.core.metrics.turn import IterationCounts, TopicGains, Turn, TurnAspects
from goodgain.transforms.core.ranking.aspects import TopicAspects


class _Measured(Struct, frozen=True, array_like=True, kw_only=True):
    """A row with values of metrics, by `row["ndcg@10"]` or, if the name allows it, `row.CG`.

    Attributes:
      columns: the names of the metrics, with spaces between.
      values: their values, in this order.
    """

    columns: str
    values: tuple[int | float | None, ...]

    def __getitem__(self, column: str) -> Any:
        """The value of a column.

        Raises:
          KeyError: there is no such column.
        """
        place = _places(self.columns).get(column)
        if place is not None:
            return self.values[place]
        if column in self.__struct_fields__:
            return getattr(self, column)
        raise KeyError(f"{type(self).__name__} has no column {column!r}")

    def __getattr__(self, name: str) -> Any:
        """The value of a metric."""
        try:
            return self.values[_places(self.columns)[name]]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no column {name!r}") from None

    @property
    def metrics(self) -> dict[str, int | float | None]:
        """The values of the metrics by name."""
        return dict(zip(_places(self.columns), self.values, strict=True))


@lru_cache
def _places(columns: str) -> dict[str, int]:
    return {name: place for place, name in enumerate(columns.split(" "))}


class IterationRow(_Measured, frozen=True, array_like=True, kw_only=True):
    """One iteration of the last turn; `goodgain metrics` defines the metrics.

    Attributes:
      conversation_id, turn, attributes: the conversation, its last turn, and its attributes.
      i: the iteration, counted from 1 over those that searched.
      iteration: its raw number in the traces.
      columns, values: names of the metrics, and their values; `row.G_i` and `row["cost_i.usd"]`
        give one of them.

    Example: see `ScoreConversations`.
    """

    conversation_id: str
    turn: int
    attributes: dict[str, str]
    i: int
    iteration: int


class ConversationRow(_Measured, frozen=True, array_like=True, kw_only=True):
    """One conversation; `goodgain metrics` defines the metrics, which are those at N.

    Attributes:
      conversation_id, turn, attributes: the conversation, its last turn, and its attributes.
      rejected_records: number of records that could not be used.
      first_timestamp, last_timestamp: event times in milliseconds since 1970, if known.
      topic: further columns. With external judgments: judgments_met_again, the number of documents
        without a label because an earlier document has their judgment, and qrels_best, the greatest
        label of the topic. With a pool: pool_good, the number of good documents in the topic's
        pool, pool_best, the greatest label there, and pool_found, the numbers of the good documents
        that were found. With aspects: topic_aspects, the number of those that some judged document
        of the topic covers.
      columns, values: names of the metrics, and their values; `row.CG` and `row["ndcg@10"]` give
        one of them. Without search, all but counts are None.

    Example: see `ScoreConversations`.
    """

    conversation_id: str
    turn: int | None
    attributes: dict[str, str]
    rejected_records: int
    first_timestamp: int | None
    last_timestamp: int | None
    topic: dict[str, int | str | None] = {}

    def __getitem__(self, column: str) -> Any:
        """The value of a column.

        Raises:
          KeyError: there is no such column.
        """
        return self.topic[column] if column in self.topic else super().__getitem__(column)

    def __getattr__(self, name: str) -> Any:
        """The value of a metric or a further column."""
        return self.topic[name] if name in self.topic else super().__getattr__(name)


class CallRow(_Measured, frozen=True, array_like=True, kw_only=True):
    """The ranked list of one search call, evaluated by itself (SPEC 8).

    Attributes:
      call_position: from 0, the call's place within its iteration.
      call: the producer's number of the call, if given.
      results: number of its results, duplicates included.
      columns, values: names of the ranking metrics, and their values.
    """

    conversation_id: str
    turn: int
    attributes: dict[str, str]
    i: int
    iteration: int
    call_position: int
    call: int | None
    results: int


class LateRow(Struct, frozen=True, array_like=True):
    """A record that arrived after its conversation was closed (SPEC 3, 7)."""

    conversation_id: str
    turn: int
    iteration: int
    call: int | None
    record_id: str | None
    timestamp: int | None
    results: int


class DuplicateRow(Struct, frozen=True, array_like=True):
    """One duplicate: its place, the place of its first occurrence, and the evidence (SPEC 4).

    Attributes:
      call_position, first_call_position: from 0, the call's place within its iteration.
      rank, first_rank: from 1, the place in the call's results.
      key, step, clause: the first key that proposed the pair, and what decided.
    """

    conversation_id: str
    turn: int
    i: int
    iteration: int
    call_position: int
    rank: int
    first_i: int
    first_iteration: int
    first_call_position: int
    first_rank: int
    entity_type: str | None
    gain: int | None
    first_gain: int | None
    key: str
    step: str
    clause: int | None


def prefix_of(rows: Sequence[Mapping[str, Any]], costs: Sequence[str]) -> Prefix:
    """The prefix of a whole turn from its rows of `iterations`, without its ranked list.

    Args:
      rows: the rows of i = 1..N, by column.
      costs: names of costs that the rows have.
    """
    counts = [
        IterationCounts(
            row["iteration"],
            row["calls"],
            row["R_i"],
            row["UR_i"],
            row["GR_i"],
            row["G_i"],
            row["unlabelled_i"],
        )
        for row in rows
    ]
    last = rows[-1]
    pool = None
    if "pool_recall_at_i" in last:
        # Finds as shares of one good document; no such document if the shares are null.
        pool = TopicGains(int(last["pool_recall_at_i"] is not None), 1, ())
    aspects = _aspects_of(rows) if "aspects_at_i" in last else None
    return replace(
        prefixes(Turn(counts, pool=pool, aspects=aspects), 0)[-1],
        spent={name: last[COST_AT_I + name] for name in costs},
        spent_last={name: last[COST_I + name] for name in costs},
        found=last.get("pool_recall_at_i") or 0.0,
        found_gain=last.get("pool_nCG_at_i") or 0.0,
        found_discounted=last.get("pool_nDCG_at_i") or 0.0,
    )


def _aspects_of(rows: Sequence[Mapping[str, Any]]) -> TurnAspects:
    """The aspects of a turn, by number and not by name, from its rows of `iterations`."""
    new = [row["i"] for row in rows for _ in range(row["new_aspects_i"])]
    recall = rows[-1]["aspect_recall_at_i"]
    # Of a topic of which nothing was covered, it is only known whether it has aspects.
    number = round(len(new) / recall) if recall else int(recall is not None)
    covered = {at.to_bytes(8): i for at, i in enumerate(new)}
    return TurnAspects([covered], TopicAspects.of_number(number))
