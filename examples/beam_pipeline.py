"""python examples/beam_pipeline.py TRACES: the transforms in a Beam pipeline of your own."""

import sys

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from goodgain import ConversationScore, MeanRow, MeansOptions, Scoring
from goodgain.transforms import GlobalMeans, ReadTraces, ScoreConversations


def repeats_itself(score: ConversationScore) -> bool:
    """Whether most results of a conversation repeated earlier ones."""
    return (score.conversation.SRR or 0) > 0.4


def describe(score: ConversationScore) -> str:
    """The line about a conversation that repeats itself."""
    return f"repeats itself: {score.conversation.conversation_id}"


def line(row: MeanRow) -> str:
    """The line about a mean at N."""
    return f"{row.slice} {row.metric}: {row.mean:.4f} (n = {row.n})"


def main(traces: str) -> None:
    """Print the conversations that repeat themselves, and mean gains by market."""
    scoring = Scoring.default(["ndcg@10"])
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        read = pipeline | ReadTraces([traces])
        scored = read.records | ScoreConversations(scoring)
        _ = (
            scored.scores
            | "Repeating" >> beam.Filter(repeats_itself)
            | "Ids" >> beam.Map(describe)
            | "PrintIds" >> beam.Map(print)
        )
        _ = (
            scored.scores
            | GlobalMeans(scoring, MeansOptions(slice=(("market",),)))
            | "Gains" >> beam.Filter(lambda row: row.metric == "CG" and row.mean is not None)
            | "Lines" >> beam.Map(line)
            | "PrintMeans" >> beam.Map(print)
        )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "configs/data/sample.avro")
