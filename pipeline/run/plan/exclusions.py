"""Reads the documents that are excluded from topics, before any record is read (SPEC 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.inputs.storage import Storage
from goodgain.pipeline.run.plan.given_tables import find_given_files
from goodgain.pipeline.run.plan.judgments import describe, shards_of_judgments
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.qrels import EXCLUSIONS, read_qrels
from goodgain.transforms.core.files.shard import InputFile, Open
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import LabelKeys, QrelsProblem
from goodgain.transforms.core.memory_budget import MemoryBudget, rows_of
from goodgain.transforms.core.remedy import Remedy


def read_exclusions(
    pattern: str, keys: LabelKeys, storage: Storage, budget: MemoryBudget
) -> Exclusions:
    """The exclusions in the files that a path or pattern matches.

    Args:
      keys: how they are matched to results.
      budget: counts the bytes kept.

    Raises:
      UsageError: there is no such file, or a line cannot be used.
      GoodGainError: they exceed the memory limit of `budget`.
    """
    files = find_given_files(pattern, "exclusions", Remedy("exclude"), storage)
    return Exclusions.of_pairs(keys, _pairs(files, storage.open, budget))


def _pairs(
    files: Sequence[InputFile], open_file: Open, budget: MemoryBudget
) -> Iterator[tuple[str, str]]:
    for number, file in enumerate(files):
        for shard in shards_of_judgments(file, open_file):
            for pair in read_qrels(shard, number, open_file, EXCLUSIONS):
                if isinstance(pair, QrelsProblem):
                    raise UsageError(describe([pair], files, open_file))
                budget.count_label(pair.topic, pair.document, what=rows_of("exclude"))
                yield pair.topic, pair.document
