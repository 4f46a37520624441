"""Scores conversations after all of their records have been gathered (SPEC 3, 4, 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec

from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.document import topic_of
from goodgain.transforms.core.pool.files import PoolUse, shard_of
from goodgain.transforms.core.scoring.delivery import deliver
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.fingerprint import FingerprintCalls, Keyed
from goodgain.transforms.gather import GatheredDoFn, GatherPayloads, Unload, load
from goodgain.transforms.pool import pools_of

_encode = msgspec.msgpack.Encoder().encode
# The topic's key, conversation_id, payload.
_decode_with_topic = msgspec.msgpack.Decoder(tuple[str, str, bytes]).decode
_SORTED_AT_ONCE = 1_000  # conversations


class ScoredConversations(NamedTuple):
    """The outputs of scoring.

    Attributes:
      scores: one score per conversation.
      carried: the collections that were carried along, in their order.
    """

    scores: beam.PCollection[ConversationScore]
    carried: tuple[beam.PCollection[Any], ...] = ()


@dataclass(eq=False, repr=False)
class ScoreConversations(beam.PTransform):
    """Records to `ScoredConversations`: `FingerprintCalls`, then `ScorePayloads`.

    Takes `PCollection[SearchCall]`; `RejectedRecord`s among the calls flag their conversations.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs.

    Example:
      >>> import apache_beam as beam
      >>> from apache_beam.runners.portability.fn_api_runner import FnApiRunner
      >>> from goodgain import ConversationRow, ConversationScore, IterationRow
      >>> from goodgain import Result, ScoreConversations, Scoring, SearchCall
      >>> def show(score: ConversationScore) -> None:
      ...     row: ConversationRow = score.conversation
      ...     first: IterationRow = score.iterations[0]
      ...     print(row.conversation_id, row.CG, first.G_i)
      >>> with beam.Pipeline(runner=FnApiRunner()) as pipeline:
      ...     calls = pipeline | beam.Create([SearchCall("c", 1, results=[Result(gain=3)])])
      ...     _ = (calls | ScoreConversations(Scoring.default())).scores | beam.Map(show)
      c 3 3
    """

    scoring: Scoring

    def expand(self, records: beam.PCollection[Any]) -> ScoredConversations:
        """Apply the transform."""
        scored: ScoredConversations = (
            records
            | "Fingerprint" >> FingerprintCalls(Packing.of(self.scoring))
            | "Score" >> ScorePayloads(self.scoring)
        )
        return scored


@dataclass(eq=False, repr=False)
class ScorePayloads(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, (conversation_id, payload), to `ScoredConversations`.

    Gathers the payloads of a conversation, sorts the calls and folds them. The outcome does not
    depend on order of arrival, bundling or the number of workers. With a pool, payloads must keep
    their records. For bounded input; for streams use `ScoreStreamedPayloads`.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs.
      spill_folder: a folder that all workers share, for payloads while they are grouped, which
        spares memory; the caller removes it. "" = the engine groups the payloads themselves.
      max_held_bytes: memory limit on an engine that keeps all data in one process; None = none.
      carried: further outputs of the step that made the payloads, small ones. They go through the
        same shuffle, and come out unchanged: on Flink, each one that is read elsewhere costs a copy
        of all payloads.

    Example:
      >>> import apache_beam as beam
      >>> from apache_beam.runners.portability.fn_api_runner import FnApiRunner
      >>> from goodgain import Packing, ReadPayloads, ScorePayloads, Scoring
      >>> scoring = Scoring.default(["ndcg@10"])
      >>> with beam.Pipeline(runner=FnApiRunner()) as pipeline:
      ...     files = pipeline | ReadPayloads(["traces/*.jsonl"], Packing.of(scoring))
      ...     scored = files.payloads | ScorePayloads(scoring)
      ...     _ = scored.scores | beam.Map(lambda score: print(score.conversation.CG))
      3
      3
    """

    scoring: Scoring
    spill_folder: str = ""
    max_held_bytes: int | None = None
    carried: tuple[beam.PCollection[Any], ...] = ()

    def expand(self, payloads: beam.PCollection[Keyed]) -> ScoredConversations:
        """Apply the transform."""
        gathered, *carried = (
            load(payloads, self.carried)
            | "GroupByConversation" >> GatherPayloads(self.spill_folder)
            | "Unload" >> Unload(self.carried, self.spill_folder)
        )
        return self._score(gathered)._replace(carried=tuple(carried))

    def _score(self, gathered: beam.PCollection[Any]) -> ScoredConversations:
        if self.scoring.pool is not None:
            return self._with_pool(gathered, self.scoring.pool)
        score = ScoreGathered(self.spill_folder, self.scoring, MemoryBudget(self.max_held_bytes))
        score_each = beam.ParDo(score).with_output_types(ConversationScore)
        return ScoredConversations(gathered | "ScoreConversation" >> score_each)

    def _with_pool(self, gathered: beam.PCollection[Any], pool: PoolUse) -> ScoredConversations:
        """Group the conversations by the pool file that holds their topic."""
        scores = (
            gathered
            | "ToPoolFile"
            >> beam.ParDo(_ToPoolFile(self.spill_folder, pool)).with_output_types(Keyed)
            | "GroupByPoolFile" >> GatherPayloads(self.spill_folder)
            | "ScoreWithPool"
            >> beam.ParDo(
                ScoreWithPool(self.spill_folder, self.scoring, self.max_held_bytes)
            ).with_output_types(ConversationScore)
        )
        return ScoredConversations(scores)


@dataclass(eq=False, repr=False)
class _ToPoolFile(GatheredDoFn):
    pool: PoolUse

    def process(self, grouped: tuple[str, Iterable[bytes]]) -> Iterator[Keyed]:
        conversation_id, gathered = grouped
        packed = b"".join(self.payloads(gathered))
        attributes = deliver(unpack([packed]).calls).attributes()
        topic = topic_of(conversation_id, attributes, self.pool.topic_attribute)
        shard = shard_of(topic, self.pool.files.shards)
        yield str(shard), _encode((topic.key, conversation_id, packed))


@dataclass(eq=False, repr=False)
class ScoreWithPool(GatheredDoFn):
    """Scores the conversations whose topics are in one file of a pool, which is read once.

    Holds that file's documents, but only some of the conversations at a time.
    """

    scoring: Scoring
    max_held_bytes: int | None

    def setup(self) -> None:
        """Set up the worker."""
        self._scorer = PayloadScorer(self.scoring, pools_of(self.scoring, self.max_held_bytes))

    def process(self, grouped: tuple[str, Iterable[bytes]]) -> Iterator[ConversationScore]:
        """Score the conversations by topic, so that few topics are in memory at a time."""
        _, gathered = grouped
        remaining = map(_decode_with_topic, self.payloads(gathered))
        while batch := list(islice(remaining, _SORTED_AT_ONCE)):
            for _, conversation_id, packed in sorted(batch):
                yield self._scorer.score(conversation_id, [packed])


@dataclass(eq=False, repr=False)
class ScoreGathered(GatheredDoFn):
    """Scores a conversation from its gathered payloads."""

    scoring: Scoring
    budget: MemoryBudget

    def setup(self) -> None:
        """Set up the worker."""
        self._scorer = PayloadScorer(self.scoring)

    def process(self, grouped: tuple[str, Iterable[bytes]]) -> Iterator[ConversationScore]:
        """Score the conversation.

        Raises:
          GoodGainError: the conversation takes more memory than `max_held_bytes` allows.
        """
        conversation_id, gathered = grouped
        packed = list(self.payloads(gathered))
        self.budget.check_conversation(packed)
        yield self._scorer.score(conversation_id, packed)
