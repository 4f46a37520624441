"""`goodgain.load`: the outputs of a run as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from goodgain.pipeline.api.result import Run
from goodgain.pipeline.api.table import Table
from goodgain.pipeline.inputs.local_files import LOCAL
from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.datasets import Dataset
from goodgain.pipeline.results.manifest_checks import REMEDY
from goodgain.pipeline.run.plan.evaluation import find_evaluation
from goodgain.pipeline.settings.in_memory import find_in_memory
from goodgain.pipeline.settings.option_fields import field_of
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.studies.explanation.explain import ExplainedTurn, Pair, find_turn
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.groups import groups_in
from goodgain.transforms.core.metrics.own import own_metrics_of
from goodgain.transforms.core.metrics.own_names import ranking_metrics_of
from goodgain.transforms.core.metrics.plan import plan_of


def load(folder: str | Path) -> Run:
    """Open the output folder of `goodgain run`, in whichever format it was written.

    Tables are read on first access.

    Args:
      folder: the folder, also one that `Run.save` wrote.

    Raises:
      UsageError: it is not the output of a finished run.

    Example:
      >>> import goodgain as gg, tempfile
      >>> run = gg.evaluate([{"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}])
      >>> folder = tempfile.mkdtemp()
      >>> run.save(folder)
      >>> gg.load(folder).conversations[0]["CG"]
      3
    """
    # Not above: it imports the libraries of all formats.
    from goodgain.pipeline.results.finished_run import read_run

    place = Path(folder)
    try:
        manifest = read_run(str(folder))
    except OSError as error:
        raise UsageError(f"The manifest of {folder} cannot be read: {problem_of(error)}.") from None
    config = _read_saved_config(manifest.parameters)
    datasets_of_run = _datasets(config, str(place), own_metrics_of(manifest.own_metrics))
    found = {dataset.name: dataset for dataset in datasets_of_run}
    tables = {
        name: cache(partial(_read, str(place), dataset))
        for name, dataset in found.items()
        if (place / name).is_dir()
    }
    in_memory = find_in_memory(manifest.parameters)
    return Run(
        tables,
        manifest,
        lambda conversation_id, pair: _explain(conversation_id, pair, config, in_memory),
    )


def _read_saved_config(parameters: Mapping[str, Any]) -> RunConfig:
    """The options in a manifest; limits that are lower today do not keep outputs from opening.

    Raises:
      UsageError: it was written by a version with other options.
    """
    try:
        return RunConfig.model_validate(parameters)
    except ValidationError as error:
        beyond = {
            str(mistake["loc"][0]): mistake["ctx"]["le"]
            for mistake in error.errors()
            if mistake["type"] == "less_than_equal"
        }
        if beyond:
            config = _read_saved_config({**parameters, **beyond})
            return config.model_copy(update={name: parameters[name] for name in beyond})
        names = ", ".join(sorted(set(map(field_of, error.errors()))))
        raise UsageError(
            f"The run was made by a version with other options ({names}); run it again."
        ) from None


def _datasets(config: RunConfig, folder: str, own: tuple[Metric, ...]) -> Iterator[Dataset]:
    from goodgain.pipeline.results.finished_run import read_columns

    groups = groups_in(read_columns(folder, "conversations"))
    plan = plan_of(ranking_metrics_of(config.metrics), config.max_i, groups, own=own)
    yield datasets.conversations(plan, judged_outside=config.qrels is not None)
    yield datasets.iterations(plan)
    yield datasets.calls(plan)
    yield from datasets.SHIPPED_OF_RUN


def _read(folder: str, dataset: Dataset) -> Table:
    from goodgain.pipeline.results.finished_run import read_dataset

    rows = list(read_dataset(folder, dataset.name))
    lacking = [column.name for column in dataset.columns if rows and column.name not in rows[0]]
    if lacking:
        raise UsageError(f"The {dataset.name} of {folder} have no {', '.join(lacking)}. {REMEDY}")
    return Table(dataset, rows)


def _explain(
    conversation_id: str, pair: Pair | None, config: RunConfig, in_memory: str | None
) -> ExplainedTurn:
    if in_memory is not None:
        raise UsageError(
            f"This run was given {in_memory} in memory and did not save them: call explain on the "
            "run that `evaluate` returned, or evaluate files."
        )
    return find_turn(conversation_id, find_evaluation(config, LOCAL), pair=pair)
