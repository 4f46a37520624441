"""`goodgain compare`: whether a candidate is better than a base, where, and how sure that is."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodgain.pipeline.cli.shared_options import add_option, add_output_options
from goodgain.transforms.core.errors import UsageError

if TYPE_CHECKING:
    from goodgain.pipeline.studies.comparison.compare import Compared
    from goodgain.pipeline.studies.comparison.request import ComparisonRequest

NAME = "compare"
HELP = "compare two runs, or two arms within one, metric by metric"
EXAMPLE = "goodgain compare out-base out-candidate --slice market"
_LEAST_RESAMPLES = 100
_SEVERAL: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
# The options that are fields of a `ComparisonRequest` as they are.
_AS_GIVEN = (
    "by", "base", "candidate", "primary", "max_i", "pair_by", "unpaired", "cluster", "correction",
    "examples", "examples_by", "force", "pool",
)  # fmt: skip
# By group, each option as `add_option` takes it.
_OPTIONS: Mapping[str, Sequence[tuple[Any, ...]]] = {
    "arms and pairs": (
        ("--by ATTRIBUTE", "attribute whose values are the arms"),
        ("--base VALUE", "its value in the base arm"),
        ("--candidate VALUE", "its value in the candidate arm (default: the only other one)"),
        (
            "--pair-by ATTRIBUTE",
            "pair by an attribute like query_id; conversations of an arm with the same value "
            "count as one, with their mean (default: conversation_id, if the arms share any)",
        ),
        ("--unpaired", "compare as two samples although pairs exist"),
        (
            "--pool POOL",
            "measure both against this pool: a run not scored with its current state is scored "
            "again from its traces, without changing its folder",
        ),
        (
            "--force",
            "compare runs even if thresholds, g_max, duplicates, rules, qrels, pool or "
            "scoring differ; the result says so",
        ),
    ),
    "what is compared": (
        ("--metrics NAME", "metrics to compare, at N and by i (default: all)", _SEVERAL),
        (
            "--family NAME",
            "metrics that the decision rests on; their p values are corrected together, apart "
            "from all others (default: those of --metrics, else the headline metrics)",
            _SEVERAL,
        ),
        (
            "--primary NAME",
            "metric at N that answers the question; tested alone (default: first of the family)",
        ),
        (
            "--slice NAMES",
            "attributes to compare by, like market, or model,market for both at once",
            _SEVERAL,
        ),
        ("--max-i I", "last iteration i (default: as in the runs)", {"type": int}),
        (
            "--tolerance VALUE",
            "smallest difference that makes a pair good or bad: 0.01, or CG=1 for one metric "
            "(default: 0)",
            _SEVERAL,
        ),
    ),
    "statistics": (
        ("--confidence SHARE", "level of intervals", {"default": 0.95}),
        (
            "--interval",
            "the statistic behind intervals, p values and verdicts: t corrected for skewness "
            "(hall) or plain t (student)",
            {"choices": ("hall", "student"), "default": "hall"},
        ),
        (
            "--cluster ATTRIBUTE",
            "attribute shared by conversations that are not independent, like repeated runs of a "
            "query; intervals and tests allow for it (default: the runs' --cluster)",
        ),
        (
            "--correction",
            "how p values are corrected for many metrics; the corrected p decides the verdict",
            {"choices": ("holm", "benjamini_hochberg"), "default": "holm"},
        ),
        (
            "--bootstrap N",
            "also compute BCa bootstrap intervals of the family, from N resamples, like 9999 "
            "(default: 0, none)",
            {"default": 0},
        ),
        ("--seed S", "seed of the bootstrap", {"default": 1}),
        (
            "--sensitivity",
            "also score both arms again under other policies: copies that keep their slots, no "
            "de-duplication, exact ids only, thresholds 1 to 3; takes several runs",
        ),
        ("--wilcoxon", "also run Wilcoxon's signed-rank test on pairs"),
        ("--sign", "also run the sign test on pairs"),
    ),
    "results": (
        ("--at I", "show the metrics at iteration I instead of at N", {"type": int}),
        ("--examples N", "number of wins and of losses to list", {"default": 5}),
        ("--examples-by NAME", "metric to choose them by (default: first of the family)"),
        ("--output DIR", "also write all rows as datasets, and report.html"),
        ("--format", "for --output", {"choices": ("avro", "parquet", "jsonl"), "default": "avro"}),
        ("--overwrite", "replace the contents of --output"),
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to compare, how, and where the result goes."""
    parser.add_argument(
        "outputs",
        nargs="+",
        metavar="DIR",
        help="outputs of `goodgain run`: BASE and CANDIDATE, or a single one to split with --by",
    )
    for title, options in _OPTIONS.items():
        group = parser.add_argument_group(title)
        for written, help, *settings in options:
            add_option(group, written, help, **(settings[0] if settings else {}))
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, and print or write the result."""
    # Imported here to keep --help fast.
    from goodgain.pipeline.document.console import message_console, print_json, result_console
    from goodgain.pipeline.document.safe_text import printable
    from goodgain.pipeline.results.folder import REPORT
    from goodgain.pipeline.results.unlabelled_arms import ShownRows
    from goodgain.pipeline.studies.comparison.arms import missing
    from goodgain.pipeline.studies.comparison.compare import compare
    from goodgain.pipeline.studies.comparison.output import check_output, document, rows_of, write
    from goodgain.pipeline.studies.comparison.sensitivity import sensitivity
    from goodgain.pipeline.views.comparison import render, render_warnings
    from goodgain.pipeline.views.comparison_parts import render_sensitivity
    from goodgain.pipeline.views.pages.comparison import build_comparison_report

    request = _request(args)
    if args.output:
        check_output(args.output, args.overwrite, request.outputs)
    notify = message_console(args.quiet).print
    compared = compare(request, notify)
    arms = compared.arms
    _check_at(args.at, compared)
    sliced = [name for names in request.slices for name in names]
    for line in missing(sliced, "--slice", arms.base, arms.candidate):
        message_console().print(f"goodgain: {printable(line)}", soft_wrap=True)
    sensitivity_rows = sensitivity(compared, notify) if args.sensitivity else None
    if args.output:
        write(compared, args.output, args.format, build_comparison_report, sensitivity_rows)
    if args.json:
        print_json({**document(compared, sensitivity_rows), "rows": rows_of(compared)})
    elif args.quiet:
        render_warnings(compared, message_console())
    else:
        render(compared, result_console(), at=args.at)
        if sensitivity_rows is not None:
            shown = map(ShownRows(compared.without_labels).struct, sensitivity_rows)
            render_sensitivity(list(shown), result_console(), request.correction)
        if args.output:
            result_console().print(f"\nReport: {args.output}/{REPORT}", soft_wrap=True)
    return 0


def _check_at(at: int | None, compared: Compared) -> None:
    """Refuse an iteration without metrics."""
    last = max((row.i for row in compared.rows if row.i is not None), default=0)
    if at is not None and at > last:
        raise UsageError(
            f"--at is {at}, but metrics are compared up to i = {last}: give at most {last}, or "
            f"--max-i {at}."
            if last
            else f"--at is {at}, but no metric by iteration is compared: name one with --metrics."
        )


def _request(args: argparse.Namespace) -> ComparisonRequest:
    """The comparison that the options ask for."""
    from goodgain.pipeline.studies.comparison.request import ComparisonRequest, Tests
    from goodgain.transforms.core.comparison.difference_test import ComparisonOptions

    for option in ("max_i", "at", "examples", "bootstrap", "seed"):
        value, least = getattr(args, option), 1 if option in ("max_i", "at") else 0
        if value is not None and value < least:
            raise UsageError(f"--{option.replace('_', '-')} is {value}: give at least {least}.")
    if 0 < args.bootstrap < _LEAST_RESAMPLES:
        raise UsageError(
            f"--bootstrap is {args.bootstrap}: give at least {_LEAST_RESAMPLES}, or leave it out."
        )
    if not 0 < args.confidence < 1:
        raise UsageError(f"--confidence is {args.confidence:g}: give a share like 0.95.")
    return ComparisonRequest(
        outputs=tuple(args.outputs),
        metrics=_names(args.metrics),
        family=_names(args.family),
        tolerances=_names(args.tolerance),
        slices=tuple(_names([text]) for text in args.slice),
        tests=Tests(
            options=ComparisonOptions(confidence=args.confidence, interval=args.interval),
            resamples=args.bootstrap,
            seed=args.seed,
            wilcoxon=args.wilcoxon,
            sign=args.sign,
        ),
        **{name: getattr(args, name) for name in _AS_GIVEN},
    )


def _names(texts: list[str]) -> tuple[str, ...]:
    """The distinct names in texts separated by commas."""
    names = [name.strip() for text in texts for name in text.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))
