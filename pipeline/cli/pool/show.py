"""`goodgain pool show`: the documents and labels of a pool as text (SPEC 9)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import chain, groupby
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.shared_options import add_json_option, add_option
from goodgain.pipeline.document.safe_text import printable, shortened, untrusted
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.wording import counted, pluralize

if TYPE_CHECKING:
    from rich.console import Console

    from goodgain.pipeline.studies.pool.store import Pool
    from goodgain.transforms.core.pool.document import PoolDocument, Topic

NAME = "pool show"
HELP = "show a pool: documents, labels, and which run found what when"
EXAMPLE = "goodgain pool show pool --topic q1"
_TOPICS = 3  # shown when none is named
_SUGGESTED = 3
_LONGEST = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the pool and the topic."""
    parser.add_argument("pool", metavar="POOL", help="folder of the pool")
    add_option(
        parser, "--topic T", f"only this topic or conversation (default: the first {_TOPICS})"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Read and show."""
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.studies.pool.store import read_pool

    pool = read_pool(args.pool)
    topics = _documents_by_topic(pool, args.topic)
    if args.json:
        print_json({"pool": pool.manifest, "documents": list(chain(*topics))})
        return 0
    console = result_console()
    if args.topic is None:
        print_manifest(pool, console)
    for documents in topics:
        print_topic(documents[0].topic, documents, pool.preferred, console)
    if args.topic is None and pool.manifest["content"]["topics"] > len(topics):
        console.print("\nOther topics: `--topic T`.", soft_wrap=True)
    return 0


def _documents_by_topic(pool: Pool, topic: str | None) -> list[list[PoolDocument]]:
    """The documents of one topic or, without one, of the first few topics."""
    topics: list[list[PoolDocument]] = []
    names: set[str] = set()
    for key, documents in groupby(pool.documents(), key=lambda one: one.topic):
        if topic is None:
            topics.append(list(documents))
            if len(topics) == _TOPICS:
                break
        elif topic in (key.value, key.conversation_id):
            topics.append(list(documents))
        else:
            names.add(key.value or key.conversation_id or "")
    if topic is not None and not topics:
        near = get_close_matches(topic, sorted(names), n=_SUGGESTED)
        advice = (
            f"the nearest are {', '.join(near)}" if near else "without --topic the first are shown"
        )
        raise UsageError(f"The pool {pool.folder} has no topic {topic}; {advice}.")
    return topics


def print_manifest(pool: Pool, console: Console) -> None:
    """The content of a pool by run."""
    from goodgain.pipeline.document.console import plain_table

    content, built = pool.manifest["content"], pool.manifest["last_build"]
    table = plain_table("run", "conversations", "documents", "only in this run")
    for name, facts in pool.manifest["runs"].items():
        numbers = (f"{facts[key]:,}" for key in ("conversations", "documents", "only_here"))
        table.add_row(untrusted(name), *numbers)
    console.print(table)
    console.print(
        f"\n{counted(content['documents'], 'document')} of {counted(content['topics'], 'topic')}, "
        f"seen at {counted(content['places'], 'place')}.",
        soft_wrap=True,
    )
    print_findings(pool, console)
    if built["rejected"]:
        console.print(
            f"{built['rejected']:,} of {built['read']:,} records could not be used; "
            "`goodgain validate` shows why.",
            soft_wrap=True,
        )
    console.print(f"Pool: {printable(pool.folder)}", soft_wrap=True)


def print_findings(pool: Pool, console: Console) -> None:
    """What the last build found that makes the pool less useful than it seems."""
    built = pool.manifest["last_build"]
    alone, weak = built["conversations_without_topic"], built["weak_documents"]
    if alone and pool.topic_attribute:
        console.print(
            f"{counted(alone, 'conversation lacks', 'conversations lack')} the attribute "
            f"{printable(pool.topic_attribute)}: each is a topic of its own.",
            soft_wrap=True,
        )
    if weak:
        has, it = pluralize(weak, "has", "have"), pluralize(weak, "it", "them")
        console.print(
            f"{counted(weak, 'document')} {has} too few attributes to be recognized in another "
            f"run: no id, URL or text identifies {it}.",
            soft_wrap=True,
        )


def print_topic(
    topic: Topic, documents: Sequence[PoolDocument], preferred: str | None, console: Console
) -> None:
    """A topic's documents: label, copies, and which run found each when."""
    from goodgain.pipeline.document.console import plain_table

    of_topic = counted(len(documents), "document")
    console.print(f"\nTopic {printable(str(topic))}: {of_topic}", soft_wrap=True)
    table = plain_table()
    runs = sorted({place.run for one in documents for place in one.places})
    for heading in ("no", "label", "copies"):
        table.add_column(heading, justify="right")
    for run in runs:
        table.add_column(untrusted(run, 20), justify="right")
    table.add_column("document", overflow="fold")
    for document in documents:
        table.add_row(
            str(document.number),
            _label_text(document, preferred),
            str(len(document.places)),
            *(_when(document, run) for run in runs),
            untrusted(_name(document), _LONGEST),
        )
    console.print(table)


def _label_text(document: PoolDocument, preferred: str | None) -> str:
    """The label that counts, followed by all given labels in brackets if they differ."""
    label = document.label(preferred)
    text = "-" if label is None else str(label)
    if not document.disagrees:
        return text
    gains = sorted(document.given.values() or (vote.gain for vote in document.votes))
    return f"{text} ({','.join(map(str, gains))})"


def _name(document: PoolDocument) -> str:
    """A readable name of a document: its title, URL, an id or the beginning of its text."""
    from goodgain.transforms.core.pool.rows import first_text

    for name in ("title", "url"):
        if text := first_text(document, name):
            return text
    for result in document.evidence:
        for id_name, value in sorted(result.ids.items()):
            return f"{id_name}={value if isinstance(value, str) else value[0]}"
    for name in ("id", "snippet", "content"):
        if text := first_text(document, name):
            return shortened(text, _LONGEST)
    return document.document


def _when(document: PoolDocument, run: str) -> str:
    """The first i at which a run found it."""
    iterations = [place.i for place in document.places if place.run == run]
    return f"i={min(iterations)}" if iterations else "-"
