"""The t-test of a difference whose standard error was estimated from the data."""

from __future__ import annotations

from msgspec import Struct
from scipy.special import stdtrit

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.statistics import Studentized


class ComparisonOptions(Struct, frozen=True):
    """The options of a comparison.

    Attributes:
      confidence: confidence of the intervals; the two-sided level of the tests is 1 - confidence.
      power: the probability with which the minimum detectable effect is detected.
      interval: whether t is corrected for skewness (`hall`) or plain (`student`), for the intervals
        and for the tests.

    Raises:
      UsageError: confidence or power is outside (0, 1).
    """

    confidence: float = 0.95
    power: float = 0.8
    interval: Interval = "hall"

    def __post_init__(self) -> None:
        for name, value in (("confidence", self.confidence), ("power", self.power)):
            if not 0 < value < 1:
                raise UsageError(f"`{name}` is {value}: give a number between 0 and 1.")


DEFAULT_OPTIONS = ComparisonOptions()


class DifferenceTest(Struct, frozen=True):
    """The two-sided test of no difference.

    Attributes:
      t, degrees_of_freedom, p_value: of the test; t = difference / stderr.
      asymmetry: used to correct t for skewness, see `Studentized`; 0 in Student's test.
      effect_size: the difference in standard deviations.
      minimum_detectable_effect: the smallest true difference, in the unit of the metric, that
        this test at this n detects with the requested power, before any correction of p.
      clusters: number of clusters of the values; None if they count as independent.
      effective_clusters: number of clusters of the same size that would weigh as much.
      note: why something is None or unusual, if anything is.
    """

    stderr: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    t: float | None = None
    degrees_of_freedom: float | None = None
    asymmetry: float | None = None
    p_value: float | None = None
    effect_size: float | None = None
    minimum_detectable_effect: float | None = None
    clusters: int | None = None
    effective_clusters: float | None = None
    note: str | None = None


def difference_test(
    difference: float,
    stderr: float,
    degrees_of_freedom: float,
    asymmetry: float,
    effect_size: float | None,
    options: ComparisonOptions,
) -> DifferenceTest:
    """Interval, t, two-sided p and detectable effect of one difference.

    The minimum detectable effect is the longer side of the interval plus t[power] * stderr, where
    t[power] is a quantile of Student's distribution with these degrees of freedom: if the true
    difference has this size, the test detects it with probability `power`. It is an estimate, since
    stderr and interval are the observed ones.

    Args:
      difference, stderr: in the unit of the metric; stderr > 0.
      asymmetry: see `Studentized`; not used for Student's t.
    """
    asymmetry = asymmetry if options.interval == "hall" else 0.0
    estimate = Studentized(difference, stderr, degrees_of_freedom, asymmetry, covers_student=True)
    low, high = estimate.interval(options.confidence)
    longer_side = max(difference - low, high - difference)
    power_margin = float(stdtrit(degrees_of_freedom, options.power)) * stderr
    return DifferenceTest(
        stderr=stderr,
        ci_low=low,
        ci_high=high,
        t=estimate.t,
        degrees_of_freedom=degrees_of_freedom,
        asymmetry=asymmetry,
        p_value=estimate.p_value,
        effect_size=effect_size,
        minimum_detectable_effect=longer_side + power_margin,
    )
