"""Files that are generated from the code are up to date; `make generated` updates them."""

from importlib import resources
from pathlib import Path

import pytest

from goodgain.pipeline.generated.docs import GENERATED, fill
from goodgain.pipeline.generated.schemas import (
    STREAM,
    schema_text,
    shipped_datasets,
    shipped_stream_datasets,
)
from goodgain.pipeline.results import datasets

DOCS = sorted((Path(__file__).parents[3] / "docs").glob("*.md"))


@pytest.mark.parametrize("dataset", shipped_datasets(), ids=lambda dataset: dataset.name)
def test_schema_is_up_to_date(dataset):
    assert_shipped(dataset)


FIXED = [
    *(datasets.DUPLICATES, datasets.MEANS, datasets.REJECTED, datasets.REJECTED_LABELS),
    *(datasets.OUTCOME_RELATIONS, datasets.REJECTED_OUTCOMES),
    *(datasets.LATE, datasets.COMPARISON, datasets.DIFFERENCES, datasets.POOL_DOCUMENTS),
    datasets.pool_documents("documents"),
]


@pytest.mark.parametrize("dataset", FIXED, ids=lambda dataset: dataset.name)
def test_schema_is_read_as_it_is_written(dataset):
    assert_shipped(dataset)


def assert_shipped(dataset):
    shipped = resources.files("goodgain.configs") / "schemas" / f"{dataset.name}.avsc"
    assert shipped.read_text(encoding="utf-8") == schema_text(dataset)


@pytest.mark.parametrize("dataset", shipped_stream_datasets(), ids=lambda dataset: dataset.name)
def test_schema_of_a_stream_is_up_to_date(dataset):
    shipped = resources.files("goodgain.configs") / "schemas" / STREAM / f"{dataset.name}.avsc"
    assert shipped.read_text(encoding="utf-8") == schema_text(dataset)


def test_every_dataset_with_a_schema_is_known_to_what_removes_old_outputs():
    """Those of a pool have a folder of their own, and arms the columns of means."""
    folder = resources.files("goodgain.configs") / "schemas"
    shipped = {path.name.removesuffix(".avsc") for path in folder.iterdir() if path.is_file()}
    known = {*datasets.RUN_DATASETS, *datasets.COMPARISON_DATASETS}
    assert known ^ shipped == {"arms", "documents", "trace"}
    of_stream = {path.name.removesuffix(".avsc") for path in (folder / STREAM).iterdir()}
    assert set(datasets.STREAM_DATASETS) == {*datasets.RUN_DATASETS, *of_stream}


def test_tables_in_docs_are_up_to_date():
    texts = [page.read_text(encoding="utf-8") for page in DOCS]
    for text in texts:
        assert fill(text) == text
    for name in GENERATED:
        assert any(f"<!-- {name} -->" in text for text in texts)
