"""Scores conversations of a stream when they are closed (SPEC 3, 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam

from goodgain.transforms.coders import StructCoder, apply_to_outputs
from goodgain.transforms.conversation_closing import (
    CloseConversation,
    Early,
)
from goodgain.transforms.core.files.outcomes import OutcomesOfRow
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.side_rows import UnusedRow
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.score_rows import LateRow
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.closing import (
    StillOpen,
)
from goodgain.transforms.core.streaming.live import LiveIteration
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.fingerprint import FingerprintCalls, Keyed
from goodgain.transforms.keyed_outcomes import key_row
from goodgain.transforms.stream_end import WITH_ENGINE, StreamEnd


class StreamedScores(NamedTuple):
    """The outputs of scoring a stream.

    Attributes:
      scores: one score per conversation when it is closed, timestamped with its last event.
      late: records that came after their conversation was closed.
      live: rows of iterations as the watermark passes them, if requested.
      rejected: records beyond the limit of one open conversation.
      still_open: records of the conversations that are open when the stream is stopped.
      unused: outcomes from files that were not used; those of open conversations are, too, when the
        stream is stopped.
    """

    scores: beam.PCollection[ConversationScore]
    late: beam.PCollection[LateRow]
    live: beam.PCollection[LiveIteration]
    rejected: beam.PCollection[RejectedRecord]
    still_open: beam.PCollection[StillOpen]
    unused: beam.PCollection[UnusedRow]


@dataclass(eq=False, repr=False)
class ScoreStreamedConversations(beam.PTransform):
    """Records of a stream to `StreamedScores`: `FingerprintCalls`, then `ScoreStreamedPayloads`.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs.
      closing: when conversations are closed.
      end: when the stream stops, and which timers still fire then.

    Example:
      >>> import apache_beam as beam
      >>> from goodgain import Closing, ScoreStreamedConversations, Scoring, SearchCall
      >>> calls = beam.Pipeline() | beam.Create([SearchCall("c", 1, timestamp=0)])
      >>> scored = calls | ScoreStreamedConversations(Scoring.default(), Closing(gap=60_000))
      >>> scored._fields
      ('scores', 'late', 'live', 'rejected', 'still_open', 'unused')
    """

    scoring: Scoring
    closing: Closing
    end: StreamEnd = WITH_ENGINE

    def expand(self, records: beam.PCollection[Any]) -> StreamedScores:
        """Apply the transform."""
        scored: StreamedScores = (
            records
            | "Fingerprint" >> FingerprintCalls(Packing.of(self.scoring))
            | "Score" >> ScoreStreamedPayloads(self.scoring, self.closing, self.end)
        )
        return scored


@dataclass(eq=False, repr=False)
class ScoreStreamedPayloads(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, (conversation_id, payload), to `StreamedScores`.

    A stateful DoFn buffers the payloads of a conversation until it is closed; then it is scored as
    by `ScorePayloads`. With a pool, payloads must keep their records. On Prism, set
    `out_of_orderness` in `closing`, or records that are in time will be late.

    Attributes:
      scoring: rules, thresholds, metrics and optional outputs.
      closing: when conversations are closed.
      end: when the stream stops, and which timers still fire then.
      outcomes: outcomes from files, which override those of the records. No conversation is closed
        before all of them have come.

    Example: see `WindowedMeans`.
    """

    scoring: Scoring
    closing: Closing
    end: StreamEnd = WITH_ENGINE
    outcomes: beam.PCollection[OutcomesOfRow] | None = None

    def expand(self, payloads: beam.PCollection[Keyed]) -> StreamedScores:
        """Apply the transform."""
        if self.outcomes is not None:
            given = self.outcomes | "KeyOutcomes" >> beam.Map(key_row).with_output_types(Keyed)
            payloads = (payloads, given) | "WithOutcomes" >> beam.Flatten()
        early = payloads | "Early" >> beam.ParDo(Early(self.closing)).with_output_types(Keyed)
        close = CloseConversation(self.scoring, self.closing, self.end, self.outcomes is not None)
        return apply_to_outputs(early, "CloseConversation", close, StreamedScores)


beam.coders.registry.register_coder(LateRow, StructCoder)
beam.coders.registry.register_coder(StillOpen, StructCoder)
beam.coders.registry.register_coder(LiveIteration, StructCoder)
