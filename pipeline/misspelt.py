"""Names in the options of a run that no conversation has, which may be misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.transforms.core.scoring.costs import COST


def misspelt_names(
    means: Sequence[Mapping[str, Any]],
    slices: Iterable[Mapping[str, str]],
    manifest: Mapping[str, Any],
) -> Iterator[str]:
    """A sentence for each name in the options of a run that no conversation has.

    Args:
      means: rows at N of all conversations.
      slices: the slices of the run, repeated or not.
    """
    yield from unknown_costs(means)
    yield from unknown_attributes(slices)
    if line := unshared_cluster(means, manifest):
        yield line


def unknown_costs(means: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each requested cost that no conversation has.

    Args:
      means: rows at N of all conversations.
    """
    for row in means:
        if row["metric"].startswith(COST) and row["population"] == "all" and not row["n"]:
            name = row["metric"].removeprefix(COST)
            yield f"Costs: no conversation has {name} in all its calls; is it misspelt?"


def unknown_attributes(slices: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """A sentence for each attribute of slices that no conversation has."""
    values: dict[str, set[str]] = {}
    for one in slices:
        for name, value in one.items():
            values.setdefault(name, set()).add(value)
    for name in sorted(name for name, occurring in values.items() if occurring == {""}):
        yield f"Slices: no conversation has the attribute {name}; is it misspelt?"


def unshared_cluster(means: Iterable[Mapping[str, Any]], manifest: Mapping[str, Any]) -> str | None:
    """A sentence if every conversation is alone in its cluster since none has the attribute.

    Args:
      means: rows at N of all conversations.
    """
    attribute = manifest["parameters"].get("cluster")
    alone = attribute and manifest["conversations"].get("without_cluster", 0)
    clustered = [row for row in means if row["population"] == "all" and row["clusters"]]
    if alone and all(row["clusters"] == row["n"] for row in clustered):
        return f"No two conversations share {attribute}; is it misspelt?"
    return None
