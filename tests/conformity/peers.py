"""Our metrics and their equivalents in peers, as compared by the tests and shown in the table."""

from __future__ import annotations

from dataclasses import dataclass

from tests.conformity.differences import (
    IDEAL_OF_RETRIEVED,
    NO_GAIN,
    NO_NONRELEVANT_IN_ACCURACY,
    NO_RELEVANT,
    ONE_CLASS,
    RANX_BPREF,
    RANX_GRADED_RBP,
    RANX_LEVEL_CUTS_GAIN,
    RETRIEVED_RELEVANT,
    TOO_SHORT,
    UNJUDGED_IN_ACCURACY,
    Difference,
)
from tests.conformity.tools import LEVEL
from tests.conformity.topics import Topic

CUTOFFS = (1, 3, 5, 10, 100)


@dataclass(frozen=True)
class Peer:
    """One metric in one tool.

    Attributes:
      metric: our spelling, with {k} for each of CUTOFFS.
      tool: a key of `tools.TOOLS`.
      spelling: the tool's spelling, with {k}.
      differences: cases in which the definitions differ; in all others values must be equal.
      tolerance: absolute; larger if the tool prints few decimals.
      binary: whether gains are passed to the tool as 1 (relevant) and 0.
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
        """The topic as it is passed to the tool."""
        return topic.binary(LEVEL) if self.binary else topic


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
    Peer("bpref", "ranx", "bpref-l2", (RANX_BPREF, NO_RELEVANT)),
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
        "auc", "ir_measures", "Accuracy(rel=2)", (UNJUDGED_IN_ACCURACY, NO_NONRELEVANT_IN_ACCURACY)
    ),
    Peer("auc", "scikit-learn", "roc_auc_score", (ONE_CLASS,)),
    Peer("map", "scikit-learn", "average_precision_score", (RETRIEVED_RELEVANT, NO_RELEVANT)),
    Peer("ndcg", "scikit-learn", "ndcg_score", (IDEAL_OF_RETRIEVED, NO_GAIN, TOO_SHORT)),
)
