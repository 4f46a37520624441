"""Differences that need documents instead of labels: ties, negative labels, other topics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A topic as input of a peer, and the equivalent input of our evaluator.

    Attributes:
      why: the peer's rule and ours, in a sentence.
      metric, labels, pool, ours: our metric, its input, and its value; gains from 1 are relevant.
      tool, spelling, theirs: the peer's metric and its value.
      qrels, run: the peer's input, document -> gain and document -> score.
      beside: qrels and run of another topic, which the peer evaluates first; without that topic
        the peer agrees with us.
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
    beside: tuple[dict[str, int], dict[str, float]] | None = None


CASES = (
    Case(
        why="Results with equal scores: trec_eval sorts them by document id, descending; ours "
        "keeps their ranks in the trace.",
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
        why="A negative label in qrels: unjudged for trec_eval and for us, judged non-relevant for "
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
    Case(
        why="A negative label in qrels: unjudged for us, judged for ir_measures.",
        metric="judged@2",
        labels=(-1, 1),
        pool=(1,),
        ours=0.5,
        tool="ir_measures",
        spelling="Judged@2",
        theirs=1.0,
        qrels={"a": -1, "b": 1},
        run={"a": 2.0, "b": 1.0},
    ),
    Case(
        why="A topic without a relevant document: ranx then gives 0 for every topic of the batch; "
        "ours evaluates each topic separately.",
        metric="bpref",
        labels=(1, 0),
        pool=(1, 0),
        ours=1.0,
        tool="ranx",
        spelling="bpref",
        theirs=0.0,
        qrels={"a": 1, "b": 0},
        run={"a": 2.0, "b": 1.0},
        beside=({"a": 0, "b": 0}, {"a": 2.0, "b": 1.0}),
    ),
)
