"""`goodgain pool show`: the documents and labels of a pool as text (SPEC 9)."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from itertools import chain, groupby
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_json_option
from goodgain.pipeline.settings.pool_config import ShowConfig
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.wording import pluralize

if TYPE_CHECKING:
    from goodgain.pipeline.results.pool_store import Pool
    from goodgain.transforms.core.pool.document import PoolDocument

NAME = "pool show"
HELP = "show a pool: documents, labels, and which run found what when"
EXAMPLE = "goodgain pool show pool --topic q1"
_TOPICS = 3  # shown when none is named
_SUGGESTED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the pool and the topic."""
    add_config_options(parser, ShowConfig)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Read and show."""
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.document.model import Sentence, document
    from goodgain.pipeline.document.terminal import show
    from goodgain.pipeline.results.folder import plain_manifest
    from goodgain.pipeline.results.pool_store import read_pool
    from goodgain.pipeline.views.pool import pool_document, topic_document

    config = read_options(args, ShowConfig)
    wanted = config.topic
    pool = read_pool(config.pool)
    topics = _documents_by_topic(pool, wanted)
    if args.json:
        print_json({"pool": plain_manifest(pool.manifest), "documents": list(chain(*topics))})
        return 0
    shown = [topic_document(documents[0].topic, documents, pool.preferred) for documents in topics]
    more = wanted is None and pool.manifest.content.topics > len(topics)
    whole = document(
        pool_document(pool).blocks if wanted is None else (),
        *(topic.blocks for topic in shown),
        Sentence("Other topics: `--topic T`.") if more else None,
    )
    show(whole, result_console())
    return 0


def _documents_by_topic(pool: Pool, topic: str | None) -> list[list[PoolDocument]]:
    """The documents of one topic or, without one, of the first few topics."""
    topics: list[list[PoolDocument]] = []
    names: set[str] = set()
    for key, documents in groupby(pool.documents(), key=lambda document: document.topic):
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
            f"the nearest {pluralize(len(near), 'is', 'are')} {', '.join(near)}"
            if near
            else "without --topic the first are shown"
        )
        raise UsageError(f"The pool {pool.folder} has no topic {topic}; {advice}.")
    return topics
