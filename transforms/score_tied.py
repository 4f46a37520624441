"""Scores conversations whose order depends on encodings that the first pass did not keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import apache_beam as beam

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.shard_payloads import encodings_of_shard, ties_of
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.score import ScoredConversations, ScorePayloads


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
