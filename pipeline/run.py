"""One batch run, from configuration to published outputs."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil
from typing import Any

import apache_beam as beam
import msgspec
import xxhash
from apache_beam.io.filesystems import FileSystems
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from pipeline import graph, progress, runners
from pipeline.cli.console import message_console
from pipeline.config import RunConfig
from pipeline.exit_codes import ExitCode
from pipeline.manifest import manifest_of
from pipeline.outputs.folder import (
    MANIFEST,
    REPORT,
    UNFINISHED,
    discard_unfinished,
    open_file,
    prepare,
    publish,
    write_file,
)
from pipeline.qrels import check_beginnings, describe, find_qrels
from pipeline.report import build_report
from pipeline.rules import load_rules
from pipeline.run_summary import print_summary
from pipeline.scoring import scoring_of
from pipeline.sinks import Target
from pipeline.worker_paths import for_workers
from transforms.core.errors import GoodGainError, UsageError
from transforms.core.files.shard import DEFAULT_SHARD_BYTES, InputFile
from transforms.core.judgments import LabelKeys
from transforms.core.rules_file import RulesFile
from transforms.read import find_inputs

_INPUT_BYTES_A_FILE = 256 * 2**20  # of input for each output file


def run(config: RunConfig, beam_arguments: Sequence[str]) -> int:
    """Run the pipeline and publish what it wrote.

    Args:
      config: what to read, compute and write.
      beam_arguments: options for the engine.

    Returns:
      An exit code: done, or too many records rejected.

    Raises:
      UsageError: the input, the output folder, the rules or the engine cannot be used.
      GoodGainError: the run failed; nothing was published.
    """
    started = datetime.now(UTC)
    engine, options = runners.create(config.runner, beam_arguments)
    config = for_workers(config, engine, options)
    inputs = find_inputs(config.input)
    rules = load_rules(config.rules)
    qrels = find_qrels(config.qrels) if config.qrels else ()
    check_beginnings(qrels)
    plan = _plan(config, rules, inputs, qrels, runners.several_processes(options))
    prepare(config.output, config.overwrite)
    size = sum(file.size for file in inputs)
    message_console().print(
        f"goodgain: reading {len(inputs):,} file{'s' * (len(inputs) > 1)} of {size:,} bytes "
        f"on {type(engine).__name__}."
    )
    _run_pipeline(plan, engine, options)
    summary = _read_summary(config.output)
    if summary.qrels_problems:
        discard_unfinished(config.output)
        raise UsageError(describe(summary.qrels_problems, qrels))
    records = {name: summary.counts.get(f"records.{name}", 0) for name in ("rejected", "read")}
    too_many = config.max_rejected.exceeded(records["rejected"], records["read"])
    rows: Counter[str] = Counter()
    for file in summary.files:
        rows[file.dataset] += file.rows
    manifest = manifest_of(
        counts=summary.counts,
        datasets=rows,
        parameters=config.model_dump(mode="json"),
        rules_digest=xxhash.xxh3_128_hexdigest(rules.model_dump_json().encode()),
        inputs=inputs,
        qrels=qrels,
        engine=type(engine).__name__,
        started=started,
        finished=datetime.now(UTC),
        too_many_rejected=too_many,
    )
    report = build_report(FileSystems.join(config.output, UNFINISHED), manifest)
    try:
        publish(config.output, [file.path for file in summary.files])
        write_file(config.output, REPORT, report)
        write_file(config.output, MANIFEST, json.dumps(manifest, indent=2).encode() + b"\n")
    except OSError as error:
        raise GoodGainError(
            f"The outputs cannot be put into {config.output} ({error}); run again with --overwrite."
        ) from error
    print_summary(config.output, manifest)
    return ExitCode.DATA_QUALITY if too_many else ExitCode.DONE


def _plan(
    config: RunConfig,
    rules: RulesFile,
    inputs: Sequence[InputFile],
    qrels: tuple[InputFile, ...],
    several_processes: bool,
) -> graph.Plan:
    input_bytes = sum(file.size for file in inputs)
    return graph.Plan(
        inputs=tuple(inputs),
        target=Target(
            folder=config.output,
            format=config.format,
            shards=config.shards or max(1, ceil(input_bytes / _INPUT_BYTES_A_FILE)),
        ),
        scoring=scoring_of(
            config, rules, LabelKeys(config.qrels_id, config.qrels_topic) if qrels else None
        ),
        slices=config.slice,
        max_i=config.max_i,
        shard_bytes=DEFAULT_SHARD_BYTES,
        qrels=qrels,
        several_processes=several_processes,
    )


def _run_pipeline(plan: graph.Plan, engine: Any, options: Any) -> None:
    """Build the graph and wait for its end.

    Raises:
      GoodGainError: the engine failed.
    """
    # The local engine raises what went wrong; of a job elsewhere only the log tells the cause.
    local = isinstance(engine, FnApiRunner)
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL if local else logging.ERROR)
    pipeline = beam.Pipeline(runner=engine, options=options)
    graph.build(pipeline, plan)
    try:
        with progress.shown():
            pipeline.run().wait_until_finish()
    except GoodGainError:
        raise
    except Exception as error:  # engines raise whatever they like
        raise GoodGainError(f"The run failed: {cause_of(error)}") from error


def cause_of(error: BaseException) -> str:
    """One line: the first of an engine's message, or where that is a traceback its last."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = lines[-1 if "Traceback (most recent call last)" in str(error) else 0]
    # An engine tells of our own errors by class, message and place in the graph.
    ours = re.fullmatch(r"(?:transforms|pipeline)\.[\w.]+: (.*?)(?: \[while running '.*'\])?", line)
    return ours[1] if ours else line


def _read_summary(folder: str) -> graph.Summary:
    with open_file(FileSystems.join(folder, UNFINISHED, graph.SUMMARY)) as file:
        return msgspec.json.decode(file.read(), type=graph.Summary)
