"""Write the Avro schemas whose columns come from the code; `make generated` calls it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.avro_rows import avro_schema
from goodgain.pipeline.results.datasets import Dataset
from goodgain.pipeline.run.stream import datasets as stream_datasets
from goodgain.transforms.core.metrics.plan import plan_of
from goodgain.transforms.core.ranking.names import DEFAULT_RANKING_METRICS

STREAM = "stream"
_PLAN = plan_of(DEFAULT_RANKING_METRICS, max_i=10)


def shipped_datasets() -> tuple[Dataset, ...]:
    """Those of a run; ranking metrics are the default ones."""
    return (
        datasets.iterations(_PLAN),
        datasets.conversations(_PLAN),
        datasets.calls(_PLAN),
    )


def shipped_stream_datasets() -> tuple[Dataset, ...]:
    """The datasets of a stream with columns that a run has, too."""
    return (
        stream_datasets.conversations(_PLAN),
        stream_datasets.live(_PLAN),
        stream_datasets.MEANS,
        stream_datasets.OUTCOME_RELATIONS,
    )


def schema_text(dataset: Dataset) -> str:
    """The text of a dataset's Avro schema file."""
    return json.dumps(avro_schema(dataset), indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Write one file for each dataset, those of a stream into a separate folder."""
    for subfolder, shipped in (
        (folder, shipped_datasets()),
        (folder / STREAM, shipped_stream_datasets()),
    ):
        subfolder.mkdir(exist_ok=True)
        for dataset in shipped:
            (subfolder / f"{dataset.name}.avsc").write_text(schema_text(dataset), encoding="utf-8")


if __name__ == "__main__":
    write_schemas(Path(str(resources.files("goodgain.configs"))) / "schemas")
