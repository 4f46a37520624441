"""Reads trace files: patterns to search calls and rejected rows, or to payloads (SPEC 2, 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam

from goodgain.transforms.coders import ANY_RECORD, apply_typed
from goodgain.transforms.core.errors import UsageError, missing_file, problem_of
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.compression import Compression
from goodgain.transforms.core.files.input_formats import JSONL
from goodgain.transforms.core.files.shard import (
    DEFAULT_SHARD_BYTES,
    FileShard,
    InputFile,
)
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.shard_reader import read_shard
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.file_listing import find_files
from goodgain.transforms.filesystems import make_absolute, open_plain

REJECTED = "rejected"


def find_inputs(patterns: Sequence[str]) -> tuple[InputFile, ...]:
    """The files that match the patterns, each once, sorted by path.

    A directory stands for the files directly in it, except those whose name begins with a dot or an
    underscore, like engines' marker files.

    Args:
      patterns: paths or globs, on any filesystem that Beam reads.

    Raises:
      UsageError: there are no patterns, a pattern matches no file, or files cannot be listed.
    """
    if not patterns:
        raise UsageError("No input is given; name at least one file or pattern.")
    by_identity: dict[str, InputFile] = {}
    for pattern in patterns:
        files = _files_of(pattern)
        if not files:
            raise missing_file(pattern, f"Input {pattern!r} matches no file; check the path.")
        for file in files:
            identity = make_absolute(file.path)
            by_identity.setdefault(identity, file)
    return tuple(sorted(by_identity.values()))


@dataclass(eq=False, repr=False)
class PlanShards(beam.DoFn):
    """InputFile to its FileShards; a file that cannot be opened is one shard, which is rejected.

    Attributes:
      of_traces: whether the files are traces, not judgments.
    """

    shard_bytes: int
    adaptation: Adaptation | None = None
    of_traces: bool = True
    bounds: ReadBounds = DEFAULT_BOUNDS

    def process(self, file: InputFile) -> Iterator[FileShard]:
        """The shards of one file, in order."""
        try:
            with open_plain(file.path) as opened:
                shards = plan_shards(
                    opened,
                    file.path,
                    file.size,
                    self.shard_bytes,
                    self.adaptation,
                    self.of_traces,
                    self.bounds,
                )
        except OSError as error:
            problem = f"The file cannot be read: {problem_of(error)}."
            shards = [FileShard(file.path, JSONL, Compression.NONE, 0, file.size, problem)]
        yield from shards


class ReadShard(beam.DoFn):
    """FileShard to its records; rejected ones also go to the output tagged `rejected`."""

    def process(self, shard: FileShard) -> Iterable[Any]:
        """Everything in one shard, in file order; bad content never raises."""
        for record in read_shard(shard, open_plain):
            yield record
            if isinstance(record, RejectedRecord):
                yield beam.pvalue.TaggedOutput(REJECTED, record)


class Traces(NamedTuple):
    """The outputs of `ReadTraces`.

    Attributes:
      records: PCollection[SearchCall | RejectedRecord], everything; use this for scoring, since
        rejected records flag their conversations.
      rejected: PCollection[RejectedRecord], records that cannot be used.
    """

    records: beam.PCollection[Any]
    calls: beam.PCollection[SearchCall]
    rejected: beam.PCollection[RejectedRecord]


@dataclass(eq=False, repr=False)
class FindShards(beam.PTransform):
    """PBegin to `PCollection[FileShard]`: byte ranges of files, spread over workers.

    Attributes:
      inputs: patterns, or files from `find_inputs`.
      shard_bytes: size of a shard, which one worker reads at a time.
      adaptation: renamed fields and the like; None if records need no conversion.
      bounds: limits on the memory that reading a shard may take.

    Raises:
      UsageError: `shard_bytes` is below 1.

    Example:
      >>> import apache_beam as beam
      >>> from apache_beam.runners.portability.fn_api_runner import FnApiRunner
      >>> from goodgain import FileShard, FindShards
      >>> def show(shard: FileShard) -> None:
      ...     print(shard.format, shard.start)
      >>> with beam.Pipeline(runner=FnApiRunner()) as pipeline:
      ...     _ = pipeline | FindShards(["traces/*.jsonl"]) | beam.Map(show)
      jsonl 0
    """

    inputs: Sequence[str | InputFile]
    shard_bytes: int = DEFAULT_SHARD_BYTES
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS

    def __post_init__(self) -> None:
        if self.shard_bytes < 1:
            raise UsageError(f"shard_bytes must be at least 1, got {self.shard_bytes}.")
        self.inputs = tuple(self.inputs)

    def expand(self, begin: beam.pvalue.PBegin) -> beam.PCollection[FileShard]:
        """Find the files, split them into shards, and distribute these.

        Raises:
          UsageError: a pattern matches no file.
        """
        files = [file for file in self.inputs if isinstance(file, InputFile)]
        patterns = [pattern for pattern in self.inputs if isinstance(pattern, str)]
        if patterns or not files:
            files.extend(find_inputs(patterns))
        return (
            begin
            | "Files" >> beam.Create(files)
            | "Plan"
            >> beam.ParDo(PlanShards(self.shard_bytes, self.adaptation, bounds=self.bounds))
            | "Spread" >> beam.Reshuffle()
        )


@dataclass(eq=False, repr=False)
class ReadTraces(beam.PTransform):
    """PBegin to Traces: every record of the files, split over workers by byte ranges.

    Attributes:
      inputs: paths or patterns of files, or files with their sizes.
      shard_bytes: how much of a file one worker reads at a time.
      adaptation: renamed fields and the like; None if records need no conversion.
      bounds: limits on the memory that reading may take.

    Raises:
      UsageError: `shard_bytes` is below 1.

    Example: see `GlobalMeans`.
    """

    inputs: Sequence[str | InputFile]
    shard_bytes: int = DEFAULT_SHARD_BYTES
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS

    def __post_init__(self) -> None:
        self.shards = FindShards(self.inputs, self.shard_bytes, self.adaptation, self.bounds)

    def expand(self, begin: beam.pvalue.PBegin) -> Traces:
        """Read each shard; raises as `FindShards` does."""
        shards = begin | "Shards" >> self.shards
        records, rejected = apply_typed(
            shards, "Read", ReadShard(), records=ANY_RECORD, rejected=RejectedRecord
        )
        calls = records | "Calls" >> beam.Filter(lambda record: isinstance(record, SearchCall))
        calls.element_type = SearchCall
        return Traces(records, calls, rejected)


def _files_of(pattern: str) -> list[InputFile]:
    try:
        return find_files(pattern)
    except (OSError, ValueError) as error:
        raise UsageError(f"Input {pattern!r} cannot be listed: {error}") from None
