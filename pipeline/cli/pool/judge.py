"""`goodgain pool judge`: have a program of your own judge unlabelled documents (SPEC 9)."""

from __future__ import annotations

import argparse

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.pool_config import JudgeConfig
from goodgain.transforms.core.wording import format_count

NAME = "pool judge"
HELP = "have your own program judge the pool documents without a label"
EXAMPLE = "goodgain pool judge pool --command 'python judge.py' --at-most 100"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the program and its budget."""
    parser.description = (
        f"{parser.description}\n\nThe program reads one JSON object per line (document, topic, "
        "query, entity_type, title, url,\ntext) and answers each with one: "
        '{"document": ..., "gain": 0..4}. Without the document, the program\nis started anew '
        "for each question. Nothing is sent anywhere else. Answers are kept, so a judge\nthat was "
        "stopped continues. Exit code: 0 done, 3 answers were rejected."
    )
    add_config_options(parser, JudgeConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Judge, and print how many calls it took."""
    config = read_options(args, JudgeConfig)
    from goodgain.pipeline.document.console import (
        message_console,
        print_first,
        print_json,
        result_console,
    )
    from goodgain.pipeline.document.safe_text import printable
    from goodgain.pipeline.studies.pool.judging import judge_pool

    messages, progress = message_console(), message_console(args.quiet)

    def advance(done: int, total: int) -> None:
        if done == total or done % max(total // 20, 1) == 0:
            progress.print(
                f"goodgain: {done:,} of {format_count(total, 'document')} judged", soft_wrap=True
            )

    outcome = judge_pool(config.pool, config, advance)
    if args.json:
        print_json(outcome)
    else:
        result_console(args.quiet).print(
            f"{format_count(outcome.labels, 'label')} by {printable(config.annotator)}, "
            f"{outcome.cached:,} of them from earlier answers; "
            f"{format_count(outcome.calls, 'call')}, {outcome.bad:,} without a usable answer; "
            f"{len(outcome.rejected):,} rejected, {outcome.left:,} left by --at-most.",
            soft_wrap=True,
        )
        if not (outcome.labels or outcome.bad or outcome.rejected or outcome.left):
            messages.print(
                "No document lacks a label; --again also judges what others have labelled.",
                soft_wrap=True,
            )
        print_first(
            [f"{answer.document}: {printable(answer.reason)}" for answer in outcome.rejected]
        )
    return ExitCode.DATA_QUALITY if outcome.rejected else ExitCode.DONE
