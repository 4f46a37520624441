"""Metrics that users declare in code of their own: functions of a prefix.

They are named like `my_metrics.py:mine` (a file) or `package.module:mine`, and are known from then
on by the last part. A file travels with its metrics to workers, which need not have it.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.metric import (
    GREATEST_VALUE,
    ZERO_TO_ONE,
    DescribedMetric,
    Direction,
    Metric,
    Place,
)
from goodgain.transforms.core.metrics.by_name import is_metric_name, remember
from goodgain.transforms.core.metrics.own_names import full_name
from goodgain.transforms.core.metrics.prefix import Prefix

# A metric that a user took the trouble to write takes part in comparisons and their verdicts.
_PLACES: tuple[Place, ...] = ("comparison", "decision")
_declared: dict[str, Metric] = {}  # by full name, those of this process


class OwnMetricError(UsageError):
    """A user's function failed, or gave no number."""


class OwnFunction(Struct, frozen=True):
    """A user's function of a prefix, whose values are checked.

    Attributes:
      unit, whole: the unit of its values, and whether they are whole numbers.
      place, source: the path and the text of its file; empty for a function of a module.
    """

    name: str
    function: Callable[[Prefix], Any]
    unit: str
    whole: bool
    place: str = ""
    source: str = ""

    def __call__(self, prefix: Prefix) -> float | None:
        """The value.

        Raises:
          OwnMetricError: the function failed, or gave no number, or none that the unit has.
        """
        try:
            value = self.function(prefix)
        except Exception as error:
            raise OwnMetricError(
                f"The metric {self.name} failed at i = {prefix.i}: {type(error).__name__}: {error}."
            ) from error
        if value is None:
            return None
        if isinstance(value, Integral):
            value = int(value)
        elif isinstance(value, Real):
            value = float(value)
        # An integer may be too great for a float, and even to be shown; nan is below nothing.
        if not isinstance(value, int | float) or not abs(value) < GREATEST_VALUE:
            shown = "an integer beyond 2^500" if isinstance(value, int) else reprlib.repr(value)
            raise self._unusable(shown, prefix, "a finite number")
        if self.unit in ZERO_TO_ONE and not 0 <= value <= 1:
            wanted = f"a number from 0 to 1, as its unit is {self.unit!r}"
            raise self._unusable(repr(value), prefix, wanted)
        if self.whole and value != int(value):
            raise self._unusable(repr(value), prefix, "a whole number, as it is declared whole")
        return int(value) if self.whole else value

    def _unusable(self, shown: str, prefix: Prefix, wanted: str) -> OwnMetricError:
        return OwnMetricError(
            f"The metric {self.name} gave {shown} at i = {prefix.i}: return {wanted}, or None "
            "where it is undefined."
        )

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Pickle a function of a file as the text of that file."""
        if self.source:
            return _of_source, (self.place, self.source, self.name)
        return OwnFunction, (self.name, self.function, self.unit, self.whole)


def metric(
    *,
    unit: str,
    words: str,
    direction: Direction = "higher",
    undefined: str = "the metric gives none",
    whole: bool = False,
    needs_labels: bool = True,
    caution: str = "",
) -> Callable[[Callable[[Prefix], Any]], Metric]:
    """Declare a metric of your own: a function of a prefix, the turn up to an iteration.

    The function gets a `Prefix` and returns a number, or None where the metric is undefined. At N
    it gets the whole turn, and for the curves each of its prefixes. Its name is that of the metric,
    its docstring the meaning. Give it to `evaluate` or `Scoring.default` beside the names of
    ranking metrics, or to `goodgain run` as `--metrics my_metrics.py:name`.

    Args:
      unit: like "results"; `share` for values from 0 to 1.
      words: its name for readers, like "Good results at the top".
      direction: whether a higher or a lower value is better, or neither.
      undefined: when it is None, in words.
      whole: whether values are whole numbers.
      needs_labels: whether it is meaningless if no result has a label.
      caution: one sentence on how a better value may mislead.

    Raises:
      UsageError: the name is that of another metric, or the direction is unknown.

    Example:
      >>> import goodgain as gg
      >>> @gg.metric(unit="results", words="Good results of the best iteration", whole=True)
      ... def best_iteration(prefix: gg.Prefix) -> int:
      ...     "The most good results that one iteration found."
      ...     return max((iteration.good for iteration in prefix.iterations), default=0)
      >>> call = {"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}, {"gain": 2}]}
      >>> mine: gg.Metric = best_iteration
      >>> run = gg.evaluate([call], metrics=["ndcg@10", mine])
      >>> run.conversations[0]["best_iteration"]
      2
    """
    if direction not in ("higher", "lower", "neither"):
        raise UsageError(f"direction is {direction!r}: give higher, lower or neither.")

    def declare(function: Callable[[Prefix], Any]) -> Metric:
        name = function.__name__
        if is_metric_name(name) or is_metric_name(f"{name}_at_i"):
            raise UsageError(f"{name} is another metric: give yours a name of its own.")
        meaning = " ".join((function.__doc__ or words).split())
        declared = Metric(
            name, unit, meaning if meaning.endswith(".") else f"{meaning}.", direction, undefined,
            f"{function.__module__}:{name}", whole=whole, signed=unit not in ZERO_TO_ONE,
            needs_labels=needs_labels, caution=caution, words=words, headline=_PLACES,
            function=OwnFunction(name, function, unit, whole),
        )  # fmt: skip
        declared = declared.with_so_far()
        _declared[full_name(declared)] = declared
        remember(declared)
        return declared

    return declare


def load_own_metrics(full_names: Iterable[str]) -> tuple[Metric, ...]:
    """The users' metrics with these full names.

    Raises:
      UsageError: there is no such file, module or metric.
    """
    return tuple(map(_find, full_names))


def _find(name: str) -> Metric:
    if name in _declared:
        return _declared[name]
    place, _, attribute = name.rpartition(":")
    if place.endswith(".py"):
        try:
            source = Path(place).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{name}: {place} cannot be read ({problem_of(error)}).") from None
        found = getattr(_module(place, source), attribute, None)
        if isinstance(found, Metric) and isinstance(found.function, OwnFunction):
            own = replace(found.function, place=place, source=source)
            found = replace(found, function=own, formula=name).with_so_far()
    else:
        try:
            found = getattr(import_module(place), attribute, None)
        except ImportError as error:
            raise UsageError(f"{name}: the module {place} cannot be imported ({error}).") from None
    if not isinstance(found, Metric) or found.name != attribute:
        raise UsageError(
            f"{name}: {place} declares no metric {attribute}; write a function of a prefix with "
            f"@goodgain.metric(unit=..., words=...) above `def {attribute}(prefix):`."
        )
    return found


@lru_cache(maxsize=16)
def _module(place: str, source: str) -> ModuleType:
    """The module of a file's text; errors in it are the user's to see."""
    module = ModuleType(Path(place).stem)
    module.__file__ = place
    try:
        exec(compile(source, place, "exec"), vars(module))
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{place} cannot be run: {type(error).__name__}: {error}.") from error
    return module


def _of_source(place: str, source: str, name: str) -> OwnFunction:
    function: OwnFunction = getattr(_module(place, source), name).function
    return replace(function, place=place, source=source)


def own_metrics_of(described: Iterable[DescribedMetric]) -> tuple[Metric, ...]:
    """The users' metrics of a finished run, without functions, known by name from then on.

    Args:
      described: as its manifest has them.
    """
    found = tuple(
        Metric(
            **asdict(metric),
            signed=metric.unit not in ZERO_TO_ONE,
            idle=False,
            headline=_PLACES,
        ).with_so_far()
        for metric in described
    )
    for declared in found:
        remember(declared)
    return found
