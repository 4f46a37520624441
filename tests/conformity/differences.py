"""Cases in which peers follow other rules than we do, each with an example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.conformity.tools import LEVEL
from tests.conformity.topics import Topic

NAN = float("nan")


@dataclass(frozen=True)
class Difference:
    """A case in which a peer follows another rule.

    Attributes:
      why: its rule and ours, in a sentence.
      applies: whether a topic is such a case.
      example: a topic to which it applies.
      ours: our value for the example; None if undefined.
      theirs: the tool's value for the example, or the exception that it raises.
    """

    why: str
    applies: Callable[[Topic], bool]
    example: Topic
    ours: float | None
    theirs: float | type[Exception]


def _relevant(gains) -> int:
    return sum(gain >= LEVEL for gain in gains)


def _nonrelevant(gains) -> int:
    return sum(0 <= gain < LEVEL for gain in gains)


def _one_class(topic: Topic) -> bool:
    return not _relevant(topic.labels) or not _nonrelevant(topic.labels)


NO_RELEVANT = Difference(
    why="A topic without a relevant document: ours is null and not averaged, theirs is 0.",
    applies=lambda topic: not _relevant(topic.pool),
    example=Topic((0, 1)),
    ours=None,
    theirs=0.0,
)
NO_GAIN = Difference(
    why="A topic whose judged documents all have gain 0: ours is null and not averaged, "
    "theirs is 0.",
    applies=lambda topic: not any(topic.pool),
    example=Topic((0, 0)),
    ours=None,
    theirs=0.0,
)
RANX_BPREF = Difference(
    why="Nothing is judged non-relevant: ours counts each retrieved relevant document as 1, "
    "ranx divides 0 by 0, and the NaN makes its mean NaN.",
    applies=lambda topic: not _nonrelevant(topic.pool),
    example=Topic((-1, 2, 2)),
    ours=1.0,
    theirs=NAN,
)
RANX_GRADED_RBP = Difference(
    why="ranx weights each relevant result by its raw gain, so that values may exceed 1; ours is "
    "binary as in Moffat and Zobel.",
    applies=lambda topic: any(gain >= LEVEL for gain in topic.labels),
    example=Topic((3, 0, 2, 0)),
    ours=0.328,
    theirs=0.856,
)
RANX_LEVEL_CUTS_GAIN = Difference(
    why="With a relevance level, ranx treats gains below it as 0 in the list and in the ideal; "
    "ours sums all gains, for any threshold.",
    applies=lambda topic: any(0 < gain < LEVEL for gain in topic.pool),
    example=Topic((1, 2)),
    ours=0.859719,
    theirs=0.630930,
)
UNJUDGED_IN_ACCURACY = Difference(
    why="Accuracy counts unjudged results as non-relevant; ours is over judged results only.",
    applies=lambda topic: -1 in topic.labels,
    example=Topic((-1, 2, 0)),
    ours=1.0,
    theirs=0.5,
)
NO_NONRELEVANT_IN_ACCURACY = Difference(
    why="No result judged non-relevant was retrieved: ours is null, Accuracy divides by 0 and "
    "ends the evaluation of all topics.",
    applies=lambda topic: not _nonrelevant(topic.labels),
    example=Topic((2, 2)),
    ours=None,
    theirs=ZeroDivisionError,
)
ONE_CLASS = Difference(
    why="Only one class among the judged results: ours is null, scikit-learn gives NaN and warns.",
    applies=_one_class,
    example=Topic((2, 2)),
    ours=None,
    theirs=NAN,
)
IDEAL_OF_RETRIEVED = Difference(
    why="scikit-learn's ideal is the best order of the retrieved results, ours that of the whole "
    "judged pool.",
    applies=lambda topic: any(topic.rest),
    example=Topic((2, -1, 3), (1,)),
    ours=0.735007,
    theirs=0.821238,
)
RETRIEVED_RELEVANT = Difference(
    why="scikit-learn divides by the number of relevant results retrieved, ours by that of all "
    "relevant documents of the pool.",
    applies=lambda topic: _relevant(topic.rest) > 0,
    example=Topic((2, 0, 2), (2, 2, 2, 2)),
    ours=0.277778,
    theirs=0.833333,
)
TOO_SHORT = Difference(
    why="scikit-learn rejects a list of one document.",
    applies=lambda topic: len(topic.labels) < 2,
    example=Topic((2,)),
    ours=1.0,
    theirs=ValueError,
)
