"""The input of the checks of SPEC 10."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.ranking.names import RankingMetric
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.id_checks import ContradictedId
from goodgain.transforms.core.scoring.label_rises import DocumentLabel
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.warnings.field_names import SeenNames, UnknownName, find_unknown_names
from goodgain.transforms.core.wording import format_percent

READ = "records.read"
REJECTED = "records.rejected"
SOME_REPEAT = 1_000  # among this many results, some should be duplicates
_DEFINED = "N"  # a metric that is defined in every conversation that searched


class SliceLabels(Struct, frozen=True):
    """The number of results of a slice, and of unlabelled ones."""

    slice: Mapping[str, str]
    results: int
    unlabelled: int

    @property
    def share(self) -> float:
        """The unlabelled share; 0 without results."""
        return self.unlabelled / self.results if self.results else 0.0


class ClusterSizes(Struct, frozen=True):
    """The number of clusters, and how many of the same size would weigh as much (SPEC 6)."""

    clusters: int
    effective: float


def cluster_sizes(means: Iterable[MeanRow]) -> ClusterSizes | None:
    """The clusters of all conversations that searched; None without clusters, or too many."""
    for row in means:
        is_whole = not row.slice and row.metric == _DEFINED and row.population == "all"
        if is_whole and row.clusters and row.effective_clusters:
            return ClusterSizes(row.clusters, row.effective_clusters)
    return None


class UndefinedMetric(Struct, frozen=True):
    """A chosen metric, and in how many of the conversations that searched it is null.

    Attributes:
      own: whether it is a user's own.
    """

    metric: str
    undefined: int
    conversations: int
    own: bool = False


def find_undefined_metrics(
    means: Iterable[MeanRow], chosen: Sequence[str], own: Sequence[str] = ()
) -> list[UndefinedMetric]:
    """The chosen metrics, in order, that have a value in some conversations and none in others.

    Args:
      own: those of them that are users' own, which come last.
    """
    rows = {
        row.metric: row
        for row in means
        if not row.slice and row.i is None and row.population == "all"
    }
    return [
        UndefinedMetric(name, row.undefined, row.n + row.undefined, name in own)
        for name in (*chosen, *own)
        if (row := rows.get(name)) is not None and row.n and row.undefined
    ]


class LabelSpan(Struct, frozen=True):
    """How far votes on pool documents differ whose voters share an id of the same name (SPEC 9).

    Attributes:
      documents: number of pool documents with votes of two conversations that have this id.
      apart: number of these with votes 2 or more grades apart.
    """

    documents: int
    apart: int


class Relevance(Struct, frozen=True):
    """The relevance threshold, and the names of the computed metrics that depend on it (SPEC 8)."""

    threshold: int
    metrics: tuple[str, ...]

    @classmethod
    def of(cls, threshold: int, metrics: Iterable[RankingMetric]) -> Relevance:
        """From all ranking metrics that are computed."""
        return cls(
            threshold,
            tuple(metric.name for metric in metrics if metric.by_relevance),
        )


class Portion(Struct, frozen=True):
    """A number of elements of all of them."""

    count: int
    total: int

    @property
    def share(self) -> float:
        """Their share, 0 to 1; 0 of nothing."""
        return self.count / self.total if self.total else 0.0

    def exceeds(self, share: float, enough: int = 1) -> bool:
        """Whether it is a greater share, of at least `enough` elements."""
        return self.total >= enough and self.count > share * self.total

    def of(self, elements: str) -> str:
        """The part in words, like `3 of 10 results (30.0 %)`."""
        return f"{self.count:,} of {self.total:,} {elements} ({format_percent(self.share)})"


class CheckInputs(Struct, frozen=True):
    """The input of the checks.

    Attributes:
      counts: counts by dotted name, from `data_counts` and of the results of scored turns.
      records: number of records read; None if unknown, as in a window of a stream.
      clusters: None if conversations count as independent.
      undefined: the chosen metrics that are null in some conversations.
      slices: the labels by slice, without the one of all conversations.
      document_label: which label a document has in scoring.
      pooled: whether labels of a pool override those of the traces.
      clock: the time beyond which timestamps were counted as ahead, in ms.
      label_spans: from the pool that was used, by name of the id.
      topic_attribute: the attribute that holds the topic of external judgments; None if the
        conversation_id is the topic.
      relevance: None if no ranking metrics are computed.
      cutoff: the greatest one of the ranking metrics; None if none has one.
      per_call: whether each search call is ranked, too.
      contradicted_ids: examples of duplicates by ids that URL and title contradict.
      can_accept: whether the command has options that accept a warning.
    """

    counts: Mapping[str, int]
    good_gain_threshold: int
    rules: RuleTable
    records: int | None = None
    seen: SeenNames = SeenNames()
    clusters: ClusterSizes | None = None
    undefined: Sequence[UndefinedMetric] = ()
    slices: Sequence[SliceLabels] = ()
    external: bool = False
    document_label: DocumentLabel = "first"
    pooled: bool = False
    clock: int | None = None
    label_spans: Mapping[str, LabelSpan] = MappingProxyType({})
    topic_attribute: str | None = None
    relevance: Relevance | None = None
    cutoff: int | None = None
    per_call: bool = False
    contradicted_ids: Sequence[ContradictedId] = ()
    can_accept: bool = True

    @classmethod
    def of_scores(
        cls,
        counts: Mapping[str, int],
        scoring: Scoring,
        means: Sequence[MeanRow] = (),
        contradicted_ids: Sequence[ContradictedId] = (),
        **more: Any,
    ) -> CheckInputs:
        """The input of conversations that were scored.

        Args:
          means: at least those at N of N and of the chosen metrics; none if they are unknown.
          more: further attributes.
        """
        keys, ranking = scoring.label_keys, scoring.ranking
        return cls(
            counts,
            scoring.good_gain_threshold,
            scoring.rules,
            clusters=cluster_sizes(means),
            undefined=find_undefined_metrics(
                means,
                [metric.name for metric in ranking.metrics],
                [metric.name for metric in scoring.own],
            ),
            external=keys is not None,
            document_label=scoring.document_label,
            pooled=scoring.pool is not None,
            clock=scoring.clock,
            topic_attribute=None if keys is None else keys.qrels_topic,
            relevance=Relevance.of(ranking.relevance_threshold, ranking.metrics),
            cutoff=ranking.greatest_cutoff,
            per_call=scoring.per_call,
            contradicted_ids=contradicted_ids,
            **more,
        )

    def count(self, name: str) -> int:
        """A count, 0 if absent."""
        return self.counts.get(name, 0)

    def part(self, name: str, total: str) -> Portion:
        """A count, and the one that it is a part of."""
        return Portion(self.count(name), self.count(total))

    def how_to_accept(self, option: str) -> str:
        """How to accept a warning; "" for a window, since streams continue anyway."""
        can_accept = self.can_accept and self.records is not None
        return "; " + Remedy(option) + " accepts it" if can_accept else ""

    @property
    def read(self) -> int:
        """The number of records read; of a window, those of its conversations."""
        if self.records is not None:
            return self.records
        return sum(
            map(self.count, (data_counts.SCORED, data_counts.EARLIER_TURN, data_counts.REDELIVERED))
        )

    @property
    def labelled(self) -> int:
        """The number of labelled results."""
        return self.count(data_counts.RESULTS) - self.count(data_counts.UNLABELLED)

    @property
    def unknown_names(self) -> list[UnknownName]:
        """The names that Good Gain does not read."""
        return find_unknown_names(self.seen, self.rules.fields)
