"""`python -m pipeline.outputs.schemas` writes the Avro schema of each output to configs/schemas."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from pipeline.outputs import datasets
from pipeline.outputs.datasets import Dataset
from pipeline.outputs.formats import avro_schema
from transforms.core.ranking import DEFAULT_RANKING_METRICS


def shipped_datasets() -> tuple[Dataset, ...]:
    """The datasets whose schemas are shipped; ranking metrics are the default ones."""
    return (
        datasets.ITERATIONS,
        datasets.conversations(DEFAULT_RANKING_METRICS),
        datasets.calls(DEFAULT_RANKING_METRICS),
        datasets.DUPLICATES,
        datasets.MEANS,
        datasets.REJECTED,
        datasets.LATE,
    )


def schema_text(dataset: Dataset) -> str:
    """The Avro schema of a dataset as its file holds it."""
    return json.dumps(avro_schema(dataset), indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Write one file for each dataset."""
    for dataset in shipped_datasets():
        (folder / f"{dataset.name}.avsc").write_text(schema_text(dataset), encoding="utf-8")


if __name__ == "__main__":
    write_schemas(Path(str(resources.files("configs"))) / "schemas")
