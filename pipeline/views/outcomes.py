"""What goes with a right answer: which metrics predict an outcome, and where it went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from msgspec import Struct

from goodgain.pipeline.document.columns import CellColumn, numbers, table_of
from goodgain.pipeline.document.model import Block, Cell, Sentence, TableBlock, TableColumn
from goodgain.pipeline.document.numbers import NONE, count_text, fixed, fixed_interval, value_text
from goodgain.pipeline.results.datasets import OUTCOME_RELATIONS
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.manifest_counts import RowCounts
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.unlabelled_arms import NO_LABEL
from goodgain.pipeline.views.finds_by_outcome import build_finds_table
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.metrics.outcomes import OUTCOME
from goodgain.transforms.core.metrics.own_names import short_name
from goodgain.transforms.core.wording import format_count

Row = Mapping[str, Any]
GATHERED, FOUND = "CG", "GR"
_SILENT = 3  # metrics that are named as saying nothing
_WITH = {"correct": "a right answer", "right": "a right answer"}
_HALF = 0.5


class Relation(Struct, frozen=True):
    """A metric that may predict an outcome, as text.

    Attributes:
      auc, low, high: for a picture; low and high None without an interval.
      texts: AUC, its interval, the means where the outcome is 1 and 0, and n.
    """

    metric: str
    auc: float
    low: float | None
    high: float | None
    texts: tuple[str, ...]

    @property
    def label(self) -> str:
        """The metric for readers."""
        return metric_by_name(self.metric).label

    @property
    def predicts(self) -> bool:
        """Whether it is higher, or lower, in conversations with the outcome 1."""
        if self.low is None or self.high is None:
            return self.auc in (0.0, 1.0)
        return not self.low <= _HALF <= self.high


class OutcomeView(Struct, frozen=True):
    """One outcome that is 0 or 1, for readers.

    Attributes:
      relations: the best predictor first.
      headings: the good value and the other, like `correct = 1`.
      found: conversations by what was found and by the outcome; None without labels.
    """

    name: str
    headings: tuple[str, str]
    sentence: str
    relations: tuple[Relation, ...]
    found: TableBlock | None


def outcome_views(
    folder: str, means: Mapping[str, Row], manifest: RunManifest
) -> list[OutcomeView]:
    """The outcomes of a run that are 0 or 1, over all conversations.

    Args:
      means: the rows of `means` over all conversations at N, by metric.
    """
    if not manifest.outcomes:
        return []
    rows = [row for row in read_dataset(folder, OUTCOME_RELATIONS.name) if not row["slice"]]
    return views_of(rows, means, manifest)


def views_of(
    rows: Iterable[Row], means: Mapping[str, Row], manifest: RunManifest
) -> list[OutcomeView]:
    """The views of the rows of `outcome_relations` over all conversations.

    Args:
      means: the rows of `means` over all conversations at N, by metric.
    """
    asked_for = map(short_name, manifest.options.metrics)
    wanted = {*headline_among("predictor", means), *asked_for}
    unlabelled = {name for name, row in means.items() if row["note"] == NO_LABEL}
    views = []
    for outcome, of_outcome in groupby(
        sorted(rows, key=itemgetter("outcome")), itemgetter("outcome")
    ):
        by_place = {(row["metric"], row["population"]): row for row in of_outcome}
        relations = sorted(
            (
                _relation(row)
                for (metric, population), row in by_place.items()
                if population == "all" and metric in wanted - unlabelled and row["auc"] is not None
            ),
            key=lambda relation: (-abs(relation.auc - _HALF), relation.metric),
        )
        found = by_place.get((FOUND, "everyone")) or by_place.get((FOUND, "all"))
        name = outcome.removeprefix(OUTCOME)
        lower = metric_by_name(outcome).direction == "lower"
        known = found is not None and FOUND not in unlabelled
        headings = (f"{name} = {int(not lower)}", f"{name} = {int(lower)}")
        views.append(
            OutcomeView(
                name,
                headings,
                _sentence(name, relations),
                tuple(relations),
                build_finds_table(name, headings, found, lower) if found and known else None,
            )
        )
    return views


def outcomes_part(views: Sequence[OutcomeView]) -> Iterator[Block]:
    """The part of a run's document about its outcomes."""
    for view in views:
        yield Sentence(view.sentence, apart=True)
        if view.found:
            yield view.found


def relations_table(view: OutcomeView) -> TableBlock:
    """How well each metric tells the values of an outcome apart, with a picture."""
    return table_of(
        _RELATIONS,
        view.relations,
        f"How well each metric tells {view.headings[0]} from {view.headings[1]}",
    )


def outcome_rows_text(rows: RowCounts) -> str:
    """What became of the rows of files of outcomes, in one sentence."""
    ending = " (see the dataset `rejected_outcomes`)." if rows.rejected else "."
    return (
        f"Outcomes: {format_count(rows.read, 'row')} read = {rows.joined:,} joined + "
        f"{rows.repeated:,} repeated + {rows.empty:,} empty + {rows.rejected:,} rejected" + ending
    )


def _relation(row: Row) -> Relation:
    low, high = row["ci_low"], row["ci_high"]
    means = (value_text(row["metric"], row[of]) for of in ("mean_one", "mean_zero"))
    return Relation(
        row["metric"],
        row["auc"],
        low,
        high,
        (fixed(row["auc"]), fixed_interval(low, high), *means, count_text(row["n"])),
    )


def auc_text(row: Row) -> str:
    """The AUC of a row of `outcome_relations`, with its interval."""
    if row["auc"] is None:
        return NONE
    interval = (
        "" if row["ci_low"] is None else f" ({fixed_interval(row['ci_low'], row['ci_high'])})"
    )
    return f"{fixed(row['auc'])}{interval}"


def _sentence(name: str, relations: Sequence[Relation]) -> str:
    """Which metrics go with the outcome, in one sentence."""
    if not relations:
        return f"No metric can be set against {name}: one of its values does not occur."
    best = next((relation for relation in relations if relation.predicts), None)
    if best is None:
        return f"Nothing that was measured goes with {name}: every interval of AUC includes 0.5."
    who = _WITH.get(name, f"{name} = 1")
    gathered = next((relation for relation in relations if relation.metric == GATHERED), None)
    if gathered is None:
        begin = f"Conversations with {who}"
    elif not gathered.predicts:
        begin = f"Conversations with {who} had gathered no more than others"
    else:
        begin = (
            f"Conversations with {who} had gathered {'more' if gathered.auc > _HALF else 'less'}"
        )
    lower = ", the lower the likelier" if best.auc < _HALF else ""
    interval = "" if best.low is None else f", {best.texts[1]}"
    may_predict = headline_among("predictor", [relation.metric for relation in relations])
    silent = [
        relation.metric
        for relation in relations
        if not relation.predicts and relation.metric in may_predict
    ]
    *names, last = silent[: -_SILENT - 1 : -1] or [""]
    ending = (
        f"; {', '.join(names)}{' and ' if names else ''}{last} say{'' if names else 's'} nothing"
    )
    ending = ending if last else ""
    return (
        f"{begin}: {best.metric} predicts it best{lower} (AUC {best.texts[0]}{interval}){ending}."
    )


_RELATIONS: tuple[CellColumn[Relation], ...] = (
    CellColumn(TableColumn("metric"), lambda relation: Cell(relation.label)),
    CellColumn(
        TableColumn("AUC from 0 to 1, with its 95 % interval", wide=True),
        lambda relation: Cell(
            "",
            "range",
            "good" if relation.predicts else "",
            drawn=(relation.auc, relation.low, relation.high),
        ),
    ),
    numbers("AUC", "", lambda relation: relation.texts[0]),
    numbers("95 % interval", "", lambda relation: relation.texts[1]),
    numbers("mean where 1", "", lambda relation: relation.texts[2]),
    numbers("where 0", "", lambda relation: relation.texts[3]),
    numbers("n", "", lambda relation: relation.texts[4]),
)
