"""The functions that compute the metrics of aspects (SPEC 13), as those in `binary.py`."""

from __future__ import annotations

from goodgain.transforms.core.ranking.ranked_list import RankedList


def aspect_recall(ranked: RankedList, k: int | None) -> float | None:
    """The share of the topic's aspects that the first k results cover (SPEC 13).

    Undefined if the topic has no aspect, or none is known.
    Source: Zhai, Cohen and Lafferty, "Beyond independent relevance", SIGIR 2003: S-recall; ndeval's
    strec@k.
    """
    return None if ranked.aspects is None else ranked.aspects.recall(k)


def alpha_ndcg(ranked: RankedList, k: int | None) -> float | None:
    """Discounted gain of aspects, halved each time one is repeated, by the greedy ideal (SPEC 13).

    Undefined if the topic has no aspect, or none is known.
    Source: Clarke et al., "Novelty and diversity in information retrieval evaluation", SIGIR 2008;
    ndeval's alpha-nDCG@k.
    """
    return None if ranked.aspects is None else ranked.aspects.ndcg(k)
