"""`goodgain pool agree`: how well two annotators agree, and what that does to means (SPEC 9)."""

from __future__ import annotations

import argparse
from itertools import groupby

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_json_option
from goodgain.pipeline.settings.pool_config import AgreeConfig

NAME = "pool agree"
HELP = "compare the labels of two annotators of a pool"
EXAMPLE = "goodgain pool agree pool ann judge"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the pool and the annotators."""
    parser.description = (
        f"{parser.description}\n\nShows the confusion matrix, Cohen's kappa with quadratic "
        "weights, and means over the pooled\nconversations once with A's labels and once with B's, "
        "with the interval of the difference\n(over topics, if conversations share them). In both, "
        "a document without both labels counts with\nthe pool's label. `votes` stands for the "
        "labels in the traces."
    )
    add_config_options(parser, AgreeConfig)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Read the pool and compare."""
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.document.terminal import show
    from goodgain.pipeline.results.pool_store import read_pool
    from goodgain.pipeline.studies.pool.labelling import check_annotators
    from goodgain.pipeline.views.pool import agreement_document
    from goodgain.transforms.core.pool.agreement import (
        ShiftSums,
        count_by_annotator,
        count_label_pairs,
        measure_agreement,
    )

    config = read_options(args, AgreeConfig)
    pool = read_pool(config.pool)
    check_annotators(pool.folder, count_by_annotator(pool.documents()), config.a, config.b)
    sums = ShiftSums(config.a, config.b, pool.preferred, config.good_gain_threshold)
    for _, documents in groupby(pool.documents(), key=lambda document: document.topic):
        sums.add(list(documents))
    outcome = measure_agreement(
        count_label_pairs(pool.documents(), config.a, config.b), sums.shifts()
    )
    if args.json:
        print_json(outcome)
    else:
        show(agreement_document(outcome, config.a, config.b), result_console())
    return 0
