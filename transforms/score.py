"""Scores conversations after all of their records have been gathered (SPEC 3, 4, 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.coders import typed_outputs
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.document import topic_of
from goodgain.transforms.core.pool.files import PoolUse, shard_of
from goodgain.transforms.core.scoring.delivery import EncodingsNeededError, deliver
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.shard_payloads import encodings_of_shard, ties_of
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import KEYED, FingerprintCalls, Keyed
from goodgain.transforms.gather import GatheredDoFn, GatherPayloads, Unload, load
from goodgain.transforms.pool import pools_of

_UNDECIDED = "undecided"
_encode = msgspec.msgpack.Encoder().encode
# The topic's key, conversation_id, payload.
_decode_with_topic = msgspec.msgpack.Decoder(tuple[str, str, bytes]).decode
_SORTED_AT_ONCE = 1_000  # conversations


class ScoredConversations(NamedTuple):
    """The outputs of scoring.

    Attributes:
      scores: one score per conversation.
      undecided: payloads of conversations whose order depends on missing canonical encodings; for
        `ScoreTied`.
      carried: the collections that were carried along, in their order.
    """

    scores: beam.PCollection[ConversationScore]
    undecided: beam.PCollection[Keyed]
    carried: tuple[beam.PCollection[Any], ...] = ()


@dataclass(eq=False, repr=False)
class ScoreConversations(beam.PTransform):
    """Records to `ScoredConversations`: `FingerprintCalls`, then `ScorePayloads`.

    Takes `PCollection[SearchCall]`; `RejectedRecord`s among the calls flag their conversations. It
    keeps the records' canonical encodings, so that `undecided` is always empty. If the
    input can be read twice, it is cheaper not to keep them, and to pass `undecided` to `ScoreTied`.

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
            | "Fingerprint" >> FingerprintCalls(self.scoring.rules, keep_encodings=True)
            | "Score" >> ScorePayloads(self.scoring)
        )
        return scored


@dataclass(eq=False, repr=False)
class ScorePayloads(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, (conversation_id, payload), to `ScoredConversations`.

    Gathers the payloads of a conversation, sorts the calls and folds them. The outcome does not
    depend on order of arrival, bundling or the number of workers. With a pool, payloads must have
    canonical encodings. For bounded input; for streams use `ScoreStreamedPayloads`.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs.
      spill_folder: a folder that all workers share, for payloads while they are grouped, which
        spares memory; the caller removes it. "" = the engine groups the payloads themselves.
      max_held_bytes: memory limit on an engine that keeps all data in one process; None = none.
      carried: further outputs of the step that made the payloads, small ones. They go through the
        same shuffle, and come out unchanged: on Flink, each one that is read elsewhere costs a copy
        of all payloads.

    Example: see `FingerprintCalls`.
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
        types = {"scores": ConversationScore, _UNDECIDED: KEYED}
        return ScoredConversations(*typed_outputs(gathered, "ScoreConversation", score, **types))

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
        no_undecided = gathered.pipeline | "Undecided" >> beam.Create([])
        no_undecided.element_type = KEYED
        return ScoredConversations(scores, no_undecided)


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

    def process(
        self, grouped: tuple[str, Iterable[bytes]]
    ) -> Iterator[ConversationScore | TaggedOutput]:
        """Score the conversation, or emit its payloads as undecided.

        Raises:
          GoodGainError: the conversation takes more memory than `max_held_bytes` allows.
        """
        conversation_id, gathered = grouped
        packed = list(self.payloads(gathered))
        self.budget.check_conversation(packed)
        try:
            yield self._scorer.score(conversation_id, packed)
        except EncodingsNeededError:
            yield TaggedOutput(_UNDECIDED, (conversation_id, b"".join(packed)))


@dataclass(eq=False, repr=False)
class ScoreTied(beam.PTransform):
    """Scores what `ScorePayloads` left `undecided`, by reading the files a second time.

    Records of a conversation that tie in its order are ordered by their canonical encodings. Ties
    are rare, and encodings are large. So `ReadPayloads` does not keep them, and this transform
    reads the tied records again; they must fit into a worker's memory. No file is opened if nothing
    is undecided.

    Attributes:
      shards: PCollection[FileShard], the shards that were read.
      scoring, spill_folder: as in `ScorePayloads`.

    Raises:
      GoodGainError: at run time, if the files have changed.

    Example:
      >>> import apache_beam as beam
      >>> from apache_beam.runners.portability.fn_api_runner import FnApiRunner
      >>> from goodgain import Packing, ReadPayloads, ScorePayloads, ScoreTied, Scoring
      >>> scoring = Scoring.default(["ndcg@10"])
      >>> with beam.Pipeline(runner=FnApiRunner()) as pipeline:
      ...     files = pipeline | ReadPayloads(["traces/*.jsonl"], Packing(scoring.rules))
      ...     scored = files.payloads | ScorePayloads(scoring)
      ...     tied = scored.undecided | ScoreTied(files.shards, scoring)
      ...     _ = (
      ...         (scored.scores, tied)
      ...         | beam.Flatten()
      ...         | beam.Map(lambda score: print(score.conversation.CG))
      ...     )
      3
      3
    """

    shards: beam.PCollection[FileShard]
    scoring: Scoring
    spill_folder: str = ""

    def expand(self, undecided: beam.PCollection[Keyed]) -> beam.PCollection[ConversationScore]:
        """Apply the transform."""
        ties = beam.pvalue.AsDict(undecided | "Ties" >> beam.MapTuple(ties_of))
        encodings = self.shards | "ReadAgain" >> beam.FlatMap(
            _tied_records, ties
        ).with_output_types(Keyed)
        scored: ScoredConversations = (
            (undecided, encodings)
            | "WithEncodings" >> beam.Flatten()
            | "Score" >> ScorePayloads(self.scoring, self.spill_folder)
        )
        _ = scored.undecided | "Changed" >> beam.MapTuple(_input_changed)
        return scored.scores


def _tied_records(
    shard: FileShard, ties: Mapping[str, frozenset[bytes]]
) -> Iterable[tuple[str, bytes]]:
    return encodings_of_shard(shard, open_plain, ties) if ties else ()


def _input_changed(conversation_id: str, _: bytes) -> None:
    raise GoodGainError(
        f"The input changed while it was read: records of conversation {conversation_id!r} were "
        "not found a second time. Run again when nothing writes to it."
    )
