"""The settings of scoring."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from goodgain.transforms.core.dedup.rules import RuleTable, Unit, compile_rules
from goodgain.transforms.core.dedup.rules_file import load_shipped_rules, read_rules
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.aspects import ASPECTS
from goodgain.transforms.core.metrics.budgets import Budget
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.metrics.outcomes import TurnOutcome
from goodgain.transforms.core.metrics.own import load_own_metrics
from goodgain.transforms.core.metrics.own_names import check_names, name_of, split_names
from goodgain.transforms.core.metrics.plan import MetricPlan, plan_of
from goodgain.transforms.core.metrics.pool import POOL
from goodgain.transforms.core.metrics.repeats import PassCondition
from goodgain.transforms.core.metrics.usage import USAGE
from goodgain.transforms.core.pool.files import PoolUse
from goodgain.transforms.core.ranking import (
    DEFAULT_RANKING_METRICS,
    RankingEvaluator,
    parse_ranking_metrics,
)
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.scoring.options import ScoringOptions


class Scoring(ScoringOptions, frozen=True, dict=True):
    """How conversations are scored.

    Some options of `goodgain run` are attributes of the same name, too, like `max_i`.

    Attributes:
      rules: the compiled rules for duplicates.
      ranking: computes the ranking metrics.
      hold_slot: whether later copies keep their places in ranked lists, as non-relevant.
      keep_duplicates: whether to also make a row for each duplicate.
      clock: start of the run in ms, beyond which timestamps are odd; None in a stream.
      label_keys: how external judgments are matched to results; None if the labels of the traces
        count.
      pool: the pool, whose labels override those of the traces; None without a pool.
      costs: names of the requested costs.
      budgets: amounts of costs at which gains are reported.
      aspects: whether to evaluate the aspects that documents cover; always with metrics of them.
      aspect_judgments: aspects judged outside, as `aspect_judgments` makes them of labels; None if
        those of the traces count.
      exclusions: documents that are left out of everything by topic, as `Exclusions` makes them.
      own: metrics of the user, made with `goodgain.metric`.
      outcomes: the requested outcomes.
      conditions, pass_k: what repeats are to pass, and how many of them; () = 1 and the median size
        of a cluster.
      usage: whether documents that the agent opened or cited are matched with those found.

    Example:
      >>> from goodgain import Budget, PassCondition, Scoring, TurnOutcome
      >>> budgets = (Budget("tokens", 1_000), Budget("tokens", 5_000))
      >>> scoring = Scoring.default(["ndcg@10"], costs=("tokens",), budgets=budgets)
      >>> scoring.good_gain_threshold
      2
      >>> right = Scoring.default(
      ...     outcomes=(TurnOutcome("correct"),), conditions=(PassCondition("CG", ">=", 5),)
      ... )
      >>> right.outcomes[0].metric.name
      'outcome.correct'
    """

    rules: RuleTable
    ranking: RankingEvaluator
    hold_slot: bool = False
    keep_duplicates: bool = False
    clock: int | None = None
    label_keys: LabelKeys | None = None
    pool: PoolUse | None = None
    costs: tuple[str, ...] = ()
    budgets: tuple[Budget, ...] = ()
    aspects: bool = False
    aspect_judgments: Any = None
    exclusions: Exclusions | None = None
    own: tuple[Metric, ...] = ()
    outcomes: tuple[TurnOutcome, ...] = ()
    conditions: tuple[PassCondition, ...] = ()
    pass_k: tuple[int, ...] = ()
    usage: bool = False

    def __post_init__(self) -> None:
        """Check that documents can have the best label.

        Raises:
          UsageError: something else decides about the labels of documents.
        """
        if self.document_label == "best" and (self.label_keys or self.pool or self.bounds):
            raise UsageError(
                "document_label is best, which excludes label_keys and pool, where each document "
                "has one label, and bounds, since labels that are missing could move gain."
            )

    @property
    def with_aspects(self) -> bool:
        """Whether the aspects that documents cover are evaluated."""
        return self.aspects or self.aspect_judgments is not None or self.ranking.needs_aspects

    @property
    def name_keys(self) -> LabelKeys | None:
        """How names of documents are matched to results; None if no judgment needs them."""
        if self.label_keys is not None:
            return self.label_keys
        by_name = self.aspect_judgments or self.exclusions
        return None if by_name is None else by_name.keys

    @cached_property
    def plan(self) -> MetricPlan:
        """Which values a conversation has, in order."""
        return plan_of(
            self.ranking.metrics,
            self.max_i,
            (
                *((POOL,) if self.pool is not None else ()),
                *((USAGE,) if self.usage else ()),
                *((ASPECTS,) if self.with_aspects else ()),
                *map(COSTS.of, self.costs),
                *(outcome.group for outcome in self.outcomes),
            ),
            tuple(self.budgets),
            self.own,
            tuple(self.conditions),
            tuple(self.pass_k),
        )

    @classmethod
    def default(
        cls,
        metrics: Sequence[str | Metric] = tuple(metric.name for metric in DEFAULT_RANKING_METRICS),
        good_gain_threshold: int = 2,
        relevance_threshold: int | None = None,
        g_max: int = GREATEST_GAIN,
        rules: str | None = None,
        unit: Unit = "document",
        **more: Any,
    ) -> Scoring:
        """The settings of `goodgain run`, from plain values.

        Args:
          metrics: ranking metrics, like `ndcg@10`, and metrics made with `goodgain.metric`.
          good_gain_threshold: smallest gain of a good result, 1 to 4.
          relevance_threshold: smallest gain of a relevant result; by default good_gain_threshold.
          g_max: the greatest gain of the labelling scale, for err and nerr.
          rules: YAML text of rules for duplicates, instead of the built-in ones.
          unit: what a result is, a document or a passage.
          more: other attributes, like `per_call=True`.

        Raises:
          UsageError: a value cannot be used.

        Example:
          >>> from goodgain import Scoring
          >>> [metric.name for metric in Scoring.default(["ndcg@10"]).ranking.metrics]
          ['ndcg@10']
        """
        if not 1 <= good_gain_threshold <= GREATEST_GAIN:
            raise UsageError(
                f"good_gain_threshold is {good_gain_threshold}: give 1 to {GREATEST_GAIN}."
            )
        ranking, own = split_names(check_names(map(name_of, metrics)))
        relevant_from = relevance_threshold or good_gain_threshold
        return cls(
            rules=compile_rules(load_shipped_rules() if rules is None else read_rules(rules), unit),
            ranking=RankingEvaluator(
                parse_ranking_metrics(ranking),
                relevant_from,
                g_max,
                judged_outside=bool(more.get("label_keys") or more.get("pool")),
            ),
            good_gain_threshold=good_gain_threshold,
            own=load_own_metrics(own),
            **more,
        )
