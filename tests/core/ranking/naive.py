"""Direct, slow implementations of the formulas of SPEC 8, as an independent reference."""

from __future__ import annotations

from itertools import product
from math import fsum, log2, prod

THRESHOLD = 2
G_MAX = 4


def evaluate(name, labels, pool, scores=None, call_ends=()):
    """The value of the metric `name`, computed from its definition."""
    family, _, argument = name.replace(".", "@").partition("@")
    return globals()["_" + family](List(labels, pool, scores, call_ends), argument)


class List:
    def __init__(self, labels, pool, scores, call_ends=()):
        self.labels, self.pool, self.scores = labels, pool, scores
        self.call_ends = call_ends
        self.n = len(labels)
        self.R = sum(g >= THRESHOLD for g in pool)
        self.N = len(pool) - self.R
        self.ideal = sorted(pool, reverse=True)

    def g(self, j):
        return max(self.labels[j - 1], 0)

    def rel(self, j):
        return int(self.g(j) >= THRESHOLD)

    def nonrel(self, j):
        return 0 <= self.labels[j - 1] < THRESHOLD

    def call(self, j):
        """The search call at rank j."""
        return sum(last < j for last in self.call_ends)

    def scored(self, call):
        """Whether any result of a call has a score."""
        ranks = [j for j in self.upto(None) if self.call(j) == call]
        return self.scores is not None and any(self.scores[j - 1] is not None for j in ranks)

    def upto(self, k):
        return range(1, min(int(k or self.n), self.n) + 1)


def _hits(x, k):
    return sum(x.rel(j) for j in x.upto(k))


def _hit_rate(x, k):
    return 1 if _hits(x, k) > 0 else 0


def _precision(x, k):
    if not k and x.n == 0:
        return None
    return _hits(x, k) / int(k or x.n)


def _recall(x, k):
    return _hits(x, k) / x.R if x.R else None


def _f1(x, k):
    if x.R == 0:
        return None
    p, r = _precision(x, k) or 0, _recall(x, k)
    return 2 * p * r / (p + r) if p + r else 0


def _r_precision(x, _):
    return _hits(x, x.R) / x.R if x.R else None


def _bpref(x, _):
    if x.R == 0:
        return None
    terms = []
    for r in x.upto(None):
        if x.rel(r):
            above = sum(x.nonrel(j) for j in range(1, r))
            terms.append(1 if x.N == 0 else 1 - min(above, x.R) / min(x.R, x.N))
    return fsum(terms) / x.R


def _rbp(x, digits):
    p = float("0." + digits)
    return (1 - p) * fsum(x.rel(j) * p ** (j - 1) for j in x.upto(None))


def _rbp_residual(x, digits):
    p = float("0." + digits)
    unjudged = (p ** (j - 1) for j in x.upto(None) if x.labels[j - 1] == -1)
    return (1 - p) * fsum(unjudged) + p**x.n


def _mrr(x, k):
    if x.R == 0:
        return None
    return next((1 / j for j in x.upto(k) if x.rel(j)), 0)


def _map(x, k):
    if x.R == 0:
        return None
    return fsum(x.rel(j) * _hits(x, j) / j for j in x.upto(k)) / x.R


def _cg(x, k):
    return sum(x.g(j) for j in x.upto(k))


def _dcg(x, k, gain=lambda g: g):
    return fsum(gain(x.g(j)) / log2(j + 1) for j in x.upto(k))


def _dcg_burges(x, k):
    return _dcg(x, k, lambda g: 2**g - 1)


def _ndcg(x, k, dcg=_dcg):
    ideal = dcg(List(x.ideal, x.pool, None), k)
    return dcg(x, k) / ideal if ideal else None


def _ndcg_burges(x, k):
    return _ndcg(x, k, _dcg_burges)


def _err(x, k):
    P = [(2 ** x.g(j) - 1) / 2**G_MAX for j in x.upto(None)]
    return fsum(P[j - 1] / j * prod(1 - P[i - 1] for i in range(1, j)) for j in x.upto(k))


def _nerr(x, k):
    return _ndcg(x, k, _err)


def _auc(x, _):
    ranks = x.upto(None)
    score_keys = {
        j: (1, x.scores[j - 1]) if x.scored(x.call(j)) and x.scores[j - 1] is not None else (0, -j)
        for j in ranks
    }
    every_pair = product(filter(x.rel, ranks), filter(x.nonrel, ranks))
    pairs = [(a, b) for a, b in every_pair if x.call(a) == x.call(b)]
    if not pairs:
        return None
    wins = [score_keys[a] > score_keys[b] or (score_keys[a] == score_keys[b]) / 2 for a, b in pairs]
    return fsum(wins) / len(pairs)


def _judged(x, k):
    ranks = x.upto(k)
    return sum(x.labels[j - 1] != -1 for j in ranks) / len(ranks) if ranks else None


def _strec(ranked, cutoff):
    return None  # these lists have no aspects; `test_aspects.py` has lists with some


def _alpha_ndcg(ranked, cutoff):
    return None
