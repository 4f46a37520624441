"""The conversations on which two arms differ most, in words."""

from __future__ import annotations

from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.document.numbers import difference_text, short_text
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.studies.comparison.examples import Example, Examples
from goodgain.pipeline.views.noteworthy import LONGEST_QUERY
from goodgain.transforms.core.metrics.by_name import metric_by_name


def title_lists(examples: Examples) -> tuple[tuple[str, tuple[Example, ...]], ...]:
    """Wins and losses with their titles."""
    return ("Largest wins", examples.wins), ("Largest losses", examples.losses)


def example_text(example: Example) -> str:
    """The numbers of both arms, in one line."""
    main = _change(example.metric, example.base_value, example.candidate_value)
    changes = [f"{main} ({difference_text(example.metric, example.difference)})"]
    for name, base in example.base_numbers.items():
        if name != example.metric:
            changes.append(_change(name, base, example.candidate_numbers[name]))
    return ", ".join(changes)


def query_text(example: Example) -> str | None:
    """What was asked, if that is known."""
    if example.query is None:
        return None
    return f'First query: "{shorten(example.query, LONGEST_QUERY)}"'


def withheld_sentence(metric: str, reason: str) -> Sentence:
    """Says that the metric that selects the examples is not comparable."""
    label = metric_by_name(metric).label
    return Sentence(f"{label} is not comparable. {reason[:1].upper()}{reason[1:]}.", "warning")


def _change(metric: str, base: float | None, candidate: float | None) -> str:
    values = f"{short_text(metric, base)} to {short_text(metric, candidate)}"
    return f"{metric_by_name(metric).label} {values}"
