"""The request of a comparison: its options, checked."""

from __future__ import annotations

from msgspec import Struct

from goodgain.transforms.core.comparison import AdjustmentMethod, ComparisonOptions
from goodgain.transforms.core.errors import UsageError


class Tests(Struct, frozen=True):
    """Which statistics are computed.

    Attributes:
      options: confidence of the intervals, and power for the minimum detectable effect.
      resamples: of the bootstrap, for the measures of the declared family; 0 = none.
      seed: of the bootstrap; each row draws from a generator of its own, made from it and from what
        the row is about, so that no row depends on which others are computed.
      wilcoxon, sign: whether to make these tests of pairs.
    """

    options: ComparisonOptions = ComparisonOptions()
    resamples: int = 0
    seed: int = 1
    wilcoxon: bool = False
    sign: bool = False


class ComparisonRequest(Struct, frozen=True):
    """Everything that a comparison depends on.

    Attributes:
      outputs: two folders of runs, base first; or one, with `by`.
      by: attribute whose values are the arms of one output.
      base, candidate: values of `by`; the candidate is the only other one when not given.
      metrics, family, primary, tolerances: see `measures.choose`.
      slices: attributes to compare by, beside the comparison of everything.
      max_i: greatest i to compare at; None = as far as both runs gave means.
      pair_by: conversation_id or an attribute; None = conversation_id where arms share any.
      unpaired: compare as two samples even where conversations could be paired.
      cluster: attribute whose values are clusters, like repeats of a query; None = that by which
        both runs took clusters, if any.
      correction: the corrected p that verdicts follow.
      examples: how many wins and losses to list.
      examples_by: metric by which they are the largest; None = the first of the family.
      force: compare runs that differ in what metrics depend on.
      pool: folder of the pool that both arms shall rest on; None = as they were scored.
    """

    outputs: tuple[str, ...]
    by: str | None = None
    base: str | None = None
    candidate: str | None = None
    metrics: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    primary: str | None = None
    tolerances: tuple[str, ...] = ()
    slices: tuple[tuple[str, ...], ...] = ()
    max_i: int | None = None
    pair_by: str | None = None
    unpaired: bool = False
    tests: Tests = Tests()
    cluster: str | None = None
    correction: AdjustmentMethod = "holm"
    examples: int = 5
    examples_by: str | None = None
    force: bool = False
    pool: str | None = None

    def check(self) -> None:
        """Make sure that the parts fit together.

        Raises:
          UsageError: they do not.
        """
        if self.by is None:
            if len(self.outputs) != 2:
                raise UsageError(
                    f"{len(self.outputs)} output folders were given: give BASE and CANDIDATE, or "
                    "one folder with --by ATTRIBUTE."
                )
            if self.base is not None or self.candidate is not None:
                raise UsageError("--base and --candidate name values of an attribute: give --by.")
        elif len(self.outputs) != 1:
            raise UsageError("--by compares the arms within one output: give one folder.")
        elif self.base is None:
            raise UsageError(f"Say which value of {self.by} is the base: give --base VALUE.")
        if self.unpaired and self.pair_by is not None:
            raise UsageError("--unpaired and --pair-by exclude each other: give one of the two.")
