"""The names of metrics: of ours, and of those that users declare in code of their own."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib.metadata import entry_points

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.by_name import DECLARED_NAMES, is_metric_name
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.ranking.families import FAMILIES
from goodgain.transforms.core.ranking.names import (
    DEFAULT_RANKING_METRICS,
    RankingMetric,
    parse_ranking_metrics,
    respell,
)

ENTRY_POINTS = "goodgain.metrics"
DEFAULT_METRICS = tuple(metric.name for metric in DEFAULT_RANKING_METRICS)
_LEAST_SIMILARITY = 0.75
_OF_EVERY_RUN = frozenset(metric.name for metric in GAINS.at_n)


def full_name(declared: Metric) -> str:
    """The name by which a metric of a user is found again, like `package.module:mine`."""
    return declared.formula


def name_of(given: str | Metric) -> str:
    """The name of a metric that is given by its name or as it was declared.

    Raises:
      UsageError: it is neither.
    """
    if isinstance(given, Metric):
        return full_name(given)
    if isinstance(given, str):
        return given
    raise UsageError(
        f"{given!r} is no metric: give names like 'ndcg@10', or functions under @goodgain.metric."
    )


def is_own(name: str) -> bool:
    """Whether a name is that of a user's metric: one with a colon."""
    return ":" in name


def short_name(name: str) -> str:
    """The name of a metric in columns and tables: the last part of that of a user's own."""
    return name.rpartition(":")[2]


def asked_for(names: Iterable[str]) -> tuple[str, ...]:
    """The metrics of the option `metrics` as columns name them; none if they are its default."""
    asked = tuple(map(short_name, names))
    return () if asked == DEFAULT_METRICS else asked


def split_names(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The names of ranking metrics, and the full names of users' own.

    Names of metrics that every run has, like CG, are in neither: they say what to show.
    """
    ranking: list[str] = []
    own: list[str] = []
    for name in names:
        if name not in _OF_EVERY_RUN:
            (own if is_own(name) else ranking).append(name)
    return ranking, own


def ranking_metrics_of(names: Iterable[str]) -> tuple[RankingMetric, ...]:
    """The ranking metrics among names that `check_names` returned, in their order."""
    return parse_ranking_metrics(split_names(names)[0])


def _describe_misspelt(name: str) -> str | None:
    """A name, with the metric of every run that it is more like than any ranking metric."""
    if respell(name).partition("@")[0] in FAMILIES:
        return None
    of_every_run = {metric.lower(): metric for metric in _OF_EVERY_RUN}
    known = dict.fromkeys((*FAMILIES, *of_every_run))
    near = get_close_matches(name.lower(), known, n=1, cutoff=_LEAST_SIMILARITY)
    if not near or near[0] in FAMILIES:
        return None
    return f"{name!r} (did you mean {of_every_run[near[0]]!r}?)"


def check_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names of metrics as they are spelled here: entry points by full name, others by ours.

    Raises:
      UsageError: names are unknown, repeated, or of metrics that are not chosen by name.
    """
    offered = None
    full = []
    for name in names:
        name = name.strip()
        if not is_own(name) and name.isidentifier() and not is_metric_name(name):
            if offered is None:
                offered = {entry.name: entry.value for entry in entry_points(group=ENTRY_POINTS)}
            name = offered.get(name, name)
        full.append(name)
    ranking, own = split_names(full)
    short = list(map(short_name, own))
    if repeated := {name for name in short if short.count(name) > 1}:
        raise UsageError(f"Metrics given more than once: {', '.join(sorted(repeated))}.")
    if others := [name for name in ranking if name in DECLARED_NAMES]:
        raise UsageError(
            f"{', '.join(others)}: not to be chosen, since a run has it if its data and options "
            "give it (a pool, costs, opened documents); leave it out."
        )
    if misspelt := list(filter(None, map(_describe_misspelt, ranking))):
        raise UsageError(f"There is no metric {', nor '.join(misspelt)}.")
    respelled = iter(parse_ranking_metrics(ranking))
    of_ranking = set(ranking)
    checked = (next(respelled).name if name in of_ranking else name for name in full)
    return tuple(dict.fromkeys(checked))
