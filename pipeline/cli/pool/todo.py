"""`goodgain pool todo`: the documents left to label, each once (SPEC 9)."""

from __future__ import annotations

import argparse

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.settings.pool_config import TodoConfig
from goodgain.transforms.core.wording import format_count, pluralize

NAME = "pool todo"
HELP = "list the documents of a pool that have no label, each once"
EXAMPLE = "goodgain pool todo pool --depth 10 --output todo.csv"
_SAVED = ("needs no label of its own: it is a copy", "need no label of their own: they are copies")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the pool, the selection and the file."""
    add_config_options(parser, TodoConfig)
    add_output_options(parser, "the numbers of documents and results")


def run(args: argparse.Namespace) -> int:
    """Write the table, and print how much labelling the pool saves."""
    config = read_options(args, TodoConfig)
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.results.pool_store import read_pool
    from goodgain.pipeline.studies.pool.todo import todo_of, write_todo

    todo = todo_of(read_pool(config.pool), config.depth, config.metric)
    write_todo(todo.documents, config.output)
    if args.json:
        print_json(
            {
                "output": config.output,
                "documents": len(todo.documents),
                "below_depth": todo.deeper,
                "results": todo.results,
                "saved": todo.saved,
            }
        )
        return 0
    console = result_console(args.quiet)
    console.print(
        f"{format_count(len(todo.documents), 'document')} without a label: {config.output}"
    )
    if todo.deeper:
        were = pluralize(todo.deeper, "was", "were")
        console.print(f"{todo.deeper:,} more {were} seen only below rank {config.depth}.")
    console.print(
        f"{todo.saved:,} of {todo.results:,} results {pluralize(todo.saved, *_SAVED)} of documents "
        "that are labelled once.",
        soft_wrap=True,
    )
    return 0
