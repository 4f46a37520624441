"""Cases that only documents show, not a list of labels: ties and negative labels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One topic of documents in a peer, and what it is to us.

    Attributes:
      why: the peer's rule and ours, in a sentence.
      metric, labels, pool, ours: our metric, what it is given, and its value; relevant from 1.
      tool, spelling, theirs: the peer's metric and its value.
      qrels, run: what the peer is given, document -> gain and document -> score.
    """

    why: str
    metric: str
    labels: tuple[int, ...]
    pool: tuple[int, ...]
    ours: float
    tool: str
    spelling: str
    theirs: float
    qrels: dict[str, int]
    run: dict[str, float]


CASES = (
    Case(
        why="Results with equal scores: trec_eval sorts them by document id, descending; ours "
        "keeps the rank that the trace gives.",
        metric="mrr",
        labels=(1, 0, 0),
        pool=(1, 0, 0),
        ours=1.0,
        tool="trec_eval",
        spelling="recip_rank",
        theirs=1 / 3,
        qrels={"a": 1, "b": 0, "c": 0},
        run={"a": 1.0, "b": 1.0, "c": 1.0},
    ),
    Case(
        why="A negative label in qrels: unjudged to trec_eval and to ours, judged non-relevant to "
        "ranx.",
        metric="bpref",
        labels=(-1, 1),
        pool=(1, 0),
        ours=1.0,
        tool="ranx",
        spelling="bpref",
        theirs=0.0,
        qrels={"a": 1, "b": -1, "c": 0},
        run={"b": 2.0, "a": 1.0},
    ),
)
