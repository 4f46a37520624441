"""The documents of a pool: its runs, the documents of a topic, and how well annotators agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Document,
    Heading,
    Sentence,
    TableColumn,
    count,
    difference,
    document,
    interval,
    table,
    term,
    value,
)
from goodgain.pipeline.document.numbers import NONE, number, share_text
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.pool_manifest import BuiltRun
from goodgain.pipeline.results.pool_store import Pool
from goodgain.pipeline.views.records import exclusions_text
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.pool.agreement import Agreement, MeanShift
from goodgain.transforms.core.pool.document import PoolDocument, Topic
from goodgain.transforms.core.pool.document_rows import first_text
from goodgain.transforms.core.wording import (
    explain_missing_interval,
    format_count,
    group_by_text,
    pluralize,
)

_LONGEST = 60
_LONGEST_RUN = 20


def pool_document(pool: Pool) -> Document:
    """The content of a pool by run, and what its last build found."""
    content, built = pool.manifest.content, pool.manifest.last_build
    return document(
        table(
            ("run", "conversations", "documents", "only in this run"),
            [
                (name, *map(count, (run.conversations, run.documents, run.only_here)))
                for name, run in pool.manifest.runs.items()
            ],
        ),
        Sentence(
            f"{format_count(content.documents, 'document')} of "
            f"{format_count(content.topics, 'topic')}, seen at "
            f"{format_count(content.places, 'place')}."
        ),
        _exclusions(built.by_run),
        pool_findings(pool),
        Sentence(
            f"{built.rejected:,} of {format_count(built.read, 'record')} could not be used; "
            "`goodgain validate` shows why."
        )
        if built.rejected
        else None,
        Sentence(f"Pool: {pool.folder}"),
    )


def _exclusions(by_run: Mapping[str, BuiltRun]) -> Iterator[Sentence]:
    for name, built in by_run.items():
        if built.exclude:
            yield Sentence(f"Excluded (--exclude) from {name}: {exclusions_text(built.exclude)}.")


def pool_warnings(pool: Pool) -> Iterator[Sentence]:
    """The warnings about the traces of the last build."""
    for warning, runs in pool.warnings().items():
        yield Sentence(f"{', '.join(runs)}: {warning_text(warning)}")


def pool_findings(pool: Pool) -> Iterator[Sentence]:
    """What the last build found that makes the pool less useful than it seems."""
    built = pool.manifest.last_build
    of_others = " (those for other runs count here, too)" if len(built.by_run) > 1 else ""
    for name, part in built.by_run.items():
        if part.labels and (rejected := part.labels.rejected):
            yield Sentence(
                f"{rejected:,} of {format_count(part.labels.read, 'label')} "
                f"{pluralize(rejected, 'matches', 'match')} no result of {name}"
                f"{of_others}, or cannot be used: `goodgain run` with the same --labels writes "
                "them with reasons to rejected_labels."
            )
    alone, weak = built.conversations_without_topic, built.weak_documents
    if alone and pool.topic_attribute:
        yield Sentence(
            f"{format_count(alone, 'conversation lacks', 'conversations lack')} the attribute "
            f"{pool.topic_attribute}: each is a topic of its own."
        )
    if weak:
        has, it = pluralize(weak, "has", "have"), pluralize(weak, "it", "them")
        yield Sentence(
            f"{format_count(weak, 'document')} {has} too few attributes to be recognized in "
            f"another run: no id, URL or text identifies {it}."
        )


def topic_document(
    topic: Topic, documents: Sequence[PoolDocument], preferred: str | None
) -> Document:
    """A topic's documents: label, copies, and which run found each when."""
    runs = sorted({place.run for pooled in documents for place in pooled.places})
    columns = [
        *(TableColumn(heading, right=True) for heading in ("no", "label", "copies")),
        *(TableColumn(shorten(run, _LONGEST_RUN), right=True) for run in runs),
        TableColumn("document"),
    ]
    rows = [
        (
            Cell(str(pooled.number)),
            Cell(_label_text(pooled, preferred)),
            Cell(str(len(pooled.places))),
            *(Cell(_first_found(pooled, run), "place") for run in runs),
            Cell(_name(pooled), "place", longest=_LONGEST),
        )
        for pooled in documents
    ]
    heading = Heading(f"Topic {topic}: {format_count(len(documents), 'document')}")
    return document(heading, table(columns, rows))


def _label_text(document: PoolDocument, preferred: str | None) -> str:
    """The label that counts, followed by all given labels in brackets if they differ."""
    label = document.label(preferred)
    text = number(label)
    if not document.disagrees:
        return text
    gains = sorted(document.given.values() or (vote.gain for vote in document.votes))
    return f"{text} ({','.join(map(str, gains))})"


def _name(document: PoolDocument) -> str:
    """A readable name of a document: its title, URL, an id or the beginning of its text."""
    for name in ("title", "url"):
        if text := first_text(document, name):
            return text
    for result in document.evidence:
        for id_name, given in sorted(result.ids.items()):
            return f"{id_name}={given if isinstance(given, str) else given[0]}"
    for name in ("id", "snippet", "content"):
        if text := first_text(document, name):
            return shorten(text, _LONGEST)
    return document.document


def _first_found(document: PoolDocument, run: str) -> str:
    """The first i at which a run found it."""
    iterations = [place.i for place in document.places if place.run == run]
    return f"i={min(iterations)}" if iterations else NONE


def agreement_document(outcome: Agreement, a: str, b: str) -> Document:
    """How often two annotators gave the same labels, and what the means are by each."""
    kappa = outcome.kappa
    ends = kappa.note or f"{number(kappa.low)}..{number(kappa.high)}"
    return document(
        Sentence(f"{format_count(outcome.documents, 'document')} that both labelled"),
        table(
            (f"{a} \\ {b}", *map(str, range(len(outcome.matrix)))),
            [(str(gain), *map(count, row)) for gain, row in enumerate(outcome.matrix)],
        ),
        Sentence(f"the same label: {share_text(outcome.same)}"),
        Sentence(f"weighted kappa: {number(kappa.value)} ({ends})"),
        table(
            ("mean", f"by {a}", f"by {b}", "shift", "95 % interval", "conversations"),
            [
                (
                    term(shift.metric),
                    value(shift.metric, shift.mean_a),
                    value(shift.metric, shift.mean_b),
                    difference(shift.metric, shift.shift),
                    interval(shift.metric, shift.low, shift.high),
                    count(shift.n),
                )
                for shift in outcome.shifts
            ],
        ),
        Sentence("In both means, a document without both labels counts with the pool's label."),
        _missing_intervals(outcome.shifts),
    )


def _missing_intervals(shifts: Sequence[MeanShift]) -> Iterator[Block]:
    noted = group_by_text(
        # Not which test gives p, which is not shown.
        (shift.note.split(";")[0], metric_by_name(shift.metric).label)
        for shift in shifts
        if shift.note
    )
    for why, labels in noted.items():
        of = "" if len(labels) == len(shifts) else ", ".join(labels)
        yield Sentence(explain_missing_interval(why, of))
