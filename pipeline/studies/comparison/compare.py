"""One comparison: read both arms, pair them, test each metric, and correct the p values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.results.folder import same_folder
from goodgain.pipeline.results.unlabelled_arms import ShownRows, WithoutLabels
from goodgain.pipeline.studies.comparison.answer import answer
from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.clusters import cluster_warnings
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.studies.comparison.correction import TestedRow, correct
from goodgain.pipeline.studies.comparison.costs import arm_means
from goodgain.pipeline.studies.comparison.examples import (
    Examples,
    add_queries,
    example_metric,
    examples,
)
from goodgain.pipeline.studies.comparison.matching import (
    BY_ID,
    Account,
    Matched,
    account,
    match_everyone,
)
from goodgain.pipeline.studies.comparison.measures import Family, Measure
from goodgain.pipeline.studies.comparison.pairing import choose_cluster, key_name, match_arms
from goodgain.pipeline.studies.comparison.pool_finds import PoolFinds, compare_pool_finds
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.slice_rows import ArmsOfSlice, ComparedBy
from goodgain.pipeline.studies.comparison.small_samples import small_sample_warnings
from goodgain.pipeline.studies.comparison.sources import Arms, keep_silent, read_arms
from goodgain.pipeline.studies.comparison.verdict_conditions import (
    describe_without_counterpart,
    verdict_conditions,
)
from goodgain.pipeline.studies.comparison.ways import ArmWays, arm_ways
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.remedy import Remedy, word
from goodgain.transforms.core.warnings.warning import DataWarning

DRAWS_PER_SECOND = 5e7  # random draws of the bootstrap per second, order of magnitude
_SLOW_SECONDS = 20
MOST_SLICE_ROWS = 200_000  # of 2.5 KB each; a row takes a third of a millisecond


class Compared(Struct, frozen=True, dict=True):
    """Everything that a comparison found.

    Attributes:
      rows: by slice, metric, i and population; their reasons are phrases.
      tests: see `correct`.
      only_family_in_slices: whether there are so many slices that they get rows for the declared
        family only.
      arm_means: see `costs.arm_means`; empty if no cost is compared.
      pair_by: conversation_id or the attribute used for pairing; None when unpaired.
      cluster: attribute whose values are clusters; None = values are independent.
      base_account, candidate_account: what became of each arm's conversations; None when unpaired.
      examples: None when unpaired, or when no compared metric is better when higher or lower.
      pool_finds: None unless both arms were scored with one pool.
      ways: what was opened and cited in each slice; empty if the runs do not tell.
      without_labels: the arms without any label, by slice.
      warnings: what makes its numbers less meaningful, besides the warnings of the runs.
    """

    request: ComparisonRequest
    arms: Arms
    rows: Sequence[ComparisonRow]
    tests: Mapping[tuple[Family, bool], int]
    only_family_in_slices: bool
    arm_means: Sequence[tuple[str, MeanRow]]
    matched: Matched
    pair_by: str | None
    cluster: str | None
    base_account: Account | None
    candidate_account: Account | None
    examples: Examples | None
    pool_finds: PoolFinds | None
    ways: Sequence[ArmWays] = ()
    without_labels: Sequence[WithoutLabels] = ()
    warnings: Sequence[DataWarning] = ()

    @cached_property
    def answer(self) -> str:
        """The comparison in a sentence."""
        shown, matched = ShownRows(self.without_labels), self.matched
        at_end = [shown.struct(row) for row in self.rows if row.i is None]
        answered = answer(at_end, self.arms.measures.primary, _compared_numbers(matched))
        # About conversations, a withheld verdict says it.
        if matched.pair_by != BY_ID and (clause := describe_without_counterpart(matched)):
            answered += f" Not compared: {clause}."
        return answered

    def word(self, wording: Callable[[Remedy], str]) -> Compared:
        """With the options that its rows name in other words, and so all that is made of them."""
        rows = [
            row if row.reason is None else replace(row, reason=word(row.reason, wording))
            for row in self.rows
        ]
        return replace(self, rows=rows)

    @property
    def is_of_one_run(self) -> bool:
        """Whether base and candidate are the same run, so that nothing can differ."""
        return self.request.by is None and same_folder(*self.request.outputs)


def compare(request: ComparisonRequest, say: Callable[[str], None] = keep_silent) -> Compared:
    """Compare two arms.

    Args:
      say: called with one sentence before each slow step.

    Raises:
      UsageError: the comparison is impossible.
    """
    arms = read_arms(request, say)
    chosen = example_metric(arms, request.examples_by)
    if request.examples_by and not chosen:
        raise UsageError(
            f"Examples cannot be chosen by {request.examples_by}: name a metric at N that is "
            "compared and for which higher or lower values are better."
        )
    matched = match_arms(request, arms)
    conditions, interval = verdict_conditions(matched, arms), request.tests.options.interval
    _warn_of_bootstrap(request, arms, matched, say)
    cluster = choose_cluster(request, arms)
    parts = list(slices(request.slices, arms.base, arms.candidate))
    only_family = (len(parts) - 1) * len(arms.measures.all()) > MOST_SLICE_ROWS
    if only_family:
        say(
            f"There are {len(parts) - 1:,} slices, so only metrics of the family are compared in "
            "them; name others with " + Remedy("family") + "."
        )
    by = ComparedBy(key_name(request), matched.paired, cluster)
    tested, without_labels = _compare_slices(request, arms, parts, by, only_family)
    rows, tests = correct(tested, request.correction)
    return Compared(
        request=request,
        arms=arms,
        rows=rows,
        tests=tests,
        only_family_in_slices=only_family,
        arm_means=list(arm_means(arms, parts[:1] if only_family else parts, cluster, interval)),
        matched=matched,
        pair_by=key_name(request) if matched.paired else None,
        cluster=cluster,
        base_account=account(matched.base, matched.candidate) if matched.paired else None,
        candidate_account=account(matched.candidate, matched.base) if matched.paired else None,
        examples=_examples(request, arms, matched, rows, chosen),
        pool_finds=compare_pool_finds(arms, conditions.unequal_search, cluster, interval),
        ways=list(arm_ways(arms, parts[:1] if only_family else parts)),
        without_labels=without_labels,
        warnings=[*cluster_warnings(cluster, rows), *small_sample_warnings(rows)],
    )


def _compared_numbers(matched: Matched) -> tuple[int, int]:
    """The numbers of compared conversations, or twice the number of pairs."""
    if matched.paired:
        return len(matched.keys), len(matched.keys)
    return len(matched.base.arm.ids), len(matched.candidate.arm.ids)


def _examples(
    request: ComparisonRequest,
    arms: Arms,
    matched: Matched,
    rows: Sequence[ComparisonRow],
    chosen: str | None,
) -> Examples | None:
    """Wins and losses by the chosen metric among the conversations that the verdict rests on."""
    if not matched.paired or chosen is None:
        return None
    row = next(row for row in rows if row.metric == chosen and row.i is None and not row.slice)
    if row.population == "everyone":
        matched = match_everyone(matched)
    found = examples(arms, matched, Measure(chosen, None, row.population), request.examples)
    return add_queries(found, arms)


def _compare_slices(
    request: ComparisonRequest,
    arms: Arms,
    parts: Iterable[dict[str, str]],
    by: ComparedBy,
    only_family_in_slices: bool,
) -> tuple[list[TestedRow], list[WithoutLabels]]:
    """Compare every measure in every slice; also says where arms have no labels."""
    every = arms.measures.all()
    of_slices = arms.measures.of_family if only_family_in_slices else every
    rows, without_labels = list[TestedRow](), list[WithoutLabels]()
    for slice_ in parts:
        both = ArmsOfSlice.of(arms, slice_, by)
        rows += both.rows(of_slices if slice_ else every, arms.measures, request.tests)
        if unlabelled := both.conditions.without_labels:
            without_labels.append(WithoutLabels(slice_, unlabelled))
    return rows, without_labels


def slices(names: Sequence[Sequence[str]], base: Arm, candidate: Arm) -> Iterator[dict[str, str]]:
    """Everything first, then each combination of values that occurs in either arm, ascending."""
    yield {}
    for attributes in names:
        occurring = {
            values
            for arm in (base, candidate)
            for values, part in arm.parts(tuple(attributes)).items()
            if part.indexes
        }
        for values in sorted(occurring):
            yield dict(zip(attributes, values, strict=True))


def _warn_of_bootstrap(
    request: ComparisonRequest, arms: Arms, matched: Matched, say: Callable[[str], None]
) -> None:
    values = len(matched.keys) if matched.paired else len(arms.base.ids) + len(arms.candidate.ids)
    draws = (
        request.tests.resamples * values * len(arms.measures.of_family) * (1 + len(request.slices))
    )
    seconds = draws / DRAWS_PER_SECOND
    if seconds > _SLOW_SECONDS:
        say(
            f"The bootstrap draws {draws:,} values, which takes about {seconds:,.0f} s; fewer "
            "resamples ("
            + Remedy("bootstrap", 2000)
            + ") or metrics ("
            + Remedy("metrics")
            + ") make it faster."
        )
