"""The best case of a conversation: its metrics if every unlabelled document had the best label.

The worst case is the metrics themselves, since an unlabelled result has gain 0 (SPEC 5, 8).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.scoring.computed import computed, with_computed
from goodgain.transforms.core.scoring.gains import IterationCounts, iteration_rows
from goodgain.transforms.core.scoring.rows import ConversationRow, IterationRow
from goodgain.transforms.core.scoring.turn import Turn

_Values = tuple[float | None, ...]


class BestCase(Struct, frozen=True, array_like=True):
    """The rows of a conversation in the best case; only their bounded metrics are meaningful.

    Attributes:
      conversation: ranking metrics without bounds are null.
      iterations: by i - 1.
      calls: values of the ranking metrics by search call, null as above.
    """

    conversation: ConversationRow
    iterations: list[IterationRow]
    calls: list[_Values]


def best_counts(turn: Turn, label: int, good_gain_threshold: int) -> list[IterationCounts]:
    """The counts of the turn if every unlabelled first occurrence had this label.

    Labels of copies never count, so only first occurrences change (SPEC 5).
    """
    iterations: list[IterationCounts] = []
    place = 0
    for call in turn.calls:
        if not iterations or iterations[-1].iteration != call.iteration:
            iterations.append(replace(turn.iterations[len(iterations)]))
        counts = iterations[-1]
        for _ in call.results:
            unknown = turn.labels[place] is None and turn.duplicates[place] is None
            if unknown and label >= good_gain_threshold:
                counts.good += 1
                counts.gain += label
            place += 1
    return iterations


def best_case(
    row: ConversationRow,
    counts: Sequence[IterationCounts],
    as_is: Sequence[IterationRow],
    ranking: _Values,
    calls: list[_Values],
) -> BestCase:
    """The best case of a conversation that searched.

    Args:
      row: the actual row of the conversation.
      counts: counts of its iterations in the best case.
      as_is: the actual rows of its iterations; pool metrics have no best case.
      ranking, calls: values of its ranking metrics in the best case, and of those of its calls.
    """
    rows = iteration_rows(row.conversation_id, row.turn or 0, row.attributes, counts)
    iterations = [
        replace(best, pool=now.pool)
        for best, now in zip(with_computed(rows, counts), as_is, strict=True)
    ]
    last = iterations[-1]
    conversation = replace(
        row,
        GR=last.GR_at_i,
        CG=last.CG_at_i,
        RG=last.RG_at_i,
        DCG=last.DCG_at_i,
        DRG=last.DRG_at_i,
        RAG=last.RAG_at_i,
        DRAG=last.DRAG_at_i,
        SRE=last.SRE_at_i,
        ranking=ranking,
        computed=computed(counts),
    )
    return BestCase(conversation, iterations, calls)
