"""One batch run, from configuration to published outputs."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from errno import EDQUOT, ENOSPC
from itertools import islice
from math import ceil
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import apache_beam as beam
import xxhash
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from msgspec.structs import replace

from goodgain.pipeline.document import progress
from goodgain.pipeline.document.console import message_console
from goodgain.pipeline.results.data_warnings import is_bad
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.folder import (
    MANIFEST,
    claim,
    discard_unfinished,
    prepare,
    unfinished_folder,
)
from goodgain.pipeline.results.lock import folder_locked
from goodgain.pipeline.results.opened_pool import open_pool
from goodgain.pipeline.results.sinks import Target
from goodgain.pipeline.run.engines import runners
from goodgain.pipeline.run.engines.table import ENGINES
from goodgain.pipeline.run.hosts import graph
from goodgain.pipeline.run.hosts.finish import (
    Report,
    StartedRun,
    UnusableQrelsError,
    finish,
    started_in,
)
from goodgain.pipeline.run.plan.judgments import describe, shards_of_judgments
from goodgain.pipeline.run.plan.labels import label_files
from goodgain.pipeline.run.plan.local_files import usable_threads
from goodgain.pipeline.run.plan.scoring import scoring_of
from goodgain.pipeline.run.plan.seen_names import first_look
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.yaml_model import load_rules
from goodgain.transforms.core.dedup.rules import compile_rules
from goodgain.transforms.core.dedup.rules_file import RulesFile
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.files.labels import LabelFile
from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.judgment import QrelsProblem
from goodgain.transforms.core.memory_budget import default_memory_budget
from goodgain.transforms.core.wording import counted
from goodgain.transforms.filesystems import is_local, matching, open_plain
from goodgain.transforms.read import find_inputs

_CHECKED_JUDGMENTS = 10_000  # of each file, enough to notice a wrong format
_INPUT_BYTES_PER_FILE = 64 * 2**20  # bytes of input per output file; each is written by one worker
_INTERRUPTED = re.compile(r"^KeyboardInterrupt\b", re.MULTILINE)  # as workers report it
_PLACE_IN_GRAPH = re.compile(r" \[while running '.*'\]$")  # added by Beam
_DISK_IS_FULL = re.compile(rf"\[Errno ({ENOSPC}|{EDQUOT})\]")

Show = Callable[[str, Mapping[str, Any]], None]


def run(
    config: RunConfig,
    beam_arguments: Sequence[str],
    report: Report | None = None,
    show: Show | None = None,
    quiet: bool = False,
) -> int:
    """Run the pipeline and publish its outputs, or submit a job that does both.

    Args:
      report: builds `report.html`; a function of a module, since workers may call it; None = no
        page.
      show: called with the folder and the manifest of the finished run.
      quiet: print neither progress nor messages.

    Returns:
      An exit code: done or submitted, or bad data: too many rejected records, no records, no
      labels, no good results.

    Raises:
      UsageError: the input, the output folder, the rules or the engine cannot be used.
      GoodGainError: the run failed; nothing was published.
    """
    started = datetime.now(UTC)
    engine, options = runners.create(config.runner, beam_arguments)
    template_only = runners.only_stores_template(options)
    if template_only and config.gate:
        raise UsageError(
            "--gate checks finished outputs, but --template_location only submits the job: "
            "leave it out, and use `goodgain gate` when the job has ended."
        )
    config = runners.for_workers(config, engine, options)
    inputs = find_inputs(config.input)
    rules = load_rules(config.rules)
    qrels = find_label_files(config.qrels, "judgments", "--qrels") if config.qrels else ()
    check_beginnings(qrels)
    labels: tuple[LabelFile, ...] = ()
    if config.labels:
        files = find_label_files(config.labels, "labels", "--labels")
        labels = label_files(files, open_plain, config.iteration_base)
    pool = open_pool(config.pool, config.run_name, open_plain) if config.pool else None
    this_run = StartedRun(
        config=config,
        rules=compile_rules(rules),
        seen=first_look(inputs, open_plain, config.adaptation),
        rules_digest=xxhash.xxh3_128_hexdigest(rules.model_dump_json().encode()),
        inputs=inputs,
        qrels=qrels,
        labels=labels,
        pool=pool,
        engine=type(engine).__name__,
        started=started,
        area=uuid4().hex,
        report=report,
    )
    with folder_locked(config.output):
        this_run = replace(this_run, replaces=started_in(config.output))
        plan = _plan(this_run, rules, template_only)
        prepare(config.output, config.overwrite)
        claim(config.output, this_run.area)
        size = sum(file.size for file in inputs)
        console = message_console(quiet)
        console.print(
            f"goodgain: reading {counted(len(inputs), 'file')} of {size:,} bytes on "
            f"{this_run.engine}."
        )
        try:
            with _spill_folder(config, this_run.area) as folder:
                _run_pipeline(replace(plan, spill_folder=folder), engine, options, quiet)
        except (KeyboardInterrupt, GoodGainError):
            discard_unfinished(config.output, this_run.area)
            raise
        if not template_only:
            return _finish(this_run, show)
    console.print(
        f"goodgain: the job is submitted; it publishes its outputs to {config.output} "
        f"itself, {MANIFEST} last.",
        soft_wrap=True,
    )
    return ExitCode.DONE


def find_label_files(pattern: str, what: str, option: str) -> tuple[InputFile, ...]:
    """The files of judgments or labels that a path or pattern matches.

    Args:
      what: "judgments" or "labels", for messages.

    Raises:
      UsageError: it matches none, or files cannot be listed.
    """
    try:
        return find_inputs([pattern])
    except UsageError as error:
        text = str(error).replace("Input", f"The file of {what}", 1)
        raise UsageError(f"{text.rstrip('.')} ({option}).") from None


def check_beginnings(files: Sequence[InputFile]) -> None:
    """Read the first judgments of each file, so that a wrong format is noticed before the run.

    Raises:
      UsageError: one of them cannot be used.
    """
    for number, file in enumerate(files):
        for shard in shards_of_judgments(file, open_plain)[:1]:
            for judgment in islice(read_qrels(shard, number, open_plain), _CHECKED_JUDGMENTS):
                if isinstance(judgment, QrelsProblem):
                    raise UsageError(describe([judgment], files, open_plain))


def _finish(run: StartedRun, show: Show | None) -> int:
    """Publish the outputs, and show them."""
    try:
        manifest = finish(run, datetime.now(UTC))
    except UnusableQrelsError:
        discard_unfinished(run.folder, run.area)
        raise
    if show is not None:
        show(run.folder, manifest)
    return ExitCode.DATA_QUALITY if is_bad(manifest) else ExitCode.DONE


def _plan(run: StartedRun, rules: RulesFile, template_only: bool) -> graph.Plan:
    config = run.config
    in_memory = ENGINES[config.runner].in_memory  # other engines can use their disks
    input_bytes = sum(file.size for file in run.inputs)
    other_bytes = sum(file.size for file in run.qrels) + sum(file.size for file in run.labels)
    if run.pool is not None:
        other_bytes += sum(file.size for file in matching(run.pool.use.files.pattern))
    return graph.Plan(
        run=run,
        target=Target(
            folder=config.output,
            format=config.format,
            shards=config.shards or max(1, ceil(input_bytes / _INPUT_BYTES_PER_FILE)),
            area=run.area,
            max_held_bytes=(
                config.max_held_bytes or default_memory_budget(input_bytes + other_bytes)
            )
            if in_memory
            else None,
        ),
        scoring=scoring_of(
            config,
            rules,
            run.started,
            run.pool.use if run.pool else None,
            run.seen.costs,
        ),
        # Other engines have a worker for each core.
        threads=usable_threads() if in_memory else 1,
        finishes=template_only,
    )


def _spill_folder(config: RunConfig, area: str) -> AbstractContextManager[str]:
    """A folder for payloads that an engine would keep in memory; "" if the engine uses its disks.

    The folder is removed at the end. It is beside the outputs, since /tmp may be in memory.
    """
    if not ENGINES[config.runner].in_memory:
        return nullcontext("")
    parent = None
    if is_local(config.output):
        parent = unfinished_folder(config.output, area)
        os.makedirs(parent, exist_ok=True)
    return TemporaryDirectory(prefix="goodgain-", dir=parent, ignore_cleanup_errors=True)


def _run_pipeline(plan: graph.Plan, engine: Any, options: Any, quiet: bool) -> None:
    """Build the graph, run it and wait for its end.

    Raises:
      GoodGainError: the engine failed.
    """
    # The local engine raises the error itself; the cause of a remote failure is only in the log.
    local = isinstance(engine, FnApiRunner)
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL if local else logging.ERROR)
    pipeline = beam.Pipeline(runner=engine, options=options)
    graph.build(pipeline, plan)
    try:
        with progress.shown(sum(file.size for file in plan.run.inputs), quiet=quiet):
            pipeline.run().wait_until_finish()
    except GoodGainError as error:
        raise type(error)(_PLACE_IN_GRAPH.sub("", str(error))) from error
    except Exception as error:  # engines raise all kinds of errors
        if _INTERRUPTED.search(str(error)):
            raise KeyboardInterrupt from error
        raise GoodGainError(f"The run failed: {cause_of(error)}") from error


def cause_of(error: BaseException) -> str:
    """One line: the first of an engine's message or, if that is a traceback, its last."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = lines[-1 if "Traceback (most recent call last)" in str(error) else 0]
    # An engine reports our own errors by class, message and place in the graph.
    ours = re.fullmatch(r"goodgain\.[\w.]+: (.*)", line)
    cause = _PLACE_IN_GRAPH.sub("", ours[1] if ours else line)
    if _DISK_IS_FULL.search(cause):
        return (
            f"a disk is full ({cause}); free space where the outputs are written, and where the "
            "engine keeps its files."
        )
    return cause
