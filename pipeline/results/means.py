"""The datasets `means` and `outcome_relations`, and `means.csv`, in one pass over the slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import apache_beam as beam
import msgspec
from msgspec.structs import asdict

from goodgain.pipeline.results.csv_rows import CsvWriter
from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.datasets import MEANS, OUTCOME_RELATIONS
from goodgain.pipeline.results.folder import MEANS_CSV, unfinished_folder
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.rows import mean_key, relation_key, slice_sort_key
from goodgain.pipeline.results.sinks import Target, WrittenFile
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.relations import OutcomeRelation
from goodgain.transforms.core.means.slices import SliceKey, slice_of
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.filesystems import create, join
from goodgain.transforms.freed_memory import return_freed_memory


@dataclass(eq=False, repr=False)
class WriteMeans(beam.PTransform):
    """`PCollection[tuple[str, MeansAccumulator]]` to `PCollection[WrittenFile]`: `means`.

    It also writes `means.csv`, and with outcomes `outcome_relations`. A single worker does this,
    since each is one sorted file.

    Attributes:
      target: its `shards` is ignored.
      scoring: the settings of the scores.
      interval: kind of interval for metrics other than those that are 0 or 1.
    """

    target: Target
    scoring: Scoring
    interval: Interval

    def expand(
        self, sums: beam.PCollection[tuple[SliceKey, MeansAccumulator]]
    ) -> beam.PCollection[WrittenFile]:
        """Apply the transform."""
        return (
            sums
            | "Together"
            >> beam.Map(_to_one_group).with_output_types(tuple[int, tuple[str, str, bytes]])
            | "Group" >> beam.GroupByKey()
            | "Write" >> beam.FlatMap(_write, self.target, self.scoring, self.interval)
        )


def _to_one_group(element: tuple[SliceKey, MeansAccumulator]) -> tuple[int, tuple[str, str, bytes]]:
    key, sums = element
    sums.prepare_to_send()
    return 0, (slice_sort_key(slice_of(key)), key, msgspec.msgpack.encode(sums))


def _write(
    grouped: tuple[int, Iterable[tuple[str, SliceKey, bytes]]],
    target: Target,
    scoring: Scoring,
    interval: Interval,
) -> Iterator[WrittenFile]:
    _, slices = grouped
    return_freed_memory()
    folder = unfinished_folder(target.folder, target.area)
    file_format = FORMATS[target.format]
    path = f"{MEANS.name}/part-00000-of-00001{file_format.suffix}"
    written = 0
    relations: list[OutcomeRelation] = []

    def rows() -> Iterator[Row]:
        """The rows of the dataset, each of which is written to the table, too."""
        nonlocal written
        for _, key, packed in sorted(slices):
            sums = msgspec.msgpack.decode(packed, type=MeansAccumulator)
            for mean in sorted(sums.rows(slice_of(key), scoring.plan, interval), key=mean_key):
                row = asdict(mean)
                table.write(row)
                written += 1
                yield row
            relations.extend(sorted(sums.relations(slice_of(key), scoring.plan), key=relation_key))

    with (
        create(join(folder, *path.split("/"))) as dataset,
        create(join(folder, MEANS_CSV)) as table_file,
    ):
        table = CsvWriter(MEANS, table_file)
        file_format.write(MEANS, rows(), dataset)
    yield WrittenFile(MEANS.name, path, written)
    if scoring.outcomes:
        path = f"{OUTCOME_RELATIONS.name}/part-00000-of-00001{file_format.suffix}"
        with create(join(folder, *path.split("/"))) as dataset:
            file_format.write(OUTCOME_RELATIONS, map(asdict, relations), dataset)
        yield WrittenFile(OUTCOME_RELATIONS.name, path, len(relations))
