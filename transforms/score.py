"""Scores conversations once all of their records are gathered (SPEC 3, 4, 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import BagStateSpec, TimerSpec, on_timer
from apache_beam.transforms.window import GlobalWindow

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.held import HeldBytes
from goodgain.transforms.core.pool.document import topic_of
from goodgain.transforms.core.pool.lookup import PoolUse, shard_of
from goodgain.transforms.core.scoring.delivery import EncodingsNeededError, deliver
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.fingerprint import FingerprintCalls, Keyed
from goodgain.transforms.pool import pools_of

_UNDECIDED = "undecided"
_END = GlobalWindow().max_timestamp()
_OfTopic = tuple[str, str, bytes]  # the topic's key, conversation_id, payload
_SCORED = b""  # replaces the payloads of a conversation that was scored
_SORTED_AT_ONCE = 1_000  # conversations to sort by topic


class ScoredConversations(NamedTuple):
    """The outputs of scoring.

    Attributes:
      scores: one score per conversation.
      undecided: payloads of conversations whose order depends on missing canonical encodings; for
        `ScoreTied`.
    """

    scores: beam.PCollection[ConversationScore]
    undecided: beam.PCollection[Keyed]


class ScoreConversations(beam.PTransform):
    """Records to `ScoredConversations`: `FingerprintCalls`, then `ScorePayloads`.

    Takes `PCollection[SearchCall]`; `RejectedRecord`s among the calls flag their conversations
    (SPEC 3). It keeps the records' canonical encodings, so that `undecided` is always empty. If the
    input can be read twice, it is cheaper not to keep them, and to pass `undecided` to `ScoreTied`.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs.
    """

    def __init__(self, scoring: Scoring) -> None:
        super().__init__()
        self.scoring = scoring

    def expand(self, records: beam.PCollection[Any]) -> ScoredConversations:
        """Apply the transform."""
        scored: ScoredConversations = (
            records
            | "Fingerprint" >> FingerprintCalls(self.scoring.rules, keep_encodings=True)
            | "Score" >> ScorePayloads(self.scoring)
        )
        return scored


class ScorePayloads(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, (conversation_id, payload), to `ScoredConversations`.

    Gathers the payloads of a conversation, sorts the calls as in SPEC 3 and folds them. The outcome
    does not depend on order of arrival, bundling or the number of workers. With a pool, payloads
    must have canonical encodings. For bounded input; for streams use `ScoreStreamedPayloads`.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs.
      in_state: gather in state, until a timer fires at the end of the input, instead of by a
        GroupByKey. In Beam's local runner this takes less than half the memory. On other engines it
        costs three to fifteen times as much, and is wrong if they fire timers before they have
        delivered all of a conversation, as Prism does.
      most_held: see `ReadPayloads`; only used with `in_state`.
    """

    def __init__(
        self, scoring: Scoring, in_state: bool = False, most_held: int | None = None
    ) -> None:
        super().__init__()
        self.scoring = scoring
        self.in_state = in_state
        self.most_held = most_held

    def expand(self, payloads: beam.PCollection[Keyed]) -> ScoredConversations:
        """Apply the transform."""
        if self.scoring.pool is not None:
            return self._with_pool(payloads, self.scoring.pool)
        if self.in_state:
            fold = beam.ParDo(ScoreFromState(self.scoring, self.most_held))
        else:
            payloads = payloads | "GroupByConversation" >> beam.GroupByKey()
            fold = beam.ParDo(ScoreGrouped(self.scoring))
        outputs = payloads | "ScoreConversation" >> fold.with_outputs(_UNDECIDED, main="scores")
        scores, undecided = outputs["scores"], outputs[_UNDECIDED]
        scores.element_type = ConversationScore
        undecided.element_type = beam.typehints.Tuple[str, bytes]
        return ScoredConversations(scores, undecided)

    def _with_pool(self, payloads: beam.PCollection[Keyed], pool: PoolUse) -> ScoredConversations:
        """Group the conversations by the pool file that holds their topic."""
        keyed = (
            payloads
            | "GroupByConversation" >> beam.GroupByKey()
            | "ToPoolFile" >> beam.Map(_to_pool_file, pool)
        )
        # Beam's own type, since workers have a fast coder only for that.
        keyed.element_type = beam.typehints.Tuple[str, beam.typehints.Tuple[str, str, bytes]]
        scores = (
            keyed
            | "GroupByPoolFile" >> beam.GroupByKey()
            | "ScoreWithPool"
            >> beam.ParDo(ScoreWithPool(self.scoring)).with_output_types(ConversationScore)
        )
        nothing = payloads.pipeline | "Undecided" >> beam.Create([])
        nothing.element_type = beam.typehints.Tuple[str, bytes]
        return ScoredConversations(scores, nothing)


def _to_pool_file(grouped: tuple[str, Iterable[bytes]], pool: PoolUse) -> tuple[str, _OfTopic]:
    conversation_id, payloads = grouped
    packed = b"".join(payloads)
    attributes = deliver(unpack([packed]).calls).attributes()
    topic = topic_of(conversation_id, attributes, pool.topic_attribute)
    return str(shard_of(topic, pool.files.shards)), (topic.key, conversation_id, packed)


class ScoreWithPool(beam.DoFn):
    """Scores the conversations whose topics are in one file of a pool, which is read once.

    Holds that file's documents, but only some of the conversations at a time.
    """

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring

    def setup(self) -> None:
        """Set up the worker."""
        self._scorer = PayloadScorer(self._scoring, pools_of(self._scoring))

    def process(self, grouped: tuple[str, Iterable[_OfTopic]]) -> Iterator[ConversationScore]:
        """Score the conversations by topic, so that few topics are in memory at a time."""
        _, conversations = grouped
        remaining = iter(conversations)
        while some := list(islice(remaining, _SORTED_AT_ONCE)):
            for _, conversation_id, packed in sorted(some):
                yield self._scorer.score(conversation_id, [packed])


class ScoreGrouped(beam.DoFn):
    """Scores a conversation from its grouped payloads."""

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring

    def setup(self) -> None:
        """Set up the worker."""
        self._scorer = PayloadScorer(self._scoring)

    def process(
        self, grouped: tuple[str, Iterable[bytes]]
    ) -> Iterator[ConversationScore | TaggedOutput]:
        """Score the conversation, or emit its payloads as undecided."""
        conversation_id, payloads = grouped
        yield _scored(conversation_id, list(payloads), self._scorer)


class ScoreFromState(beam.DoFn):
    """Buffers the payloads of one conversation and scores it once all have arrived."""

    # A bag, which every engine supports; the payloads are sorted here.
    PAYLOADS = BagStateSpec("payloads", BytesCoder())
    # In event time, so that it fires when the watermark reaches the end of the input.
    CLOSE = TimerSpec("close", TimeDomain.WATERMARK)

    def __init__(self, scoring: Scoring, most_held: int | None = None) -> None:
        self._scoring = scoring
        self._held = HeldBytes(most_held)

    def setup(self) -> None:
        """Set up the worker."""
        self._scorer = PayloadScorer(self._scoring)

    def process(
        self,
        keyed: Keyed,
        payloads: Any = beam.DoFn.StateParam(PAYLOADS),
        close: Any = beam.DoFn.TimerParam(CLOSE),
    ) -> None:
        """Buffer a payload."""
        payloads.add(keyed[1])
        close.set(_END)

    @on_timer(CLOSE)
    def close_conversation(
        self,
        conversation_id: str = beam.DoFn.KeyParam,
        payloads: Any = beam.DoFn.StateParam(PAYLOADS),
    ) -> Iterator[ConversationScore | TaggedOutput]:
        """Score the buffered payloads and clear the state.

        Raises:
          GoodGainError: part of the conversation came after the engine had declared the input
            complete, so that it would get two rows and count twice; or the conversation is too
            large to be scored at once.
        """
        packed = list(payloads.read())
        if _SCORED in packed:
            raise GoodGainError(
                f"The engine delivered part of conversation {conversation_id!r} after its end, so "
                "its row would be wrong; use ScorePayloads without in_state."
            )
        self._held.decoded(packed)
        payloads.clear()
        payloads.add(_SCORED)
        yield _scored(conversation_id, packed, self._scorer)


def _scored(
    conversation_id: str, payloads: Sequence[bytes], scorer: PayloadScorer
) -> ConversationScore | TaggedOutput:
    try:
        return scorer.score(conversation_id, payloads)
    except EncodingsNeededError:
        return TaggedOutput(_UNDECIDED, (conversation_id, b"".join(payloads)))
