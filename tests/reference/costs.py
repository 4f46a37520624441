"""Costs of iterations and gain per cost, directly from SPEC 5, in exact fractions."""

from fractions import Fraction
from itertools import groupby

from tests.reference import delivery


def costs_of(records, names):
    """For each iteration of a conversation, cost_i and cost_at_i by column."""
    parsed = [delivery.parse_record(raw) for raw in records]
    usable, _, _ = delivery.drop_redeliveries(parsed)
    ordered = delivery.in_order(usable)
    last = delivery.last_turn_of(ordered)
    turn = delivery.searches_of(ordered, last)
    by_iteration = [list(group) for _, group in groupby(turn, key=lambda one: one["iteration"])]
    rows = []
    for i in range(1, len(by_iteration) + 1):
        row = {}
        for name in names:
            so_far = [record for group in by_iteration[:i] for record in group]
            row[f"cost_i.{name}"] = sum_costs(by_iteration[i - 1], name)
            row[f"cost_at_i.{name}"] = sum_costs(so_far, name)
        rows.append(row)
    return rows


def sum_costs(records, name):
    if any(name not in record["costs"] for record in records):
        return None
    return float(sum(Fraction(record["costs"][name]) for record in records))


def at_end(rows, gain, names):
    """cost and CG_per by column; `gain` is CG, or None without a search."""
    row = {}
    for name in names:
        cost = rows[-1][f"cost_at_i.{name}"] if rows else None
        row[f"cost.{name}"] = cost
        row[f"CG_per.{name}"] = gain / cost if cost else None
    return row


def at_budget(rows, gains, name, budget):
    """The value at a budget, and whether it was reached; `gains` has a value per iteration."""
    spent = [row[f"cost_at_i.{name}"] for row in rows]
    if not spent or spent[-1] is None:
        return None, False
    within = [i for i, cost in enumerate(spent) if cost <= budget * (1 + 1e-9)]
    reached = spent[-1] >= budget * (1 - 1e-9)
    return (gains[max(within)] if within else 0), reached
