"""The names of the formats of datasets, as options have them."""

from __future__ import annotations

from typing import Literal

Format = Literal["avro", "parquet", "jsonl"]
