"""The names of ranking metrics, and their form in column names (SPEC 8)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.ranking.families import FAMILIES, Family

_AT_CUTOFF = re.compile(r"(?P<family>\w+)@(?P<k>[1-9][0-9]{0,8})")
# No trailing zero: rbp.8 and rbp.80 would be two names of one metric.
_AT_PERSISTENCE = re.compile(r"(?P<family>\w+)\.(?P<p>[0-9]{0,8}[1-9])")
_AT_IN_COLUMNS, _DOT_IN_COLUMNS = "_at_", "_p_"

# Names in trec_eval and ir_measures.
_OTHER_TOOLS = {
    "ap": "map",
    "map_cut": "map",
    "ndcg_cut": "ndcg",
    "num_rel_ret": "hits",
    "p": "precision",
    "r": "recall",
    "recip_rank": "mrr",
    "rprec": "r_precision",
    "rr": "mrr",
    "success": "hit_rate",
}


# Like `NDCG@10`, `P_5`, `ndcg_cut_10`, `RBP(p=0.8)`.
_OTHERWISE = re.compile(
    r"(?P<family>[A-Za-z_]*(?:[A-Za-z]|[Ff]1))"
    r"(?:[@_](?P<k>[1-9][0-9]{0,8})|\(p=0?\.(?P<p>[0-9]{0,8}[1-9])\))?"
)
_NOT_RANKING = ("CG", "DCG", "R")  # these are metrics of SPEC 5


class RankingMetric(Struct, frozen=True):
    """A ranking metric with its cutoff or persistence chosen.

    Attributes:
      name: its full name, like `ndcg@10`, `rbp.8` or `map`.
      family: name of its family, like `ndcg`.
      k: the cutoff; None = the whole list, or the family has none.
      p: the persistence, 0 < p < 1; None if the family has none.

    Example: see `RankingEvaluator`.
    """

    name: str
    family: str
    k: int | None = None
    p: float | None = None

    @property
    def by_relevance(self) -> bool:
        """See `Family`."""
        return FAMILIES[self.family].by_relevance

    @property
    def declaration(self) -> Metric:
        """Its declaration for columns, schemas, tables and reports."""
        family = FAMILIES[self.family]
        undefined, formula = family.undefined, family.formula
        if self.k is not None:
            formula += f"; k = {self.k}"
            if family.undefined_at_k is not None:
                undefined = family.undefined_at_k
        elif self.p is not None:
            formula += f"; p = {self.p}"
        elif family.argument == "cutoff":
            formula += "; the whole list, k = n"
        argument = self.k if self.p is None else self.p
        function = family.function
        return Metric(
            name=self.name,
            unit=family.unit,
            meaning=family.meaning,
            direction=family.direction,
            undefined=undefined,
            formula=formula,
            whole=family.whole,
            bounded=family.bounded,
            binary=family.binary == "always" or (family.binary == "at_1" and self.k == 1),
            needs_labels=family.needs_labels,
            own_ideal=family.own_ideal,
            of_aspects=family.of_aspects,
            decimal=True,
            words=family.words,
            function=lambda prefix: function(prefix.ranked, argument),
        )


def parse_ranking_metrics(names: Iterable[str]) -> tuple[RankingMetric, ...]:
    """Parse names of metrics, keeping their order; white space around a name is ignored.

    `family@k` cuts at rank k; `family.digits` has the persistence 0.digits, so that `rbp.95` has p
    = 0.95. Leading zeros of k and trailing zeros of p are refused. Other tools' names (`NDCG@10`,
    `P@5`, `AP`, `ndcg_cut_10`) are translated to ours (SPEC 8).

    Raises:
      UsageError: names are unknown or repeated; the message lists all, with suggestions.
    """
    stripped = [name.strip() for name in names]
    parsed = [_parse(respell(name)) for name in stripped]
    mistakes = [
        f"'{name}' (did you mean '{nearest_name(name)}'?)"
        for name, metric in zip(stripped, parsed, strict=True)
        if metric is None
    ]
    if mistakes:
        raise UsageError(
            f"Unknown ranking metrics: {', '.join(mistakes)}; there are "
            f"{', '.join(_spelling(family) for family in FAMILIES.values())}."
        )
    metrics = tuple(metric for metric in parsed if metric is not None)
    times = Counter(metric.name for metric in metrics)
    repeated = [f"'{name}'" for name, count in times.items() if count > 1]
    if repeated:
        raise UsageError(
            f"Ranking metrics given more than once: {', '.join(repeated)}; give each once."
        )
    return metrics


def respell(name: str) -> str:
    """Our name for another tool's name of a metric; other names are unchanged."""
    match = _OTHERWISE.fullmatch(name)
    if match is None or name in _NOT_RANKING or _parse(name) is not None:
        return name
    spelled = match["family"].lower().replace("-", "_")
    family = _OTHER_TOOLS.get(spelled, spelled)
    suffix = f"@{match['k']}" if match["k"] else f".{match['p']}" if match["p"] else ""
    ours = _parse(family + suffix)
    return name if ours is None else ours.name


def nearest_name(name: str) -> str:
    """The valid metric name that an unknown name probably means."""
    lower = name.lower()
    stem = lower if lower in FAMILIES else lower.rstrip("0123456789")
    digits = lower[len(stem) :]
    stem = stem.rstrip("@._- ")
    known = {**{family: family for family in FAMILIES}, **_OTHER_TOOLS}
    family = FAMILIES[known[get_close_matches(stem, known, n=1, cutoff=0.0)[0]]]
    if family.argument == "persistence":
        return f"{family.name}.{digits[:9].rstrip('0') or '8'}"
    if family.argument == "cutoff" and digits:
        return f"{family.name}@{max(int(digits[:9]), 1)}"
    return family.name


def greatest_cutoff(metrics: Iterable[RankingMetric]) -> int | None:
    """The greatest cutoff of the metrics that have one; None if none has."""
    return max((metric.k for metric in metrics if metric.k is not None), default=None)


def column_name(metric_name: str) -> str:
    """The column name of a metric in formats that forbid `@` and `.`, such as Avro.

    `ndcg@10` -> `ndcg_at_10`, `rbp.8` -> `rbp_p_8`; other names, like `CG_at_i`, are unchanged.
    """
    if _parse(metric_name) is None:
        return metric_name
    return metric_name.replace("@", _AT_IN_COLUMNS).replace(".", _DOT_IN_COLUMNS)


def metric_name(column_name: str) -> str:
    """The metric of a column; the inverse of `column_name`."""
    for separator, replaced in (("@", _AT_IN_COLUMNS), (".", _DOT_IN_COLUMNS)):
        name = separator.join(column_name.rsplit(replaced, 1))
        if _parse(name) is not None:
            return name
    return column_name


def _parse(name: str) -> RankingMetric | None:
    if (match := _AT_CUTOFF.fullmatch(name)) and _takes(match, "cutoff"):
        return RankingMetric(name=name, family=match["family"], k=int(match["k"]))
    if (match := _AT_PERSISTENCE.fullmatch(name)) and _takes(match, "persistence"):
        return RankingMetric(name=name, family=match["family"], p=float(f"0.{match['p']}"))
    if name in FAMILIES and FAMILIES[name].argument != "persistence":
        return RankingMetric(name=name, family=name)
    return None


def _takes(match: re.Match[str], argument: str) -> bool:
    family = FAMILIES.get(match["family"])
    return family is not None and family.argument == argument


def _spelling(family: Family) -> str:
    return family.name + {"none": "", "cutoff": "[@k]", "persistence": ".p"}[family.argument]


DEFAULT_RANKING_METRICS = parse_ranking_metrics(
    (
        *("hit_rate@10", "precision@5", "precision@10", "recall@10", "r_precision", "bpref", "mrr"),
        *("map", "rbp.8", "rbp_residual.8", "ndcg@5", "ndcg@10", "ndcg", "err@10", "auc"),
        "judged@10",
    )
)
