"""The options of a comparison, checked."""

from __future__ import annotations

from msgspec import Struct

from goodgain.pipeline.settings.compare_config import CompareConfig
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod
from goodgain.transforms.core.comparison.differences import ComparisonOptions
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.wording import format_count

# The options that are attributes of a request as they are.
_AS_GIVEN = (
    "by", "base", "candidate", "metrics", "family", "primary", "max_i", "pair_by", "unpaired",
    "cluster", "correction", "examples", "examples_by", "force", "pool",
)  # fmt: skip


class Tests(Struct, frozen=True):
    """Which statistics are computed.

    Attributes:
      options: confidence of the intervals, and power for the minimum detectable effect.
      resamples: bootstrap resamples for the measures of the declared family; 0 = no bootstrap.
      seed: seed of the bootstrap; each row has its own generator, seeded by this and the row's
        slice and measure, so that rows do not depend on one another.
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
      base, candidate: values of `by`; the candidate defaults to the only other one.
      metrics, family, primary, tolerances: see `measures.choose`.
      slices: attributes to compare by, besides the comparison of all conversations.
      max_i: greatest i to compare at; None = the last i for which both runs have means.
      pair_by: conversation_id or an attribute; None = conversation_id if the arms share any.
      cluster: attribute whose values are clusters, like repeats of a query; None = that of both
        runs, if they agree.
      examples_by: metric to choose them by; None = the first of the family.
      pool: folder of the pool to measure both arms against; None = as they were scored.
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

    @classmethod
    def of(cls, config: CompareConfig) -> ComparisonRequest:
        """What the options of a comparison ask for."""
        return cls(
            outputs=config.outputs,
            tolerances=config.tolerance,
            slices=config.slice,
            tests=Tests(
                options=ComparisonOptions(confidence=config.confidence, interval=config.interval),
                resamples=config.bootstrap,
                seed=config.seed,
                wilcoxon=config.wilcoxon,
                sign=config.sign,
            ),
            **{name: getattr(config, name) for name in _AS_GIVEN},
        )

    def check(self) -> None:
        """Make sure that the parts fit together.

        Raises:
          UsageError: they do not fit.
        """
        if self.by is None:
            if len(self.outputs) != 2:
                given = format_count(len(self.outputs), "output was", "outputs were")
                raise UsageError(
                    f"{given} given: give BASE and CANDIDATE, or one of them with "
                    + Remedy("by", "ATTRIBUTE")
                    + "."
                )
            if self.base is not None or self.candidate is not None:
                raise UsageError(
                    Remedy("base")
                    + " and "
                    + Remedy("candidate")
                    + " are values of an attribute: name it with "
                    + Remedy("by")
                    + "."
                )
        elif len(self.outputs) != 1:
            raise UsageError(Remedy("by") + " compares arms within one run: give only that one.")
        if self.unpaired and self.pair_by is not None:
            raise UsageError(
                Remedy("unpaired")
                + " and "
                + Remedy("pair_by")
                + " exclude each other: give one of the two."
            )
