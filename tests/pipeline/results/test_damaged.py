"""Outputs truncated after the run are refused with a message, even if cut between two rows."""

import json
import re

import pytest

import goodgain as gg
from goodgain.pipeline.results.datasets import REJECTED
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.results.formats import FORMATS
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.api.test_evaluate import CALLS

ROWS = [{column.name: f"{at}" for column in REJECTED.columns} for at in range(40)]
for at, row in enumerate(ROWS):
    row["records"], row["at_least"] = at, False


def write_rejected(folder, file_format, rows=ROWS, claimed=None):
    """Write `rejected`, and a manifest that claims a number of rows; return the path."""
    (folder / REJECTED.name).mkdir()
    path = folder / REJECTED.name / f"part-00000-of-00001{FORMATS[file_format].suffix}"
    with path.open("wb") as file:
        FORMATS[file_format].write(REJECTED, rows, file)
    datasets = {REJECTED.name: len(rows) if claimed is None else claimed}
    (folder / MANIFEST).write_text(json.dumps({"datasets": datasets}))
    return path


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_dataset_with_missing_rows_is_refused(file_format, tmp_path):
    write_rejected(tmp_path, file_format, ROWS[:-1], claimed=len(ROWS))
    message = (
        f"{tmp_path}/rejected has 39 rows, but 40 by manifest.json: it was cut or changed since "
        "the run; run it again."
    )
    with pytest.raises(UsageError, match=re.escape(message)):
        list(read_dataset(str(tmp_path), REJECTED.name))


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("has_manifest", [True, False])
def test_a_complete_dataset_is_read_with_or_without_a_manifest(file_format, has_manifest, tmp_path):
    write_rejected(tmp_path, file_format)
    if not has_manifest:
        (tmp_path / MANIFEST).unlink()
    assert [row["records"] for row in read_dataset(str(tmp_path), REJECTED.name)] == [*range(40)]


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_dataset_that_ends_within_a_row_is_refused(file_format, tmp_path):
    path = write_rejected(tmp_path, file_format)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UsageError, match=rf"{re.escape(str(path))} is damaged \(.+run it again\."):
        list(read_dataset(str(tmp_path), REJECTED.name))


def test_tables_loaded_in_python_are_checked(tmp_path):
    gg.evaluate(CALLS).save(tmp_path / "saved")
    manifest = json.loads((tmp_path / "saved" / MANIFEST).read_text())
    manifest["datasets"] = {"conversations": 2, "iterations": 40}
    (tmp_path / "saved" / MANIFEST).write_text(json.dumps(manifest))
    loaded = gg.load(tmp_path / "saved")
    assert len(loaded.conversations) == 2
    with pytest.raises(UsageError, match=r"iterations has \d rows, but 40 by manifest\.json"):
        loaded.iterations  # noqa: B018
    (path,) = (tmp_path / "saved" / "means").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UsageError, match=rf"{re.escape(str(path))} is damaged"):
        loaded.means  # noqa: B018
