"""The rows of a comparison in one slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.studies.comparison.clusters import CodesOf, cluster_codes
from goodgain.pipeline.studies.comparison.correction import TestedRow
from goodgain.pipeline.studies.comparison.matching import Matched, match, match_everyone
from goodgain.pipeline.studies.comparison.measures import Measure, Measures
from goodgain.pipeline.studies.comparison.request import Tests
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.pipeline.studies.comparison.statistics import row_of
from goodgain.pipeline.studies.comparison.verdict_conditions import (
    VerdictConditions,
    verdict_conditions,
)
from goodgain.pipeline.studies.comparison.withholding import extend_to_everyone, measure_to_compare


class ComparedBy(Struct, frozen=True):
    """How the conversations of two arms belong together.

    Attributes:
      key: conversation_id, or the attribute by which they are paired.
      paired: whether values are those of pairs.
      cluster: attribute whose values are clusters; None = values are independent.
    """

    key: str
    paired: bool
    cluster: str | None


class ArmsOfSlice(Struct, frozen=True):
    """Both arms in one slice, ready to be compared.

    Attributes:
      samples: the matched arms by population, and the clusters of their values; None if these are
        independent.
    """

    slice: dict[str, str]
    conditions: VerdictConditions
    samples: Mapping[str, tuple[Matched, CodesOf | None]]

    @classmethod
    def of(cls, arms: Arms, slice_: dict[str, str], by: ComparedBy) -> ArmsOfSlice:
        """Match the arms in a slice, in the population `everyone`, too, if that may decide."""
        matched = match(arms.base.where(slice_), arms.candidate.where(slice_), by.key, by.paired)
        conditions = verdict_conditions(matched, arms)
        populations = {"all": matched}
        if conditions.unequal_search or conditions.search_could_decide:
            populations["everyone"] = match_everyone(matched)
        samples = {
            population: (sample, None if by.cluster is None else cluster_codes(sample, by.cluster))
            for population, sample in populations.items()
        }
        return cls(slice_, conditions, samples)

    def rows(
        self, measures: Iterable[Measure], chosen: Measures, tests: Tests
    ) -> Iterator[TestedRow]:
        """The row of each measure.

        Args:
          chosen: those that the comparison is about.
        """
        for measure in measures:
            compared = measure_to_compare(measure, self.conditions)
            row = self._row(compared, chosen, tests)
            if self.conditions.search_could_decide and (everyone := extend_to_everyone(compared)):
                row = replace(row, over_everyone=self._row(everyone, chosen, tests))
            yield row

    def _row(self, measure: Measure, chosen: Measures, tests: Tests) -> TestedRow:
        matched, codes = self.samples.get(measure.population, self.samples["all"])
        return row_of(self.slice, measure, matched, self.conditions, chosen, tests, codes)
