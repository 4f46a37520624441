"""`goodgain.compare`: whether a candidate is better than a base, where, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from goodgain.pipeline.api.arms import RunOrFolder, folder_of
from goodgain.pipeline.api.goodgain_warning import warn
from goodgain.pipeline.api.result import Run
from goodgain.pipeline.api.table import Table
from goodgain.pipeline.document.html import fragment_of
from goodgain.pipeline.document.model import Document
from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.results.atomic_files import write_named
from goodgain.pipeline.settings.compare_config import CompareConfig
from goodgain.pipeline.settings.keywords import from_keywords
from goodgain.pipeline.settings.wording import as_argument, phrase_for_python
from goodgain.pipeline.studies.comparison.arms import describe_missing
from goodgain.transforms.core.remedy import Remedy, word

if TYPE_CHECKING:
    from goodgain.pipeline.studies.comparison.compare import Compared


class Comparison:
    """The outcome of `compare`; its text is `summary` and the metrics that it rests on.

    Attributes:
      summary: the answer in a sentence.
      rows: a table with one row for each metric, iteration and slice that was compared.

    Example:
      >>> import goodgain as gg
      >>> run = gg.evaluate([{"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}])
      >>> compared: gg.Comparison = gg.compare(run, run)
      >>> compared.rows.where(metric="CG", i=None)[0]["verdict"]
      'not tested'
    """

    def __init__(self, summary: str, rows: Table, report: bytes, shown: Document) -> None:
        """Wrap the results of a comparison.

        Args:
          summary, rows: see the class.
          report: the HTML page.
          shown: the answer and the metrics that it rests on.
        """
        self.summary = summary
        self.rows = rows
        self._report = report
        self._shown = shown

    def report(self, path: str | Path) -> None:
        """Write the report: one HTML file that needs no network.

        Raises:
          UsageError: the file cannot be written.
        """
        write_named(path, self._report)

    def __repr__(self) -> str:
        return text_of(self._shown)

    def _repr_html_(self) -> str:
        return fragment_of(self._shown)


def compare(
    *runs: Run | str | Path,
    base: Run | str | Path | None = None,
    candidate: Run | str | Path | None = None,
    by: str | None = None,
    slices: Sequence[str | Sequence[str]] | str = (),
    **options: Any,
) -> Comparison:
    """Compare two runs, or two arms within one, pair by pair, as `goodgain compare` does.

    Args:
      runs: base and candidate, each the result of `evaluate` or `load` or the output folder of a
        run; or only one of these, with `by`.
      base, candidate: with `by`, its values in the two arms; the candidate may be left out if there
        is only one other value. Without `by`, the runs, if they are not given by position.
      by: attribute whose values are the arms, like `arm`.
      slices: attributes to compare by, in addition to all conversations: like `market`, or several
        at once like `["arm", "market"]`.
      options: any of these, which have the meaning and default of `goodgain compare`:
        `metrics`: metrics to compare, at N and by i (all);
        `family`: metrics that the decision rests on (those of `metrics`, else the headline);
        `primary`: the metric that answers the question (the first of the family);
        `tolerances`: smallest difference that makes a pair good or bad, like `0.01` or `"CG=1"`;
        `pair_by`: attribute to pair by, like `query_id` (conversation_id);
        `unpaired`: compare as two samples although pairs exist (False);
        `cluster`: attribute shared by conversations that are not independent (that of the runs);
        `max_i`: last iteration to compare at (as in the runs);
        `confidence`, `interval`: level of intervals (0.95), `hall` or `student`;
        `correction`: of p values, `holm` or `benjamini_hochberg`;
        `bootstrap`, `seed`: number of resamples (0), and the seed (1);
        `wilcoxon`, `sign`: whether to run these tests on pairs, too (False);
        `examples`, `examples_by`: number of wins and losses in the report (5), and the metric to
        choose them by;
        `pool`: folder of a pool to measure both arms against;
        `force`: compare runs even if they were scored differently (False).

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
    from goodgain.pipeline.results.datasets import COMPARISON
    from goodgain.pipeline.results.folder import REPORT
    from goodgain.pipeline.studies.comparison.compare import compare as compared_by
    from goodgain.pipeline.studies.comparison.output import rows_of, write
    from goodgain.pipeline.studies.comparison.request import ComparisonRequest
    from goodgain.pipeline.views.comparison import short_document
    from goodgain.pipeline.views.pages.comparison import build_comparison_report

    values = {"base": base, "candidate": candidate}
    if by is None:
        runs = (*runs, *(run for run in values.values() if run is not None))
        values = {}
    with TemporaryDirectory() as folder, phrase_for_python():
        # One run that is given twice has one folder, by which it is recognized.
        folders = {id(run): folder_of(run, folder, str(at)) for at, run in enumerate(runs)}
        outputs = [folders[id(run)] for run in runs]
        config = from_keywords(
            CompareConfig, {**options, **values, "by": by, "slices": slices}, {"outputs": outputs}
        )
        found = compared_by(ComparisonRequest.of(config))
        output = Path(folder) / "compared"
        write(found, str(output), "parquet", build_comparison_report)
        report = (output / REPORT).read_bytes()
    _warn_of(found, runs)
    found = found.word(as_argument)
    rows = Table(COMPARISON, rows_of(found))
    return Comparison(found.answer, rows, report, short_document(found))


def _warn_of(found: Compared, runs: Sequence[RunOrFolder]) -> None:
    """Emit what the command prints beside the numbers; runs in memory have warned already."""
    from goodgain.pipeline.studies.comparison.clusters import arm_warnings

    if found.is_of_one_run:
        warn("Base and candidate are the same run, so nothing can differ.")
    for mismatch in found.arms.forced:
        warn(f"Forced although the runs differ in {mismatch}.")
    sliced = sorted({name for names in found.request.slices for name in names})
    for line in describe_missing(sliced, Remedy("slice"), found.arms.base, found.arms.candidate):
        warn(word(line, as_argument))
    for warning in found.warnings:
        said = warning.word(as_argument)
        warn(f"{said.code}: {said.message} {said.remedy}")
    sources = (found.arms.base_source, found.arms.candidate_source)
    for which, run, source in zip(("Base", "Candidate"), runs, sources, strict=False):
        if not isinstance(run, Run):
            for warning in arm_warnings(source.manifest):
                warn(f"{which}: {warning.code}: {warning.message} {warning.remedy}")
