"""`goodgain pool show`: the documents and labels of a pool as text (SPEC 9)."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from itertools import chain, groupby
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.shared_options import add_json_option, add_option
from goodgain.transforms.core.errors import UsageError

if TYPE_CHECKING:
    from goodgain.pipeline.pool.store import Pool
    from goodgain.transforms.core.pool.document import PoolDocument

NAME = "pool show"
HELP = "show a pool: documents, labels, and which run found what when"
EXAMPLE = "goodgain pool show pool --topic q1"
_TOPICS = 3  # shown when none is named
_SUGGESTED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the pool and the topic."""
    parser.add_argument("pool", metavar="POOL", help="folder of the pool")
    add_option(
        parser, "--topic T", f"only this topic or conversation (default: the first {_TOPICS})"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Read and show."""
    from goodgain.pipeline.cli.pool.text import print_manifest, print_topic
    from goodgain.pipeline.pool.store import read_pool
    from goodgain.pipeline.terminal.console import print_json, result_console

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
        near = get_close_matches(topic, sorted(names), n=_SUGGESTED, cutoff=0.0)
        nearest = f"; the nearest are {', '.join(near)}" if near else ""
        raise UsageError(f"The pool {pool.folder} has no topic {topic}{nearest}.")
    return topics
