"""`goodgain.compare`: whether a candidate is better than a base, where, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from goodgain.pipeline.api.result import Run
from goodgain.pipeline.api.table import Table
from goodgain.transforms.core.errors import UsageError

_LISTS = ("metrics", "family", "tolerances")


class Comparison:
    """The outcome of `compare`.

    Attributes:
      summary: the answer in a sentence.
      rows: a table with one row for each metric, iteration and slice that was compared.
    """

    def __init__(self, summary: str, rows: Table, report: bytes) -> None:
        self.summary = summary
        self.rows = rows
        self._report = report

    def report(self, path: str | Path) -> None:
        """Write the report: one HTML file that needs no network.

        Raises:
          UsageError: the file cannot be written.
        """
        try:
            Path(path).write_bytes(self._report)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.") from error

    def __repr__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>"


def compare(
    base: Run | str | Path,
    candidate: Run | str | Path,
    *,
    slices: Sequence[str | Sequence[str]] = (),
    **options: Any,
) -> Comparison:
    """Compare two runs pair by pair, as `goodgain compare` does.

    Args:
      base: the result of `evaluate` or `load`, or the output folder of a run.
      candidate: likewise.
      slices: attributes to compare by, in addition to all conversations.
      options: `metrics`, `family`, `primary`, `tolerances`, `pair_by`, `unpaired`, `max_i`,
        `correction`, `pool`, `force`, as in `goodgain compare`.

    Raises:
      UsageError: the runs or the options do not allow a comparison.

    Example:
      >>> import goodgain as gg
      >>> def traces(gain):
      ...     return [
      ...         {"conversation_id": f"c-{n}", "iteration": 1, "results": [{"gain": gain + n % 2}]}
      ...         for n in range(40)
      ...     ]
      >>> found = gg.compare(gg.evaluate(traces(2)), gg.evaluate(traces(3)))
      >>> found.rows.where(metric="CG", i=None)[0]["difference"]
      1.0
    """
    from goodgain.pipeline.comparison.compare import compare as compared_by
    from goodgain.pipeline.comparison.document import rows_of
    from goodgain.pipeline.comparison.output import write
    from goodgain.pipeline.comparison.request import ComparisonRequest
    from goodgain.pipeline.outputs.comparisons import COMPARISON
    from goodgain.pipeline.outputs.folder import REPORT

    known = sorted(set(ComparisonRequest.__struct_fields__) - {"outputs", "slices"})
    unknown = [name for name in options if name not in known]
    if unknown:
        raise UsageError(f"{unknown[0]} is not an option of compare; use {', '.join(known)}.")
    lists: dict[str, Any] = {
        name: _several(options.pop(name)) for name in _LISTS if name in options
    }
    with TemporaryDirectory() as folder:
        request = ComparisonRequest(
            outputs=(_folder(base, folder, "base"), _folder(candidate, folder, "candidate")),
            slices=tuple((one,) if isinstance(one, str) else tuple(one) for one in slices),
            **lists,
            **options,
        )
        found = compared_by(request)
        output = Path(folder) / "compared"
        write(found, str(output), "parquet")
        report = (output / REPORT).read_bytes()
    return Comparison(found.answer, Table(COMPARISON, rows_of(found)), report)


def _several(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _folder(run: Run | str | Path, folder: str, name: str) -> str:
    """The folder of a run's outputs; those in memory are first written to `folder`."""
    if not isinstance(run, Run):
        return str(run)
    place = Path(folder) / name
    run.save(place)
    return str(place)
