"""The file formats of datasets: a new one is a module that writes and reads it, and its line here.

Its name is among those of `transforms/core/files/format_names.py`, from which options take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from goodgain.pipeline.results.avro_rows import AVRO_DATASETS
from goodgain.pipeline.results.csv_rows import write_csv
from goodgain.pipeline.results.dataset_format import DatasetFormat, Row, WriteRows
from goodgain.pipeline.results.jsonl_rows import JSONL_DATASETS
from goodgain.pipeline.results.parquet_rows import PARQUET_DATASETS
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.format_names import Format

FORMATS: Mapping[Format, DatasetFormat] = {
    "avro": AVRO_DATASETS,
    "parquet": PARQUET_DATASETS,
    "jsonl": JSONL_DATASETS,
}
# By suffix; CSV is for people, and is not read back.
WRITERS: Mapping[str, WriteRows] = {
    **{file_format.suffix: file_format.write for file_format in FORMATS.values()},
    ".csv": write_csv,
}


def report_damage(rows: Iterable[Row], path: str) -> Iterator[Row]:
    """The rows from a reader of a file, with errors that name the file.

    Raises:
      UsageError: the file is damaged.
    """
    try:
        yield from rows
    except Exception as error:  # the libraries raise all kinds of errors on broken bytes
        problem = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(
            f"{path} is damaged ({problem[0].rstrip('.')}): it was changed or cut since the run; "
            "run it again."
        ) from error
