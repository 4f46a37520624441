"""Values of conversations that did not search, for the population `everyone` (SPEC 6, 9)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from goodgain.transforms.core.ranking import RankingEvaluator, parse_ranking_metrics
from goodgain.transforms.core.scoring.metric_by_name import value_without_search
from goodgain.transforms.core.scoring.registry import OF_POOL


class Unsearched:
    """The values of one run's conversations without search."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """Read how the run was scored.

        Args:
          parameters: the parameters in its manifest.
        """
        threshold = parameters["good_gain_threshold"]
        self._evaluator = RankingEvaluator(
            parse_ranking_metrics(parameters.get("metrics", ())),
            parameters.get("relevance_threshold") or threshold,
            parameters.get("g_max", 4),
        )
        self._ranking = cache(self._of_empty_list)

    def at_end(self, name: str, row: Mapping[str, Any]) -> float:
        """The value of a metric at N; NaN if it has none.

        See `value_without_search`; ranking metrics have the value of an empty list, as in `means`.

        Args:
          row: a row of `conversations` without search.
        """
        value, nothing = row[name], self.by_i(name, row)
        if value_without_search(name) is None or value is None:
            value = nothing
            best = "pool_best" if "pool_best" in row else "qrels_best"
            if value == 0:
                value = self._ranking(row.get(best)).get(name, value)
        return float("nan") if value is None else float(value)

    def by_i(self, name: str, row: Mapping[str, Any]) -> float:
        """The value of a metric of iterations, which is the same at every i."""
        nothing = value_without_search(name)
        nothing_to_find = name in OF_POOL and not row["pool_good"]
        return float("nan") if nothing is None or nothing_to_find else nothing

    def _of_empty_list(self, best: int | None) -> dict[str, float | None]:
        """The ranking metrics of an empty list; they depend only on the best judged label."""
        values = self._evaluator.evaluate((), () if best is None else (best,), ())
        names = (metric.name for metric in self._evaluator.metrics)
        return dict(zip(names, values, strict=True))
