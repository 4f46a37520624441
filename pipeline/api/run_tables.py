"""The tables of a run, each made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.pipeline.api.table import Table
from goodgain.transforms.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


class RunTables:
    """The tables of a run; see `goodgain.Run`."""

    def __init__(self, tables: Mapping[str, Callable[[], Table]]) -> None:
        """Take what returns each dataset, by its name."""
        self._tables = tables

    @cached_property
    def conversations(self) -> Table:
        """One row for each conversation: its metrics at its last iteration."""
        return self._tables["conversations"]()

    @cached_property
    def iterations(self) -> Table:
        """One row for each iteration of a conversation's last turn."""
        return self._tables["iterations"]()

    @cached_property
    def means(self) -> Table:
        """One row for each mean: per slice, metric, iteration and population, with its interval."""
        return self._tables["means"]()

    @cached_property
    def outcome_relations(self) -> Table:
        """One row for each 0/1 outcome and metric at N: how the metric goes with the outcome.

        Raises:
          UsageError: the traces have no outcomes.
        """
        return self._table_of("outcome_relations", "since its traces have no outcomes")

    @cached_property
    def duplicates(self) -> Table:
        """One row for each duplicate: the place of its first occurrence, and the evidence.

        Raises:
          UsageError: a run was loaded that was made with `--no-write-duplicates`.
        """
        return self._table_of("duplicates", "since it was made with --no-write-duplicates")

    @cached_property
    def calls(self) -> Table:
        """One row for each search call, evaluated by itself.

        Raises:
          UsageError: the run was made without `per_call=True`.
        """
        return self._table_of("calls", "since it was made without per_call=True")

    @cached_property
    def rejected(self) -> Table:
        """One row for each record that could not be used: its place and what is wrong."""
        return self._tables["rejected"]()

    @cached_property
    def late(self) -> Table:
        """One row for each record that came after its conversation was closed; only in streams."""
        return self._tables["late"]()

    @cached_property
    def rejected_labels(self) -> Table:
        """One row for each label that matches no result: its place and the reason.

        Raises:
          UsageError: the run was made without labels beside the traces.
        """
        return self._table_of("rejected_labels", "since it had no labels beside the traces")

    @cached_property
    def rejected_outcomes(self) -> Table:
        """One row for each row of `outcomes` that was not used: its place and the reason.

        Raises:
          UsageError: the run was made without outcomes beside the traces.
        """
        return self._table_of("rejected_outcomes", "since it had none beside the traces")

    def _table_of(self, name: str, why: str) -> Table:
        if name not in self._tables:
            raise UsageError(f"The run has no table of {name.replace('_', ' ')}, {why}.")
        return self._tables[name]()

    def to_pandas(self) -> pd.DataFrame:
        """The means as a long table, whose columns can all be grouped by.

        `slice` is text like `arm=A, market=de`, "" for everything; each attribute of a slice has a
        column of its own, too, like `slice.market`.

        Raises:
          UsageError: pandas is not installed.

        Example:
          >>> import goodgain as gg
          >>> calls = [
          ...     {"conversation_id": name, "iteration": 1, "attributes": {"market": name[0]},
          ...      "results": [{"gain": gain}]}
          ...     for name, gain in (("de-1", 3), ("de-2", 4), ("fr-1", 2))
          ... ]
          >>> frame = gg.evaluate(calls, slices=["market"]).to_pandas()
          >>> cg = frame[(frame["metric"] == "CG") & frame["i"].isna()]
          >>> cg.groupby("slice")["mean"].first().to_dict()
          {'': 3.0, 'market=d': 3.5, 'market=f': 2.0}
        """
        frame = self.means.to_pandas()
        slices = [dict(slice_) for slice_ in frame["slice"]]
        frame["slice"] = [
            ", ".join(f"{name}={value}" for name, value in sorted(slice_.items()))
            for slice_ in slices
        ]
        for at, name in enumerate(sorted({name for slice_ in slices for name in slice_}), start=1):
            frame.insert(at, f"slice.{name}", [slice_.get(name) for slice_ in slices])
        return frame

    def _write_datasets(self, folder: Path) -> None:
        from goodgain.pipeline.results.formats import FORMATS

        file_format = FORMATS["parquet"]
        for name, table_of in self._tables.items():
            table = table_of()
            (folder / name).mkdir(parents=True)
            with (folder / name / f"part-00000-of-00001{file_format.suffix}").open("wb") as file:
                file_format.write(table.dataset, table.stored(), file)
