"""The registry of ranking metrics: one family per row of SPEC 8's table, each with its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.metric import SHARE, Direction, Metric
from goodgain.transforms.core.ranking import binary, diversity, graded
from goodgain.transforms.core.ranking.auc import auc
from goodgain.transforms.core.ranking.ranked_list import RankedList

Argument = Literal["none", "cutoff", "persistence"]
Value = float | None


class Family(Struct, frozen=True):
    """A metric before its cutoff or persistence is chosen; see SPEC 8 for definitions.

    Attributes:
      name: its name without argument, like `ndcg` or `rbp`.
      words: as in `Metric`; the label adds the name.
      function: computes it from a ranked list and the argument (None = no cutoff, or no argument).
      argument: `cutoff` = @k is optional, `persistence` = .p is required, `none` = no argument.
      unit, meaning, direction, undefined, formula, whole, bounded, needs_labels, own_ideal: as in
        `Metric`.
      undefined_at_k: when the value with a cutoff is null; None = as `undefined`.
      binary: whether each conversation's value is 0 or 1, with any argument or with k = 1.
      graded: whether it uses graded gains down to its cutoff.
      of_aspects: whether it needs the aspects that documents cover.
    """

    name: str
    words: str
    function: Callable[[RankedList, Any], Value]
    meaning: str
    formula: str
    argument: Argument = "cutoff"
    unit: str = SHARE
    direction: Direction = "higher"
    undefined: str = ""
    undefined_at_k: str | None = None
    whole: bool = False
    graded: bool = False
    bounded: bool = False
    needs_labels: bool = True
    binary: Literal["never", "always", "at_1"] = "never"
    own_ideal: bool = False
    of_aspects: bool = False

    @property
    def by_relevance(self) -> bool:
        """Whether it depends on which labels count as relevant (`relevance_threshold`)."""
        return self.needs_labels and not self.graded


_NO_RELEVANT = "no relevant document in the judged pool (R = 0)"
_NO_GAIN = "no document with a gain in the judged pool (ideal = 0)"
_NO_RESULTS = "no results (n = 0)"
NO_ASPECTS = "the topic has no aspects (A = 0), or they are unknown"

_ALL = (
    Family(
        name="hits", words="Relevant results", function=binary.hits, unit="results",
        meaning="Relevant results in the list.", formula="sum_{j<=k} rel_j", whole=True,
        bounded=True, binary="at_1",
    ),
    Family(
        name="hit_rate", words="Any relevant result", function=binary.hit_rate, unit="0 or 1",
        meaning="Whether the list shows at least one relevant result.",
        formula="1 if hits@k > 0, else 0", whole=True, bounded=True, binary="always",
    ),
    Family(
        name="precision", words="Precision", function=binary.precision,
        meaning="Share of the ranks with a relevant result; an empty rank has none.",
        formula="hits@k / k", undefined=_NO_RESULTS, undefined_at_k="", bounded=True, binary="at_1",
    ),
    Family(
        name="recall", words="Recall", function=binary.recall,
        meaning="Share of the relevant documents of the judged pool that the list shows.",
        formula="hits@k / R", undefined=_NO_RELEVANT, own_ideal=True,
    ),
    Family(
        name="f1", words="Precision and recall in one", function=binary.f1,
        meaning="Harmonic mean of precision and recall.", formula="2 hits@k / (k + R)",
        undefined=_NO_RELEVANT, own_ideal=True,
    ),
    Family(
        name="r_precision", words="R-precision", function=binary.r_precision, argument="none",
        meaning="Precision at the rank where a perfect list would end.", formula="hits@R / R",
        undefined=_NO_RELEVANT, own_ideal=True,
    ),
    Family(
        name="bpref", words="Binary preference", function=binary.bpref, argument="none",
        meaning="How rarely results judged non-relevant rank above relevant ones; "
        "unjudged results do not count.",
        formula="(1/R) sum over retrieved relevant r of "
        "1 - min(judged non-relevant above r, R) / min(R, N-); each term 1 when N- = 0",
        undefined=_NO_RELEVANT, own_ideal=True,
    ),
    Family(
        name="rbp", words="Rank-biased precision", function=binary.rbp, argument="persistence",
        meaning="Rate of relevant results for a reader who continues with probability p.",
        formula="(1 - p) sum_j rel_j p^(j-1)", bounded=True,
    ),
    Family(
        name="rbp_residual", words="Possible rise of rank-biased precision",
        function=binary.rbp_residual, argument="persistence",
        meaning="How much rbp could rise if every unjudged or missing result were relevant.",
        formula="(1 - p) sum_{j unjudged} p^(j-1) + p^n", direction="neither", needs_labels=False,
    ),
    Family(
        name="mrr", words="Mean reciprocal rank", function=binary.mean_reciprocal_rank,
        meaning="Reciprocal rank of the first relevant result.",
        formula="1 / rank of the first relevant result within k, else 0",
        undefined=f"{_NO_RELEVANT}, with qrels or a pool",
        bounded=True, binary="at_1",
    ),
    Family(
        name="map", words="Mean average precision", function=binary.average_precision,
        meaning="Precision at each relevant result, averaged over the relevant documents.",
        formula="(1/R) sum_{j<=k} rel_j precision@j", undefined=_NO_RELEVANT, own_ideal=True,
    ),
    Family(
        name="cg", words="Gain of the ranked list", function=graded.cg, unit="gain",
        meaning="Gain of the ranked list.", formula="sum_{j<=k} g_j", whole=True, graded=True,
        bounded=True,
    ),
    Family(
        name="dcg", words="Discounted gain of the ranked list", function=graded.dcg,
        unit="gain", meaning="Gain of the ranked list, counting less further down.",
        formula="sum_{j<=k} g_j / log2(j + 1)", graded=True, bounded=True,
    ),
    Family(
        name="dcg_burges", words="Discounted exponential gain", function=graded.dcg_burges,
        unit="2^gain - 1",
        meaning="Exponential gain of the ranked list, counting less further down.",
        formula="sum_{j<=k} (2^g_j - 1) / log2(j + 1)", graded=True, bounded=True,
    ),
    Family(
        name="ndcg", words="Normalised discounted gain", function=graded.ndcg,
        meaning="Discounted gain as a share of that of the judged pool in its best order.",
        formula="dcg@k / dcg@k of the pool's gains in falling order", undefined=_NO_GAIN,
        graded=True, own_ideal=True,
    ),
    Family(
        name="ndcg_burges", words="Normalised exponential gain",
        function=graded.ndcg_burges,
        meaning="Discounted exponential gain as a share of that of the judged pool in its best "
        "order.", formula="dcg_burges@k / dcg_burges@k of the pool's gains in falling order",
        undefined=_NO_GAIN, graded=True, own_ideal=True,
    ),
    Family(
        name="err", words="Expected reciprocal rank", function=graded.err,
        meaning="Expected reciprocal rank at which a reader is satisfied and stops.",
        formula="sum_{j<=k} (1/j) P_j prod_{l<j} (1 - P_l), P = (2^g - 1) / 2^g_max", graded=True,
        bounded=True,
    ),
    Family(
        name="nerr", words="Normalised expected reciprocal rank", function=graded.nerr,
        meaning="Expected reciprocal rank as a share of that of the judged pool in its best order.",
        formula="err@k / err@k of the pool's gains in falling order", undefined=_NO_GAIN,
        graded=True, own_ideal=True,
    ),
    Family(
        name="auc", words="Area under the ROC curve", function=auc, argument="none",
        meaning="Probability that a relevant result scores above one judged non-relevant, of the "
        "results of one search call.",
        formula="(pairs in order + tied pairs / 2) / pairs of a relevant and a judged "
        "non-relevant result of one search call",
        undefined="no search call with a relevant and a judged non-relevant result in the list",
    ),
    Family(
        name="judged", words="Labelled results", function=binary.judged,
        meaning="Share of the shown results that have a label.",
        formula="judged results among the first k / min(k, n)", direction="neither",
        undefined=_NO_RESULTS, binary="at_1", needs_labels=False,
    ),
    Family(
        name="strec", words="Recall of aspects", function=diversity.aspect_recall,
        meaning="Share of the topic's aspects that the list covers.",
        formula="aspects covered in the first k / A", undefined=NO_ASPECTS, needs_labels=False,
        own_ideal=True, of_aspects=True,
    ),
    Family(
        name="alpha_ndcg", words="Normalised gain of new aspects", function=diversity.alpha_ndcg,
        meaning="Gain of aspects, halved with each repetition, as a share of that of the judged "
        "documents in their best order.",
        formula="sum_{j<=k} sum over the aspects at j of 0.5^(times covered above j) / "
        "log2(j + 1), by the same of the greedy ideal", undefined=NO_ASPECTS, needs_labels=False,
        own_ideal=True, of_aspects=True,
    ),
)  # fmt: skip

FAMILIES: dict[str, Family] = {family.name: family for family in _ALL}

GAUC = Metric(
    name="gauc", words="Mean area under the ROC curve", unit="share",
    meaning="Mean of auc over the conversations where it is defined.", formula="mean of auc",
    direction="higher", undefined="auc is undefined in every conversation", needs_labels=True,
    decimal=True, mean_only=True,
)  # fmt: skip
GAUC_WEIGHTED = replace(
    GAUC,
    name="gauc_weighted",
    words="Weighted mean area under the ROC curve",
    meaning="Mean of auc, with conversations weighted by their number of judged results.",
    formula="sum of auc * judged results / sum of judged results, where auc is defined",
)
