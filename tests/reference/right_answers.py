"""Outcomes, what goes with them, and repeats, straight from SPEC 12, by pairs and enumeration."""

from itertools import combinations
from math import comb

from tests.reference import delivery


def outcome_of(records, name, least=None):
    """The outcome of a conversation from its JSON records; None if the last turn has none."""
    parsed = [delivery.parse_record(raw) for raw in records]
    usable, _, _ = delivery.drop_redeliveries(parsed)
    ordered = delivery.in_order(usable)
    last = delivery.last_turn_of(ordered)
    having = [record for record in ordered if record["turn"] == last and name in record["outcomes"]]
    if not having:
        return None
    value = having[-1]["outcomes"][name]
    return value if least is None else float(value >= least)


def relation(conversations, outcome, metric, cluster=None):
    """How a metric goes with an outcome over conversations that are mappings of both.

    Args:
      cluster: what tells the cluster of a conversation; None = each is independent.
    """
    known = [
        (number, conversation)
        for number, conversation in enumerate(conversations)
        if conversation[outcome] is not None and conversation[metric] is not None
    ]
    ones, zeros = (
        [
            (cluster(row) if cluster else number, row[metric])
            for number, row in known
            if row[outcome] == value
        ]
        for value in (1, 0)
    )
    assert len(ones) + len(zeros) == len(known)  # of an outcome that is 0 or 1
    auc, stderr = auc_by_pairs(ones, zeros)
    return {
        "n": len(known),
        "n_one": len(ones),
        "n_zero": len(zeros),
        "mean_one": mean([value for _, value in ones]),
        "mean_zero": mean([value for _, value in zeros]),
        "positive_one": sum(value > 0 for _, value in ones),
        "positive_zero": sum(value > 0 for _, value in zeros),
        "auc": auc,
        "stderr": stderr,
    }


def auc_by_pairs(ones, zeros):
    """AUC and its standard error by Obuchowski, from (cluster, value) of either class.

    Where each value is a cluster of its own, that is DeLong's.
    """
    if not ones or not zeros:
        return None, None

    def win(one, zero):
        return (one > zero) + (one == zero) / 2

    m, n = len(ones), len(zeros)
    auc = sum(win(x, y) for _, x in ones for _, y in zeros) / (m * n)
    above, below = {}, {}  # sums of deviations by cluster
    for cluster, x in ones:
        placement = sum(win(x, y) for _, y in zeros) / n
        above[cluster] = above.get(cluster, 0) + placement - auc
    for cluster, y in zeros:
        placement = sum(win(x, y) for _, x in ones) / m
        below[cluster] = below.get(cluster, 0) + placement - auc
    if len(above) < 2 or len(below) < 2:
        return auc, None
    every = above.keys() | below.keys()
    s10 = len(above) / ((len(above) - 1) * m) * sum(count**2 for count in above.values())
    s01 = len(below) / ((len(below) - 1) * n) * sum(count**2 for count in below.values())
    both = sum(above.get(value, 0) * below.get(value, 0) for value in every)
    s11 = len(every) / (len(every) - 1) * both
    return auc, max(s10 / m + s01 / n + 2 * s11 / (m * n), 0) ** 0.5


def repeats(values_by_cluster, passes, k):
    """{name: (mean, n)} of pass@k, pass^k and flip_rate, from every way to choose k repeats.

    Args:
      values_by_cluster: the values of the metric that are not null, by cluster.
    """
    some, every, flips = [], [], []
    for values in values_by_cluster.values():
        passed = [passes(value) for value in values]
        if len(passed) >= k:
            chosen = list(combinations(passed, k))
            assert len(chosen) == comb(len(passed), k)
            some.append(sum(map(any, chosen)) / len(chosen))
            every.append(sum(map(all, chosen)) / len(chosen))
        if len(passed) >= 2:
            flips.append(any(passed) and not all(passed))
    return {
        f"pass@{k}": (mean(some), len(some)),
        f"pass^{k}": (mean(every), len(every)),
        "flip_rate": (mean(flips), len(flips)),
    }


def mean(values):
    return sum(values) / len(values) if values else None
