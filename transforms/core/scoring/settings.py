"""The settings of scoring."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from msgspec import field

from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules import RuleTable, Unit
from goodgain.transforms.core.dedup.rules_file import load_shipped_rules, read_rules
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.aspects import ASPECTS
from goodgain.transforms.core.metrics.budgets import Budget, parse_budgets
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.metrics.outcomes import TurnOutcome, choose_outcomes
from goodgain.transforms.core.metrics.own import load_own_metrics
from goodgain.transforms.core.metrics.own_names import (
    DEFAULT_METRICS,
    check_names,
    name_of,
    ranking_metrics_of,
    split_names,
)
from goodgain.transforms.core.metrics.plan import MetricPlan, plan_of
from goodgain.transforms.core.metrics.pool import POOL
from goodgain.transforms.core.metrics.repeats import PassCondition, parse_condition
from goodgain.transforms.core.metrics.usage import USAGE
from goodgain.transforms.core.pool.files import PoolUse
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.remedy import word
from goodgain.transforms.core.scoring.options import ScoringOptions, find_scale_mistake


def _refuse_missing_rules() -> RuleTable:
    raise UsageError(
        "Scoring needs compiled rules: make it with Scoring.default(), which has them."
    )


class Scoring(ScoringOptions, frozen=True, dict=True):
    """How conversations are scored.

    Options of `goodgain run` are attributes of the same name and form, like `max_i=20` and
    `budget=["tokens=1000"]`; `pass_` is `--pass`.

    Attributes:
      rules: the compiled rules for duplicates.
      clock: start of the run in ms, beyond which timestamps are odd; None in a stream.
      label_keys: how external judgments are matched to results; None if the labels of the traces
        count.
      pool: the pool, whose labels override those of the traces; None without a pool.
      aspects: whether to evaluate the aspects that documents cover; always with metrics of them.
      aspect_judgments: aspects judged outside, as `aspect_judgments` makes them of labels; None if
        those of the traces count.
      exclusions: documents that are left out of everything by topic, as `Exclusions` makes them.
      own: the metrics among `metrics` that were made with `goodgain.metric`.

    Example:
      >>> from goodgain import Scoring
      >>> scoring = Scoring.default(["ndcg@10"], cost=["usd"], budget=["tokens=1000,5000"])
      >>> scoring.good_gain_threshold
      2
      >>> scoring.costs
      ('usd', 'tokens')
      >>> right = Scoring.default(outcome=["correct"], pass_=["CG >= 5", "outcome.correct >= 1"])
      >>> [condition.metric for condition in right.conditions]
      ['CG', 'outcome.correct']
    """

    rules: RuleTable = field(default_factory=_refuse_missing_rules)
    clock: int | None = None
    label_keys: LabelKeys | None = None
    pool: PoolUse | None = None
    aspects: bool = False
    aspect_judgments: Any = None
    exclusions: Exclusions | None = None
    own: tuple[Metric, ...] = ()

    def __post_init__(self) -> None:
        """Check each option, and that documents can have the best label.

        Raises:
          UsageError: a value cannot be used, or something else decides about labels of documents.
        """
        super().__post_init__()
        if self.document_label == "best" and (self.label_keys or self.pool or self.bounds):
            raise UsageError(
                "document_label is best, which excludes label_keys and pool, where each document "
                "has one label, and bounds, since labels that are missing could move gain."
            )

    @property
    def hold_slot(self) -> bool:
        """Whether later copies keep their places in ranked lists, as non-relevant."""
        return self.duplicates == "hold_slot"

    @property
    def relevant_from(self) -> int:
        """The smallest gain of a relevant result."""
        if self.relevance_threshold is None:
            return self.good_gain_threshold
        return self.relevance_threshold

    @cached_property
    def ranking(self) -> RankingEvaluator:
        """Computes the ranking metrics."""
        return RankingEvaluator(
            ranking_metrics_of(self.metrics),
            self.relevant_from,
            self.g_max,
            judged_outside=self.label_keys is not None or self.pool is not None,
        )

    @cached_property
    def budgets(self) -> tuple[Budget, ...]:
        """Amounts of costs at which gains are reported."""
        return parse_budgets(self.budget)

    @cached_property
    def costs(self) -> tuple[str, ...]:
        """The names of the requested costs, and of those that budgets are of."""
        return tuple(dict.fromkeys((*(self.cost or ()), *(budget.cost for budget in self.budgets))))

    @cached_property
    def outcomes(self) -> tuple[TurnOutcome, ...]:
        """The requested outcomes."""
        return choose_outcomes(self.outcome or (), ())

    @cached_property
    def conditions(self) -> tuple[PassCondition, ...]:
        """What repeats are to pass."""
        return tuple(map(parse_condition, self.pass_))

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
            self.budgets,
            self.own,
            self.conditions,
            tuple(self.pass_k),
        )

    @classmethod
    def default(
        cls,
        metrics: Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        rules: str | None = None,
        unit: Unit = "document",
        **options: Any,
    ) -> Scoring:
        """The settings of `goodgain run`, from plain values.

        Args:
          metrics: ranking metrics, like `ndcg@10`, and metrics made with `goodgain.metric`.
          rules: YAML text of rules for duplicates, instead of the built-in ones.
          unit: what a result is, a document or a passage.
          options: other attributes, like `per_call=True`.

        Raises:
          UsageError: a value cannot be used.

        Example:
          >>> from goodgain import Scoring
          >>> [metric.name for metric in Scoring.default(["ndcg@10"]).ranking.metrics]
          ['ndcg@10']
        """
        if isinstance(metrics, str):
            raise UsageError(f"metrics cannot be {metrics!r}: give a list of names.")
        names = check_names(map(name_of, metrics))
        scoring = cls(
            rules=compile_rules(load_shipped_rules() if rules is None else read_rules(rules), unit),
            metrics=names,
            own=load_own_metrics(split_names(names)[1]),
            **options,
        )
        scoring.check()
        return scoring

    def check(self) -> None:
        """Refuse options that cannot be used together.

        Raises:
          UsageError: thresholds are beyond the scale, passages have no openings and citations, or a
            budget or condition cannot be computed.
        """
        beyond = find_scale_mistake(self.good_gain_threshold, self.relevance_threshold, self.g_max)
        if beyond is not None:
            name, limits = beyond
            raise UsageError(f"{name} {_name_attributes(limits)}.")
        if self.usage and self.rules.unit == "passage":
            raise UsageError("usage is about documents, so unit cannot be passage.")
        try:
            _ = self.plan
        except UsageError as error:
            raise UsageError(_name_attributes(error.message)) from None


def _name_attributes(text: str) -> str:
    """A message whose options are attributes, like `g_max`."""
    return word(text, lambda remedy: {"pass": "pass_"}.get(remedy.option, remedy.option))
