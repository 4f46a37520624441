"""The sections of a run's page about its means: headline and ranking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from goodgain.pipeline.document.model import Cell, Sentence, term
from goodgain.pipeline.document.numbers import count_text
from goodgain.pipeline.document.page import (
    Card,
    CardLine,
    Cards,
    Details,
    PageBlock,
    Section,
    SliceName,
    section,
)
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.views.means import OWN_IDEAL, means_table
from goodgain.pipeline.views.pages.data.definitions import Definition, Glossary
from goodgain.pipeline.views.pages.data.slices import SliceMeans
from goodgain.pipeline.views.pages.data.texts import mean_texts
from goodgain.pipeline.views.pages.sections.section_parts import NOTHING
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.wording import format_count

Row = Mapping[str, Any]
_EVERY = "Every metric at the last iteration"
_UNDEFINED = (
    "Undefined: conversations in which the metric has no value, so its mean leaves them out."
)


def headline_section(
    everything: SliceMeans | None, glossary: Glossary, manifest: RunManifest
) -> Section:
    """The most important means as cards, and all of them in tables."""
    return section(
        "headline",
        "Headline",
        "Means over conversations, each with the same weight. The true mean plausibly lies in the "
        "95 % interval, which narrows with more conversations.",
        _too_many_rejected(manifest),
        [NOTHING] if everything is None else _headline(everything, glossary, manifest),
    )


def _too_many_rejected(manifest: RunManifest) -> Iterator[Sentence]:
    records = manifest.records
    if records.too_many_rejected:
        exceed = (
            "were rejected, and an unknown number more is lost, which may exceed"
            if records.unknown_losses
            else "exceed"
        )
        yield Sentence(
            f"Too many records were rejected. {count_text(records.rejected)} of "
            f"{count_text(records.read)} {exceed} this run's limit "
            f"({manifest.options.max_rejected}); see data quality before you rely on "
            "these numbers.",
            "warning",
        )


def _headline(
    everything: SliceMeans, glossary: Glossary, manifest: RunManifest
) -> Iterator[PageBlock]:
    rows = everything.at_end
    yield SliceName()
    cards = [_card(glossary.by_name[name], rows[name]) for name in headline_among("card", rows)]
    yield Cards((_conversations(everything, manifest), *cards))
    measures = [rows[definition.metric.name] for definition in glossary.measures]
    caption = "Metrics at each conversation's last iteration"
    yield Details(_EVERY, (means_table(measures, manifest, caption), Sentence(_UNDEFINED, "quiet")))
    everyone = [
        everything.everyone[definition.metric.name]
        for definition in glossary.at_end
        if definition.metric.name in everything.everyone
    ]
    if everyone:
        without = format_count(manifest.conversations.without_search, "conversation")
        yield Details(
            f"With the {without} that did not search",
            (
                Sentence(
                    "All other means leave them out. Here (population `everyone` of the means) "
                    "they count with gain 0, and ranking metrics take their value for an empty "
                    "list. Metrics that are better when lower are undefined for them.",
                    "quiet",
                ),
                means_table(
                    everyone,
                    manifest,
                    "All conversations, those that did not search with gain 0",
                    live=False,
                ),
                *_explain_own_ideal(everyone, manifest),
            ),
        )


def _conversations(everything: SliceMeans, manifest: RunManifest) -> Card:
    total = manifest.conversations.total
    return Card(
        Cell("Conversations", metric="N"),
        (
            CardLine(Cell(count_text(everything.n)), "number", part="n"),
            CardLine(Cell("in the means")),
            CardLine(Cell(f"{count_text(total)} in the run")),
            CardLine(Cell("Each is one user's session; only its last turn counts."), "meaning"),
        ),
    )


def _card(definition: Definition, row: Row) -> Card:
    metric, texts = definition.metric, mean_texts(row)

    def line(part: str, before: str) -> CardLine:
        return CardLine(Cell(texts[part]), part=part, before=before)

    unit = "" if metric.in_percent else metric.unit
    return Card(
        term(metric.name, "own ideal" if definition.own_ideal else ""),
        (
            CardLine(Cell(texts["mean"]), "number", part="mean", after=unit),
            line("interval", "95 %:"),
            line("p50", "median:"),
            line("missing", ""),
            CardLine(Cell(metric.explained), "meaning"),
        ),
    )


def _explain_own_ideal(rows: Iterable[Row], manifest: RunManifest) -> Iterator[Sentence]:
    """What `own ideal` means, if the table of these rows says it."""
    if any(manifest.has_own_ideal(metric_by_name(row["metric"])) for row in rows):
        yield Sentence(OWN_IDEAL, "quiet")


def ranking_section(
    everything: SliceMeans | None, glossary: Glossary, manifest: RunManifest
) -> Section:
    """The means of ranking metrics."""
    rows = everything.at_end if everything else {}
    ranking = [
        rows[definition.metric.name]
        for definition in glossary.ranking
        if definition.metric.name in rows
    ]
    shown: tuple[PageBlock, ...] = (NOTHING,)
    if ranking:
        table = means_table(ranking, manifest, "Ranking metrics")
        shown = (table, *_explain_own_ideal(ranking, manifest), Sentence(_UNDEFINED, "quiet"))
    elif everything:
        none = (
            "No ranking metrics were requested; add them with, for example, "
            "`goodgain run --metrics ndcg@10`."
        )
        shown = (Sentence(none, "strong"),)
    return section(
        "ranking",
        "Ranking metrics",
        "How well the results of a conversation were ordered. Its distinct documents form one "
        "ranked list, in the order in which the agent saw them.",
        shown,
        link="Ranking",
    )
