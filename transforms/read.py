"""Read trace files: patterns in, search calls and rejected rows out (SPEC 2, 3)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, cast

import apache_beam as beam
from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems

from goodgain.transforms.coders import ANY_RECORD
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.compression import Compression
from goodgain.transforms.core.files.reading import read_shard
from goodgain.transforms.core.files.shard import (
    DEFAULT_SHARD_BYTES,
    FileFormat,
    FileShard,
    InputFile,
    plan_shards,
)
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall

REJECTED = "rejected"


def find_inputs(patterns: Sequence[str]) -> tuple[InputFile, ...]:
    """The files that patterns match, sorted by path, each once.

    A pattern that names a directory stands for the files right inside it, save those whose name
    begins with a dot or an underscore, as engines name their markers.

    Args:
      patterns: paths or globs, on any filesystem that Beam reads.

    Raises:
      UsageError: no patterns, one that matches no file, or one that cannot be looked up.
    """
    if not patterns:
        raise UsageError("No input is given; name at least one file or pattern.")
    found: dict[str, InputFile] = {}
    for pattern in patterns:
        files = _files_of(pattern)
        if not files:
            raise UsageError(f"Input {pattern!r} matches no file; check the path.")
        for file in files:
            found.setdefault(_identity(file.path), file)
    return tuple(sorted(found.values()))


def open_plain(path: str) -> BinaryIO:
    """Open a file on any of Beam's filesystems for its bytes as they are.

    Raises:
      OSError: it cannot be opened.
    """
    file = FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return cast(BinaryIO, file)


class PlanShards(beam.DoFn):
    """InputFile to its FileShards; a file that cannot be opened is one shard, read as rejected."""

    def __init__(
        self,
        shard_bytes: int,
        adaptation: Adaptation | None = None,
        of_traces: bool = True,
        bounds: ReadBounds = DEFAULT_BOUNDS,
    ) -> None:
        """Cut files, of traces or of judgments, into shards of `shard_bytes`.

        Records are adapted when they are read, which is within `bounds`.
        """
        self._shard_bytes = shard_bytes
        self._of_traces = of_traces
        self._adaptation = adaptation
        self._bounds = bounds

    def process(self, file: InputFile) -> Iterator[FileShard]:
        """The shards of one file, in order."""
        try:
            with open_plain(file.path) as opened:
                shards = plan_shards(
                    opened,
                    file.path,
                    file.size,
                    self._shard_bytes,
                    self._adaptation,
                    self._of_traces,
                    self._bounds,
                )
        except OSError as error:
            problem = f"The file cannot be read: {error}."
            shards = [
                FileShard(file.path, FileFormat.JSONL, Compression.NONE, 0, file.size, problem)
            ]
        yield from shards


class ReadShard(beam.DoFn):
    """FileShard to its records; those rejected go to the output tagged `rejected` as well."""

    def process(self, shard: FileShard) -> Iterable[Any]:
        """Everything in one shard, in file order; never raises for what a file holds."""
        for record in read_shard(shard, open_plain):
            yield record
            if isinstance(record, RejectedRecord):
                yield beam.pvalue.TaggedOutput(REJECTED, record)


class Traces(NamedTuple):
    """What was read.

    Attributes:
      records: PCollection[SearchCall | RejectedRecord], everything; what is to be scored, since
        rejected records flag their conversations.
      calls: PCollection[SearchCall].
      rejected: PCollection[RejectedRecord], what could not be used.
      shards: PCollection[FileShard], the shards that were read; for `ScoreTied`.
    """

    records: beam.PCollection[Any]
    calls: beam.PCollection[SearchCall]
    rejected: beam.PCollection[RejectedRecord]
    shards: beam.PCollection[FileShard]


class FindShards(beam.PTransform):
    """PBegin to `PCollection[FileShard]`: byte ranges of files, spread over workers.

    Attributes:
      inputs: patterns, or files that `find_inputs` found.
      shard_bytes: how much of a file one worker reads at a time.
      adaptation: renamed fields and the like; None if records are as in SPEC 2.
      bounds: limits on the memory that reading a shard may take.
    """

    def __init__(
        self,
        inputs: Sequence[str | InputFile],
        shard_bytes: int = DEFAULT_SHARD_BYTES,
        adaptation: Adaptation | None = None,
        bounds: ReadBounds = DEFAULT_BOUNDS,
    ) -> None:
        """Cut `inputs` into shards of `shard_bytes`, to be read within `bounds`.

        Raises:
          UsageError: `shard_bytes` below 1.
        """
        super().__init__()
        if shard_bytes < 1:
            raise UsageError(f"shard_bytes must be at least 1, got {shard_bytes}.")
        self.inputs = tuple(inputs)
        self.shard_bytes = shard_bytes
        self.adaptation = adaptation
        self.bounds = bounds

    def expand(self, begin: beam.pvalue.PBegin) -> beam.PCollection[FileShard]:
        """Find the files, cut them into shards, spread these.

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


class ReadTraces(beam.PTransform):
    """PBegin to Traces: every record of the files, split over workers by byte ranges (SPEC 2).

    Attributes:
      shards: cuts the inputs into byte ranges.
    """

    def __init__(
        self,
        inputs: Sequence[str | InputFile],
        shard_bytes: int = DEFAULT_SHARD_BYTES,
        adaptation: Adaptation | None = None,
        bounds: ReadBounds = DEFAULT_BOUNDS,
    ) -> None:
        """Read `inputs`, as `FindShards` takes them, in shards of `shard_bytes`.

        Raises:
          UsageError: `shard_bytes` below 1.
        """
        super().__init__()
        self.shards = FindShards(inputs, shard_bytes, adaptation, bounds)

    def expand(self, begin: beam.pvalue.PBegin) -> Traces:
        """Read each shard.

        Raises:
          UsageError: a pattern matches no file.
        """
        shards = begin | "Shards" >> self.shards
        outputs = shards | "Read" >> beam.ParDo(ReadShard()).with_outputs(REJECTED, main="records")
        records, rejected = outputs["records"], outputs[REJECTED]
        records.element_type = ANY_RECORD
        calls = records | "Calls" >> beam.Filter(_is_call)
        calls.element_type = SearchCall
        rejected.element_type = RejectedRecord
        return Traces(records, calls, rejected, shards)


def _is_call(record: SearchCall | RejectedRecord) -> bool:
    return isinstance(record, SearchCall)


def _files_of(pattern: str) -> list[InputFile]:
    if _is_local(pattern) and os.path.isdir(pattern):
        return _inside(pattern)
    # An object store has no directories; a prefix is one when something lies under it.
    return _matches(pattern) or ([] if _is_local(pattern) else _inside(pattern))


def _inside(directory: str) -> list[InputFile]:
    files = _matches(directory.rstrip("/") + "/*")
    return [file for file in files if not file.path.rsplit("/", 1)[-1].startswith((".", "_"))]


def _matches(pattern: str) -> list[InputFile]:
    try:
        (match,) = FileSystems.match([pattern])
    except (BeamIOError, ValueError) as error:
        raise UsageError(f"Input {pattern!r} cannot be looked up: {error}") from None
    return [
        InputFile(metadata.path, metadata.size_in_bytes)
        for metadata in match.metadata_list
        if not (_is_local(metadata.path) and os.path.isdir(metadata.path))
    ]


def _is_local(path: str) -> bool:
    return FileSystems.get_scheme(path) is None


def _identity(path: str) -> str:
    return os.path.abspath(path) if _is_local(path) else path
