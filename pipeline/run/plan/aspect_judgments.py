"""Finds and reads judgments of aspects, before any record is read (SPEC 13)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from goodgain.pipeline.inputs.storage import Storage
from goodgain.pipeline.run.plan.given_tables import find_given_files
from goodgain.pipeline.run.plan.judgments import shards_of_judgments
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.files.aspect_qrels import AspectJudgment, read_aspect_qrels
from goodgain.transforms.core.files.shard import InputFile, Open
from goodgain.transforms.core.judgments.aspects import AspectJudgments, aspect_judgments
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.memory_budget import MemoryBudget, rows_of
from goodgain.transforms.core.remedy import Remedy


def read_aspect_judgments(
    pattern: str,
    keys: LabelKeys,
    storage: Storage,
    budget: MemoryBudget,
    exclusions: Exclusions | None = None,
) -> AspectJudgments:
    """The judgments in the files that a path or pattern matches.

    Args:
      keys: how they are matched to results.
      budget: counts the bytes kept.
      exclusions: judgments of these documents do not count; None = all count.

    Raises:
      UsageError: there is no such file, a line cannot be used, or two labels differ.
      GoodGainError: they exceed the memory limit of `budget`.
    """
    files = find_given_files(pattern, "judgments", Remedy("aspect_qrels"), storage)
    judged: dict[tuple[str, str, str], AspectJudgment] = {}
    for judgment in _judgments(files, storage.open):
        key = (judgment.topic, judgment.document, judgment.aspect)
        known = judged.setdefault(key, judgment)
        if known is judgment:
            budget.count_label(*key, judgment.place, what=rows_of("aspect_qrels"))
        elif known.label != judgment.label:
            raise UsageError(
                f"{judgment.place}: document {judgment.document} of topic {judgment.topic} has the "
                f"label {judgment.label} for aspect {judgment.aspect} here, but {known.label} at "
                f"{known.place}."
            )
    return aspect_judgments(
        keys,
        (
            (*key, judgment.label)
            for key, judgment in judged.items()
            if judgment.label >= 0
            and not (exclusions and exclusions.excludes(judgment.topic, judgment.document))
        ),
    )


def _judgments(files: Sequence[InputFile], open_file: Open) -> Iterable[AspectJudgment]:
    for file in files:
        try:
            for shard in shards_of_judgments(file, open_file):
                yield from read_aspect_qrels(shard, open_file)
        except OSError as error:
            raise UsageError(f"{file.path} cannot be read: {problem_of(error)}.") from None
