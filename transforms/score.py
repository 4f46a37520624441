"""Scores conversations after all of their records have been gathered (SPEC 3, 4, 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec

from goodgain.transforms.control_data import ControlData
from goodgain.transforms.core.errors import GoodGainError, RecordError
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.document import topic_of
from goodgain.transforms.core.pool.files import PoolUse, shard_of
from goodgain.transforms.core.records.parsing import parse_escaped_mapping
from goodgain.transforms.core.records.rejection import RejectedRecord, payload_of_mapping
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.delivery import deliver
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.fingerprint import FingerprintCalls, Keyed
from goodgain.transforms.gather import Fold, FoldGroup, FoldInState
from goodgain.transforms.pool import pools_of

_encode = msgspec.msgpack.Encoder().encode
# The topic's key, conversation_id, payload.
_decode_with_topic = msgspec.msgpack.Decoder(tuple[str, str, bytes]).decode
_SORTED_AT_ONCE = 1_000  # conversations


class ScoredConversations(NamedTuple):
    """The outputs of scoring.

    Attributes:
      scores: one score per conversation.
      control_data: that of `ScorePayloads`, unchanged.
    """

    scores: beam.PCollection[ConversationScore]
    control_data: tuple[beam.PCollection[Any], ...] = ()


@dataclass(eq=False, repr=False)
class ScoreConversations(beam.PTransform):
    """Records to `ScoredConversations`: `FingerprintCalls`, then `ScorePayloads`.

    Takes `PCollection[SearchCall]`, or dicts with the fields of search calls: the first that cannot
    be used fails the pipeline. `RejectedRecord`s among the calls flag their conversations.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs; by default `Scoring.default()`.

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

    scoring: Scoring = field(default_factory=Scoring.default)

    def expand(self, records: beam.PCollection[Any]) -> ScoredConversations:
        """Apply the transform."""
        scored: ScoredConversations = (
            records
            | "Calls" >> beam.Map(_call_of)
            | "Fingerprint" >> FingerprintCalls(Packing.of(self.scoring))
            | "Score" >> ScorePayloads(self.scoring)
        )
        return scored


def _call_of(record: Any) -> SearchCall | RejectedRecord:
    """A record of a pipeline as a search call.

    Raises:
      GoodGainError: it is a dict that is no usable record, or something else.
    """
    if isinstance(record, SearchCall | RejectedRecord):
        return record
    if not isinstance(record, Mapping):
        raise GoodGainError(
            f"ScoreConversations takes search calls or dicts, not {type(record).__name__}."
        )
    try:
        return parse_escaped_mapping(record)
    except RecordError as error:
        shown = payload_of_mapping(record)
        raise GoodGainError(f"A record cannot be used: {error.reason} It is {shown}") from error


@dataclass(eq=False, repr=False)
class ScorePayloads(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, (conversation_id, payload), to `ScoredConversations`.

    Gathers the payloads of a conversation, sorts the calls and folds them. The outcome does not
    depend on order of arrival, bundling or the number of workers. With a pool, payloads must keep
    their records. For bounded input; for streams use `ScoreStreamedPayloads`.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs.
      in_state: whether a stateful DoFn gathers the payloads, with a timer at the end of the window,
        for engines that keep state in one process and deliver all elements of a key before its
        timers, as `FnApiRunner` does. On other engines a grouping costs less.
      max_held_bytes: memory limit on an engine that keeps all data in one process; None = none.
      control_data: further outputs of the step that made the payloads, small ones, that go through
        the same grouping: on Flink, each one that is read elsewhere costs a copy of all payloads.

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
    in_state: bool = False
    max_held_bytes: int | None = None
    control_data: tuple[beam.PCollection[Any], ...] = ()

    def expand(self, payloads: beam.PCollection[Keyed]) -> ScoredConversations:
        """Apply the transform."""
        gathered, control_data = payloads, list(self.control_data)
        if not self.in_state:
            control = ControlData(self.control_data)
            grouped = control.add_to(payloads) | "GroupByConversation" >> beam.GroupByKey()
            gathered, *control_data = control.separate_from(grouped)
        return ScoredConversations(self._score(gathered), tuple(control_data))

    def _score(self, gathered: beam.PCollection[Any]) -> beam.PCollection[ConversationScore]:
        pool = self.scoring.pool
        if pool is None:
            score = ScoreConversation(self.scoring, self.max_held_bytes)
            return gathered | "ScoreConversation" >> self._each(score, ConversationScore)
        # By the pool file that holds their topic. They are grouped on every engine: timers that are
        # set by outputs of timers never fire on `FnApiRunner`.
        score_file = FoldGroup(_ScoreWithPool(self.scoring, self.max_held_bytes))
        scores: beam.PCollection[ConversationScore] = (
            gathered
            | "ToPoolFile" >> self._each(_ToPoolFile(pool), Keyed)
            | "GroupByPoolFile" >> beam.GroupByKey()
            | "ScoreWithPool" >> beam.ParDo(score_file).with_output_types(ConversationScore)
        )
        return scores

    def _each(self, fold: Fold, output: Any) -> beam.PTransform:
        """Fold each conversation: its payloads kept in state, or in a group."""
        step = FoldInState(fold) if self.in_state else FoldGroup(fold)
        return beam.ParDo(step).with_output_types(output)


@dataclass(eq=False, repr=False)
class ScoreConversation(Fold):
    """Scores a conversation.

    Attributes:
      max_held_bytes: memory limit on an engine that keeps all data in one process; None = none.
    """

    scoring: Scoring
    max_held_bytes: int | None = None

    def setup(self) -> None:
        """Set up the worker."""
        self._scorer = PayloadScorer(self.scoring)
        self._budget = MemoryBudget(self.max_held_bytes, on_engine=True)

    def fold(self, key: str, payloads: Iterable[bytes]) -> Iterator[ConversationScore]:
        """Score the conversation whose id is `key`.

        Raises:
          GoodGainError: the conversation takes more memory than `max_held_bytes` allows.
        """
        packed = list(payloads)
        self._budget.check_conversation(packed)
        yield self._scorer.score(key, packed)


@dataclass(eq=False, repr=False)
class _ToPoolFile(Fold):
    """Keys a conversation by the pool file that holds its topic."""

    pool: PoolUse

    def fold(self, key: str, payloads: Iterable[bytes]) -> Iterator[Keyed]:
        packed = b"".join(payloads)
        attributes = deliver(unpack([packed]).calls).attributes()
        topic = topic_of(key, attributes, self.pool.topic_attribute)
        shard = shard_of(topic, self.pool.files.shards)
        yield str(shard), _encode((topic.key, key, packed))


@dataclass(eq=False, repr=False)
class _ScoreWithPool(Fold):
    """Scores the conversations whose topics are in one file of a pool, which is read once.

    Holds that file's documents, but only some of the conversations at a time.
    """

    scoring: Scoring
    max_held_bytes: int | None

    def setup(self) -> None:
        self._scorer = PayloadScorer(self.scoring, pools_of(self.scoring, self.max_held_bytes))

    def fold(self, _: str, payloads: Iterable[bytes]) -> Iterator[ConversationScore]:
        """Score the conversations by topic, so that few topics are in memory at a time."""
        remaining = map(_decode_with_topic, payloads)
        while batch := list(islice(remaining, _SORTED_AT_ONCE)):
            for _topic, conversation_id, packed in sorted(batch):
                yield self._scorer.score(conversation_id, [packed])
