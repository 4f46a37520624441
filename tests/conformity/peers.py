"""Which metric of ours is which of a peer, and where the two differ: what tests and table read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.conformity.tools import LEVEL
from tests.conformity.topics import Topic

CUTOFFS = (1, 3, 5, 10, 100)
NAN = float("nan")


@dataclass(frozen=True)
class Difference:
    """A case in which a peer follows another rule.

    Attributes:
      why: its rule and ours, in a sentence.
      applies: whether a topic is such a case.
      example: a topic that is.
      ours, theirs: the two values there; None when ours is undefined.
    """

    why: str
    applies: Callable[[Topic], bool]
    example: Topic
    ours: float | None
    theirs: float


@dataclass(frozen=True)
class Peer:
    """One metric in one tool.

    Attributes:
      metric: our spelling, with {k} for each of CUTOFFS.
      tool: a key of `tools.TOOLS`.
      spelling: the tool's spelling, with {k}.
      differences: where the definitions part; everywhere else the values must match.
      tolerance: absolute; what the tool prints or stores allows no more.
      binary: whether the tool gets gains 1 and 0 for relevant and not.
    """

    metric: str
    tool: str
    spelling: str
    differences: tuple[Difference, ...] = ()
    tolerance: float = 1e-9
    binary: bool = False

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Our name and the tool's, for each cutoff."""
        cutoffs = CUTOFFS if "{k}" in self.metric else CUTOFFS[:1]
        return [(self.metric.format(k=k), self.spelling.format(k=k)) for k in cutoffs]

    def comparable(self, topic: Topic) -> bool:
        return not any(difference.applies(topic) for difference in self.differences)

    def theirs(self, topic: Topic) -> Topic:
        """The topic as the tool gets it."""
        return topic.binary(LEVEL) if self.binary else topic


def _relevant(gains) -> int:
    return sum(gain >= LEVEL for gain in gains)


def _nonrelevant(gains) -> int:
    return sum(0 <= gain < LEVEL for gain in gains)


def _one_class(topic: Topic) -> bool:
    return not _relevant(topic.labels) or not _nonrelevant(topic.labels)


NO_RELEVANT = Difference(
    why="A topic without a relevant document: ours is null and leaves the mean, theirs is 0.",
    applies=lambda topic: not _relevant(topic.pool),
    example=Topic((0, 1)),
    ours=None,
    theirs=0.0,
)
NO_GAIN = Difference(
    why="A topic whose judged documents all have gain 0: ours is null and leaves the mean, "
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
RANX_BPREF_EMPTY = Difference(
    why="A topic without a relevant document: ours is null and leaves the mean, ranx gives NaN.",
    applies=NO_RELEVANT.applies,
    example=Topic((0, 1)),
    ours=None,
    theirs=NAN,
)
RANX_GRADED_RBP = Difference(
    why="ranx weighs each relevant result by its raw gain, so that the value leaves 0..1; ours "
    "is binary as in Moffat and Zobel.",
    applies=lambda topic: any(gain >= LEVEL for gain in topic.labels),
    example=Topic((3, 0, 2, 0)),
    ours=0.328,
    theirs=0.856,
)
RANX_LEVEL_CUTS_GAIN = Difference(
    why="With a relevance level, ranx takes gains below it for 0 in list and ideal; ours sums "
    "every gain, whatever the threshold.",
    applies=lambda topic: any(0 < gain < LEVEL for gain in topic.pool),
    example=Topic((1, 2)),
    ours=0.859719,
    theirs=0.630930,
)
UNJUDGED_IN_ACCURACY = Difference(
    why="Accuracy takes unjudged results for non-relevant; auc is over judged results only.",
    applies=lambda topic: -1 in topic.labels,
    example=Topic((-1, 2, 0)),
    ours=1.0,
    theirs=0.5,
)
NO_PAIRS_IN_ACCURACY = Difference(
    why="No relevant result was retrieved: ours is null, Accuracy leaves the topic out and "
    "ir_measures fills in its default.",
    applies=_one_class,
    example=Topic((0, 0)),
    ours=None,
    theirs=NAN,
)
ONE_CLASS = Difference(
    why="Only one class among the judged results: ours is null, scikit-learn gives NaN and warns.",
    applies=_one_class,
    example=Topic((2, 2)),
    ours=None,
    theirs=NAN,
)
IDEAL_OF_RETRIEVED = Difference(
    why="scikit-learn sees only the list: its ideal is the best order of what was retrieved, "
    "ours of the whole judged pool.",
    applies=lambda topic: any(topic.rest),
    example=Topic((2, -1, 3), (1,)),
    ours=0.735007,
    theirs=0.821238,
)
RETRIEVED_RELEVANT = Difference(
    why="scikit-learn divides by the relevant results retrieved, ours by all relevant documents "
    "of the pool.",
    applies=lambda topic: _relevant(topic.rest) > 0,
    example=Topic((2, 0, 2), (2, 2, 2, 2)),
    ours=0.277778,
    theirs=0.833333,
)
TOO_SHORT = Difference(
    why="scikit-learn refuses a list of one document.",
    applies=lambda topic: len(topic.labels) < 2,
    example=Topic((2,)),
    ours=1.0,
    theirs=NAN,
)

# gdeval, which ir_measures calls for these two, prints five decimals.
_FIVE_DECIMALS = 5.001e-6

PEERS = (
    Peer("hits", "trec_eval", "num_rel_ret"),
    Peer("hit_rate@{k}", "trec_eval", "success_{k}"),
    Peer("precision", "trec_eval", "set_P"),
    Peer("precision@{k}", "trec_eval", "P_{k}"),
    Peer("recall", "trec_eval", "set_recall", (NO_RELEVANT,)),
    Peer("recall@{k}", "trec_eval", "recall_{k}", (NO_RELEVANT,)),
    Peer("f1", "trec_eval", "set_F", (NO_RELEVANT,)),
    Peer("r_precision", "trec_eval", "Rprec", (NO_RELEVANT,)),
    Peer("bpref", "trec_eval", "bpref", (NO_RELEVANT,)),
    Peer("mrr", "trec_eval", "recip_rank", (NO_RELEVANT,)),
    Peer("map", "trec_eval", "map", (NO_RELEVANT,)),
    Peer("map@{k}", "trec_eval", "map_cut_{k}", (NO_RELEVANT,)),
    Peer("ndcg", "trec_eval", "ndcg", (NO_GAIN,)),
    Peer("ndcg@{k}", "trec_eval", "ndcg_cut_{k}", (NO_GAIN,)),
    Peer("hits", "ranx", "hits-l2"),
    Peer("hits@{k}", "ranx", "hits@{k}-l2"),
    Peer("hit_rate", "ranx", "hit_rate-l2"),
    Peer("hit_rate@{k}", "ranx", "hit_rate@{k}-l2"),
    Peer("precision", "ranx", "precision-l2"),
    Peer("precision@{k}", "ranx", "precision@{k}-l2"),
    Peer("recall", "ranx", "recall-l2", (NO_RELEVANT,)),
    Peer("recall@{k}", "ranx", "recall@{k}-l2", (NO_RELEVANT,)),
    Peer("f1", "ranx", "f1-l2", (NO_RELEVANT,)),
    Peer("f1@{k}", "ranx", "f1@{k}-l2", (NO_RELEVANT,)),
    Peer("r_precision", "ranx", "r-precision-l2", (NO_RELEVANT,)),
    Peer("bpref", "ranx", "bpref-l2", (RANX_BPREF, RANX_BPREF_EMPTY)),
    Peer("rbp.8", "ranx", "rbp.8-l2", (RANX_GRADED_RBP,)),
    Peer("rbp.8", "ranx", "rbp.8", binary=True),
    Peer("rbp.95", "ranx", "rbp.95", binary=True),
    Peer("mrr", "ranx", "mrr-l2", (NO_RELEVANT,)),
    Peer("mrr@{k}", "ranx", "mrr@{k}-l2", (NO_RELEVANT,)),
    Peer("map", "ranx", "map-l2", (NO_RELEVANT,)),
    Peer("map@{k}", "ranx", "map@{k}-l2", (NO_RELEVANT,)),
    Peer("dcg", "ranx", "dcg"),
    Peer("dcg@{k}", "ranx", "dcg@{k}"),
    Peer("dcg_burges", "ranx", "dcg_burges"),
    Peer("dcg_burges@{k}", "ranx", "dcg_burges@{k}"),
    Peer("ndcg", "ranx", "ndcg", (NO_GAIN,)),
    Peer("ndcg", "ranx", "ndcg-l2", (NO_GAIN, RANX_LEVEL_CUTS_GAIN)),
    Peer("ndcg@{k}", "ranx", "ndcg@{k}", (NO_GAIN,)),
    Peer("ndcg_burges", "ranx", "ndcg_burges", (NO_GAIN,)),
    Peer("ndcg_burges@{k}", "ranx", "ndcg_burges@{k}", (NO_GAIN,)),
    Peer("hits", "ir_measures", "NumRet(rel=2)"),
    Peer("hit_rate@{k}", "ir_measures", "Success(rel=2)@{k}"),
    Peer("precision", "ir_measures", "SetP(rel=2)"),
    Peer("precision@{k}", "ir_measures", "P(rel=2)@{k}"),
    Peer("recall", "ir_measures", "SetR(rel=2)", (NO_RELEVANT,)),
    Peer("recall@{k}", "ir_measures", "R(rel=2)@{k}", (NO_RELEVANT,)),
    Peer("f1", "ir_measures", "SetF(rel=2)", (NO_RELEVANT,)),
    Peer("r_precision", "ir_measures", "Rprec(rel=2)", (NO_RELEVANT,)),
    Peer("bpref", "ir_measures", "Bpref(rel=2)", (NO_RELEVANT,)),
    Peer("mrr", "ir_measures", "RR(rel=2)", (NO_RELEVANT,)),
    Peer("mrr@{k}", "ir_measures", "RR(rel=2)@{k}", (NO_RELEVANT,)),
    Peer("map", "ir_measures", "AP(rel=2)", (NO_RELEVANT,)),
    Peer("map@{k}", "ir_measures", "AP(rel=2)@{k}", (NO_RELEVANT,)),
    Peer("ndcg", "ir_measures", "nDCG", (NO_GAIN,)),
    Peer("ndcg@{k}", "ir_measures", "nDCG@{k}", (NO_GAIN,)),
    Peer(
        "ndcg_burges@{k}",
        "ir_measures",
        "nDCG(dcg='exp-log2')@{k}",
        (NO_GAIN,),
        tolerance=_FIVE_DECIMALS,
    ),
    Peer("err@{k}", "ir_measures", "ERR@{k}", tolerance=_FIVE_DECIMALS),
    Peer("judged", "ir_measures", "Judged"),
    Peer("judged@{k}", "ir_measures", "Judged@{k}"),
    Peer(
        "auc", "ir_measures", "Accuracy(rel=2)", (UNJUDGED_IN_ACCURACY, NO_PAIRS_IN_ACCURACY)
    ),
    Peer("auc", "scikit-learn", "roc_auc_score", (ONE_CLASS,)),
    Peer("map", "scikit-learn", "average_precision_score", (RETRIEVED_RELEVANT, NO_RELEVANT)),
    Peer("ndcg", "scikit-learn", "ndcg_score", (IDEAL_OF_RETRIEVED, NO_GAIN, TOO_SHORT)),
)
