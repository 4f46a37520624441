"""One payload a conversation, made by a grouping of its own."""

from __future__ import annotations

from collections.abc import Iterable

import apache_beam as beam


class GatherPayloads(beam.PTransform):
    """`PCollection[tuple[str, bytes]]` to the same with the payloads of a conversation joined.

    `ScorePayloads` groups by its state, so most inputs need no other grouping. Two do. Beam's local
    runner puts what comes before a stateful DoFn into the one worker that has the state; a grouping
    between them lets reading and fingerprinting run in every worker process. And payloads from
    `JoinQrels` and `ReadEncodings` come at the end of event time, as timers do; Prism may fire the
    timer of a conversation before it brings them, but a grouping waits for all.
    """

    def expand(
        self, payloads: beam.PCollection[tuple[str, bytes]]
    ) -> beam.PCollection[tuple[str, bytes]]:
        """Apply the transform."""
        return (
            payloads
            | "GroupByConversation" >> beam.GroupByKey()
            | "Join" >> beam.MapTuple(_join).with_output_types(tuple[str, bytes])
        )


def _join(conversation_id: str, payloads: Iterable[bytes]) -> tuple[str, bytes]:
    return conversation_id, b"".join(payloads)
