"""Counts and gains of iterations, and the rows computed from them (SPEC 5, 6)."""

from math import log2

METRICS = ["CG", "RG", "DCG", "DRG", "RAG", "DRAG", "SRE", "SRR"]


def ratio(numerator, denominator):
    return numerator / denominator if denominator else 0.0


def sets_of_iteration(occurrences, finds):
    """R, UR, GR, Dup, G, unlabelled and AvgGain of one iteration's occurrences.

    `finds` has the gain of each good document that the iteration found, and whether it is new.
    """
    firsts = [occurrence for occurrence in occurrences if occurrence.is_first()]
    gain = sum(gain for gain, _ in finds)
    return {
        "R_i": len(occurrences),
        "UR_i": len(firsts),
        "GR_i": sum(new for _, new in finds),
        "Dup_i": len(occurrences) - len(firsts),
        "G_i": gain,
        "unlabelled_i": sum(occurrence.gain is None for occurrence in occurrences),
        "AvgGain_i": ratio(gain, len(occurrences)),
    }


def cumulative(iterations):
    """The columns X_at_i of the last iteration, computed from all iterations up to it."""
    count = len(iterations)
    numbered = list(enumerate(iterations, start=1))
    results = sum(iteration["R_i"] for iteration in iterations)
    first = sum(iteration["UR_i"] for iteration in iterations)
    good = sum(iteration["GR_i"] for iteration in iterations)
    duplicates = sum(iteration["Dup_i"] for iteration in iterations)
    gain = sum(iteration["G_i"] for iteration in iterations)
    discounted = sum(row["G_i"] / log2(k + 1) for k, row in numbered)
    return {
        "R_at_i": results,
        "UR_at_i": first,
        "GR_at_i": good,
        "DupR_at_i": duplicates,
        "CG_at_i": gain,
        "RG_at_i": gain / count,
        "DCG_at_i": discounted,
        "DRG_at_i": discounted / count,
        "RAG_at_i": sum(iteration["AvgGain_i"] for iteration in iterations) / count,
        "DRAG_at_i": sum(row["AvgGain_i"] / log2(k + 1) for k, row in numbered) / count,
        "SRE_at_i": ratio(good, results),
        "SRR_at_i": ratio(duplicates, results),
    }


def at_the_end(iterations):
    """The conversation's counts and metrics at N, from its complete iteration rows."""
    if not iterations:
        row = dict.fromkeys(["R", "UR", "GR", "DupR"], 0)
        row.update(dict.fromkeys(METRICS))
        row["iterations_for_all_good_results"] = None
        row["iterations_after_last_good"] = None
        return row
    last = iterations[-1]
    row = {name: last[f"{name}_at_i"] for name in ["R", "UR", "GR", "DupR", *METRICS]}
    good_at = [iteration["i"] for iteration in iterations if iteration["GR_i"] > 0]
    row["iterations_for_all_good_results"] = min(good_at[-1], 100) if good_at else None
    row["iterations_after_last_good"] = len(iterations) - (good_at[-1] if good_at else 0)
    return row


def label_conflicts(occurrences):
    """The number of copies whose label differs from that of their first occurrence."""
    return sum(
        occurrence.gain is not None
        and occurrence.first.gain is not None
        and occurrence.gain != occurrence.first.gain
        for occurrence in occurrences
    )
