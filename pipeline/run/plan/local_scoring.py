"""Opens everything that scoring needs from local files, without Beam."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from msgspec import Struct

from goodgain.pipeline.results.opened_pool import OpenedPool, open_pool
from goodgain.pipeline.run.plan.local_files import local_files, open_local
from goodgain.pipeline.run.plan.scoring import scoring_of
from goodgain.pipeline.settings.run_config import ExplainConfig
from goodgain.pipeline.settings.yaml_model import load_rules
from goodgain.transforms.core.dedup.rules_file import RulesFile
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.memory_budget import MemoryBudget, default_memory_budget
from goodgain.transforms.core.scoring.settings import Scoring


class LocalScoring(Struct, frozen=True):
    """The inputs of scoring besides the traces.

    Attributes:
      qrels: files of judgments; empty if the labels of the traces count.
    """

    scoring: Scoring
    rules: RulesFile
    pool: OpenedPool | None
    qrels: list[InputFile]


def local_scoring(
    config: ExplainConfig, costs: Collection[str] = (), clock: datetime | None = None
) -> LocalScoring:
    """Open the files named by the options.

    Args:
      costs: names of costs in the first records, used unless others are requested.

    Raises:
      UsageError: rules, judgments or pool cannot be found or used.
    """
    rules = load_rules(config.rules)
    qrels = local_files([config.qrels]) if config.qrels else []
    pool = open_pool(config.pool, config.run_name, open_local) if config.pool else None
    scoring = scoring_of(config, rules, clock=clock, pool=pool.use if pool else None, costs=costs)
    return LocalScoring(scoring, rules, pool, qrels)


def memory_budget_of(
    config: ExplainConfig, traces: Iterable[InputFile], pool: OpenedPool | None
) -> MemoryBudget:
    """The limit on memory for traces, and for judgments, labels and the pool.

    Raises:
      UsageError: a file of labels or judgments cannot be found.
    """
    pool_pattern = None if pool is None else pool.use.files.pattern
    patterns = [one for one in (config.qrels, config.labels, pool_pattern) if one is not None]
    files = [*traces, *(local_files(patterns) if patterns else ())]
    return MemoryBudget(
        config.max_held_bytes or default_memory_budget(sum(file.size for file in files))
    )
