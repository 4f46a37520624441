"""What texts and numbers of the options of scoring count as."""

from __future__ import annotations

from goodgain.transforms.core.metrics.budgets import parse_budgets
from goodgain.transforms.core.metrics.group import fits_column
from goodgain.transforms.core.metrics.outcomes import choose_outcomes
from goodgain.transforms.core.metrics.repeats import parse_condition

NONE = ("none",)
_MOST_REPEATS = 100_000


def cost_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of costs that are asked for, each once; `none` alone asks for none.

    Raises:
      ValueError: one cannot be part of the name of a column.
    """
    if names == NONE:
        return ()
    for name in names:
        if not fits_column(name):
            raise ValueError(f"must be names of letters, digits and _, not {name!r}")
    return tuple(dict.fromkeys(names))


def check_budgets(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Make sure that texts are budgets.

    Raises:
      UsageError: one is not.
    """
    parse_budgets(texts)
    return texts


def condition_texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Conditions as they are usually written, each once.

    Raises:
      UsageError: a text is not a condition.
    """
    return tuple(dict.fromkeys(map(str, map(parse_condition, texts))))


def repeat_numbers(ks: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of repeats that are asked for, ascending, each once.

    Raises:
      ValueError: one is too small or too great.
    """
    if any(not 1 <= k <= _MOST_REPEATS for k in ks):
        raise ValueError(f"must be from 1 to {_MOST_REPEATS:,}")
    return tuple(sorted(set(ks)))


def outcome_texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The outcomes that are asked for as they are usually written; `none` alone asks for none.

    Raises:
      UsageError: one is not an outcome, or is given twice.
    """
    return () if texts == NONE else tuple(map(str, choose_outcomes(texts, ())))
