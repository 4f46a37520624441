"""Builds the `Scoring` of a run or stream from its options."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from goodgain.pipeline.settings.scoring_config import ScoringConfig
from goodgain.transforms.core.dedup.rules import compile_rules
from goodgain.transforms.core.dedup.rules_file import RulesFile
from goodgain.transforms.core.pool.files import PoolUse
from goodgain.transforms.core.ranking import RankingEvaluator
from goodgain.transforms.core.scoring.settings import Scoring

_MILLIS = 1_000  # of a second


def scoring_of(
    config: ScoringConfig,
    rules: RulesFile,
    clock: datetime | None = None,
    pool: PoolUse | None = None,
    costs: Collection[str] = (),
) -> Scoring:
    """The `Scoring` of a run or stream.

    Args:
      rules: the rules for duplicates that `config.rules` names.
      clock: start time of the run; None in a stream.
      costs: names of costs in the first records, used unless the options name others.
    """
    return Scoring(
        rules=compile_rules(rules),
        ranking=RankingEvaluator(config.ranking_metrics, config.relevant_from, config.g_max),
        good_gain_threshold=config.good_gain_threshold,
        hold_slot=config.duplicates == "hold_slot",
        per_call=config.per_call,
        bounds=config.bounds,
        keep_duplicates=config.write_duplicates,
        clock=None if clock is None else int(clock.timestamp() * _MILLIS),
        label_keys=config.label_keys,
        pool=pool,
        costs=config.costs(costs),
        budgets=config.budgets,
    )
