"""What `run["CG"]` returns: a mean that prints with its interval and n."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from goodgain.pipeline.document.html import fragment_of
from goodgain.pipeline.document.model import Sentence, document
from goodgain.pipeline.document.numbers import (
    clipped_interval,
    count_text,
    mean_interval_text,
    mean_text,
)
from goodgain.transforms.core.means.mean_row import MeanRow


class Mean(MeanRow, frozen=True, dict=True):
    """A row of `means` as a person reads it; its fields are those of the row."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Mean:
        """The mean in a row of the table `means`, with its text."""
        mean = cls(**{name: row[name] for name in cls.__struct_fields__})
        _ = mean._text  # now, since a later run may declare an outcome of this name otherwise
        return mean

    def __repr__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        row = {name: getattr(self, name) for name in self.__struct_fields__}
        mean = mean_text(self.metric, self.mean, self.n, self.undefined)
        interval = mean_interval_text(self.metric, *clipped_interval(row))
        return f"{self.metric} {mean} (95 %: {interval}, n = {count_text(self.n)})"

    def _repr_html_(self) -> str:
        return fragment_of(document(Sentence(repr(self))))
