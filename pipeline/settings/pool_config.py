"""The options of `goodgain pool build`."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from goodgain.pipeline.settings.catalogue import RejectedLimit, Runner
from goodgain.pipeline.settings.option_types import (
    COMMON,
    ENGINE,
    Format,
    Number,
    Text,
    option,
)
from goodgain.pipeline.settings.reading_config import ReadingConfig


class PoolConfig(ReadingConfig):
    """Which runs are pooled, and where the pool lies.

    Attributes:
      runs: patterns of trace files, by name of the run; `--run` on the command line.
    """

    runs: dict[str, tuple[str, ...]] = Field(min_length=1)
    update: Text | None = option(
        COMMON, "POOL", "pool to add the runs to; it keeps its ids and labels", None
    )
    output: Text | None = option(COMMON, "POOL", "folder of the new pool", None)
    replace: bool = option(
        COMMON, "", "with --update: replace conversations that the pool already holds", False
    )
    topic: Text | None = option(
        COMMON,
        "ATTRIBUTE",
        "attribute that holds the topic, like query_id; conversation_id by default",
        None,
    )
    format: Format | None = option(ENGINE, "FORMAT", "format of a new pool; avro by default", None)
    shards: Number | None = option(
        ENGINE, "N", "number of files of the pool; by default by the size of the traces", None, ge=1
    )
    max_rejected: RejectedLimit
    runner: Runner

    @field_validator("output")
    @classmethod
    def _pool_is_new_or_updated(cls, output: str | None, info: ValidationInfo) -> str | None:
        if (output is None) == (info.data.get("update") is None):
            raise ValueError("or --update is needed, and not both")
        return output

    @field_validator("replace")
    @classmethod
    def _only_an_update_replaces(cls, replace: bool, info: ValidationInfo) -> bool:
        if replace and info.data.get("update") is None:
            raise ValueError("needs --update POOL")
        return replace

    @property
    def folder(self) -> str:
        """The folder of the pool."""
        return self.update or self.output or ""
