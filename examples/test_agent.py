"""pytest examples/test_agent.py: a test that fails when a search agent has become worse."""

from collections.abc import Iterator
from typing import Any

import pytest

import goodgain as gg

RULES = ["conversations >= 40", "SRE >= 30 %", "CG drop <= 5 %", "SRR rise <= 0.05"]
QUERIES = [f"topic {number}" for number in range(40)]


def search(query: str, page: int) -> list[dict[str, Any]]:
    """A search engine with three pages a topic; the even results are good, more on early pages."""
    return [
        {"url": f"https://example.com/{query}/{page}/{rank}", "gain": (3 - page) * (rank % 2)}
        for rank in range(6 + hash_of(query) % 3)
    ]


def hash_of(query: str) -> int:
    """A number that is the same in every run, as `hash` is not."""
    return sum(map(ord, query))


def traces(pages: list[int]) -> Iterator[dict[str, Any]]:
    """One dict for each search call of an agent, which looks at these pages in turn."""
    for query in QUERIES:
        for iteration, page in enumerate(pages, start=1):
            yield {
                "conversation_id": query,
                "iteration": iteration,
                "query": f"{query} {page}",
                "results": search(query, page),
            }


@pytest.fixture(scope="module")
def release() -> gg.Run:
    """The agent that is in use; a project of yours would load a folder: `gg.load("release")`."""
    return gg.evaluate(list(traces([0, 1])))


def test_the_candidate_is_no_worse_than_the_release(release: gg.Run) -> None:
    """`check` raises with the rules that are broken, and pytest shows them."""
    gg.gate(gg.evaluate(list(traces([0, 1, 2]))), RULES, baseline=release).check()


def test_a_candidate_that_repeats_itself_is_found(release: gg.Run) -> None:
    """It looks at the first page twice."""
    verdict = gg.gate(gg.evaluate(list(traces([0, 0]))), RULES, baseline=release)
    print(verdict)
    assert not verdict
