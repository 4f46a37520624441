"""`goodgain pool agree`: how well two annotators agree, and what that does to means (SPEC 9)."""

from __future__ import annotations

import argparse
from itertools import groupby
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.config_options import add_config_options, given_options
from goodgain.pipeline.cli.shared_options import add_json_option
from goodgain.pipeline.settings.catalogue import Threshold
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.wording import counted, no_interval

if TYPE_CHECKING:
    from goodgain.transforms.core.pool.agreement import Agreement

NAME = "pool agree"
HELP = "compare the labels of two annotators of a pool"
EXAMPLE = "goodgain pool agree pool ann judge"


class AgreeConfig(Settings):
    """What the means over the pooled conversations depend on."""

    good_gain_threshold: Threshold


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the pool and the annotators."""
    parser.description = (
        f"{parser.description}\n\nShows the confusion matrix, Cohen's kappa with quadratic "
        "weights, and means over the pooled\nconversations once with A's labels and once with B's, "
        "with the interval of the difference\n(over topics, if conversations share them). In both, "
        "a document without both labels counts with\nthe pool's label. `votes` stands for the "
        "labels in the traces."
    )
    parser.add_argument("pool", metavar="POOL", help="folder of the pool")
    parser.add_argument("a", metavar="A", help="an annotator, or `votes`")
    parser.add_argument("b", metavar="B", help="another annotator, or `votes`")
    add_config_options(parser, AgreeConfig)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Read the pool and compare."""
    from goodgain.pipeline.document.console import print_json
    from goodgain.pipeline.studies.pool.labelling import check_annotators
    from goodgain.pipeline.studies.pool.store import read_pool
    from goodgain.transforms.core.pool.agreement import ShiftSums, agreement, annotators, confusion

    config = load_config(AgreeConfig, given_options(args, AgreeConfig))
    pool = read_pool(args.pool)
    check_annotators(pool.folder, annotators(pool.documents()), args.a, args.b)
    sums = ShiftSums(args.a, args.b, pool.preferred, config.good_gain_threshold)
    for _, documents in groupby(pool.documents(), key=lambda one: one.topic):
        sums.add(list(documents))
    outcome = agreement(confusion(pool.documents(), args.a, args.b), sums.shifts())
    if args.json:
        print_json(outcome)
    else:
        _show(outcome, args.a, args.b)
    return 0


def _show(outcome: Agreement, a: str, b: str) -> None:
    from goodgain.pipeline.document.console import plain_table, result_console
    from goodgain.pipeline.document.numbers import (
        difference_text,
        interval_text,
        number,
        value_text,
    )
    from goodgain.pipeline.document.safe_text import printable, untrusted
    from goodgain.transforms.core.scoring.metric_by_name import metric_by_name

    console = result_console()
    console.print(f"{counted(outcome.documents, 'document')} that both labelled", soft_wrap=True)
    table = plain_table()
    table.add_column(untrusted(f"{a} \\ {b}"))
    for gain in range(len(outcome.matrix)):
        table.add_column(str(gain), justify="right")
    for gain, row in enumerate(outcome.matrix):
        table.add_row(str(gain), *(f"{count:,}" for count in row))
    console.print(table)
    kappa = outcome.kappa
    interval = (
        f" ({kappa.note})" if kappa.note else f" ({number(kappa.low)} .. {number(kappa.high)})"
    )
    same = "-" if outcome.same is None else f"{100 * outcome.same:.1f} %"
    console.print(f"the same label: {same}")
    console.print(f"weighted kappa: {number(kappa.value)}{interval}", soft_wrap=True)
    by = f"by {printable(a)}", f"by {printable(b)}"
    means = plain_table("mean", *by, "shift", "95 % interval", "conversations")
    for shift in outcome.shifts:
        means.add_row(
            metric_by_name(shift.metric).label,
            *(value_text(shift.metric, mean) for mean in (shift.mean_a, shift.mean_b)),
            difference_text(shift.metric, shift.shift),
            interval_text(shift.metric, shift.low, shift.high),
            f"{shift.n:,}",
        )
    console.print(means)
    console.print(
        "In both means, a document without both labels counts with the pool's label.",
        soft_wrap=True,
    )
    noted: dict[str, list[str]] = {}
    for shift in outcome.shifts:
        if shift.note:
            why = shift.note.split(";")[0]  # not which test gives p, which is not shown
            noted.setdefault(why, []).append(metric_by_name(shift.metric).label)
    for why, labels in noted.items():
        of = "" if len(labels) == len(outcome.shifts) else ", ".join(labels)
        console.print(no_interval(why, of), soft_wrap=True)
