"""Histories of synthetic days."""

from datetime import date, timedelta

import msgspec

from goodgain.pipeline.studies.nightly.days.entry import (
    DayChange,
    DayEntry,
    DayMean,
    entry_of_failure,
)
from goodgain.transforms.core.metrics.headline import headline

RANKING = "ndcg@10"


def entry(day, value=2.0, verdict="passed", reasons=(), baseline=("2025-03-01",), n=40):
    change = DayChange(
        n, n, value - 0.5, 0.5, 0.1, 0.9, "better", p_holm=0.01, verdict_ci_low=0.05,
        verdict_ci_high=0.95,
    )  # fmt: skip
    return DayEntry(
        date=day,
        verdict=verdict,
        exit_code=0,
        reasons=tuple(reasons),
        notes=(),
        baseline=tuple(baseline),
        means={
            name: DayMean(n, value, value - 0.5, value + 0.5)
            for name in (*headline("comparison"), RANKING)
        },
        changes=dict.fromkeys(headline("comparison"), change) if baseline else {},
        counts={"records": 4 * n, "rejected": 2, "in_means": n, "results": 100, "unlabelled": 7},
        started="2025-03-02T02:30:00+00:00",
        seconds=1.5,
    )


def week(why="CG drops"):
    """Seven days: the first has no baseline, the fourth fails the gate, the sixth has no run."""
    days = [entry("2025-03-01", baseline=())]
    days += [entry(f"2025-03-0{at}", 2 + at / 10) for at in (2, 3)]
    days += [entry("2025-03-04", 0.25, "gate failed", [why]), entry("2025-03-05", 2.5)]
    days.append(entry_of_failure(date(2025, 3, 6), why, "2025-03-07T02:30:00+00:00", 0.1))
    return [*days, entry("2025-03-07", 2.7)]


def many(count):
    first = date(2020, 1, 1)
    return [entry((first + timedelta(days=at)).isoformat(), at / 7) for at in range(count)]


def write_history(folder, entries):
    folder.mkdir(exist_ok=True)
    lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
    (folder / "history.jsonl").write_bytes(lines)
    return folder
