"""The result of an evaluation: tables, a report, explanations, and files like those of a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from goodgain.pipeline.api.explanation import Explanation
from goodgain.pipeline.api.mean import Mean
from goodgain.pipeline.api.run_tables import RunTables
from goodgain.pipeline.api.run_warnings import (
    REJECTED,
    data_warnings,
    describe_rejected,
    warnings_of,
)
from goodgain.pipeline.api.table import Table
from goodgain.pipeline.document.html import fragment_of
from goodgain.pipeline.document.model import Document, Sentence
from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.results.atomic_files import write_named
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.declared_metrics import remember_metrics
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.settings.wording import phrase_for_python
from goodgain.pipeline.studies.explanation.explain import ExplainedTurn, Pair
from goodgain.pipeline.views.run import short_document
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.warnings.warning import DataWarning


class Run(RunTables):
    """The outcome of `evaluate`, or of `goodgain run`, in tables.

    Attributes:
      manifest: counts of records, conversations and results, like `manifest.records.read`, and the
        options, like `manifest.options.max_i`.
      conversations, iterations, means, outcome_relations, duplicates, calls, rejected,
        rejected_labels, rejected_outcomes, late: the tables; `calls`, `rejected_labels` and
        `rejected_outcomes` only with the options that make them, `outcome_relations` only with
        outcomes.
      warnings: what in the data makes the numbers misleading.
      explain, report, save: one conversation in words, the report, and the run as files.

    Example:
      >>> import goodgain as gg
      >>> call = {"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}
      >>> run: gg.Run = gg.evaluate([call])
      >>> run.iterations[0]["G_i"], len(run.rejected)
      (3, 0)
    """

    def __init__(
        self,
        tables: Mapping[str, Callable[[], Table]],
        manifest: RunManifest,
        explain: Callable[[str, Pair | None], ExplainedTurn],
        queries: Callable[[Collection[str]], Mapping[str, str]] | None = None,
        first_rejected: RejectedRecord | None = None,
    ) -> None:
        """Wrap the results of a run.

        Args:
          tables: returns a dataset by its name.
          manifest: see the class.
          explain: explains a conversation, and why two of its results are one document or two.
          queries: returns the first queries of conversations; None = from the files in `manifest`.
          first_rejected: the first rejected record, if any; None = from its table.
        """
        super().__init__(tables)
        self.manifest = manifest
        # Codes of the warnings that are emitted already, which a notebook shows with their texts.
        self.emitted: list[str] = []
        self._explain = explain
        self._queries = queries
        self._own_first_rejected = first_rejected

    @property
    def warnings(self) -> list[DataWarning]:
        """The warnings about the data that `goodgain run` prints; often none.

        Also, as `rejected_records` and `unknown_names`, what it says of rejected records, and of
        slices, costs and clusters that no conversation has. `evaluate` emits all of them as
        `GoodGainWarning`. See `DataWarning` for their fields.
        """
        return warnings_of(self, self._first_rejected)

    @cached_property
    def _first_rejected(self) -> RejectedRecord | None:
        if self._own_first_rejected is None and self.manifest.records.rejected:
            return RejectedRecord(**self.rejected[0])
        return self._own_first_rejected

    def explain(
        self,
        conversation_id: str,
        *,
        pair: Pair | None = None,
        against: Run | str | Path | None = None,
    ) -> Explanation:
        """What became of each result of a conversation, and why, for a person to read.

        Args:
          conversation_id: the conversation.
          pair: explain instead why two of its results are one document or two; their places are i,
            call and rank, like `("1.1.1", "2.1.1")`.
          against: show instead what each of two runs found in the conversation that the other did
            not; the other run, or the folder of its outputs.

        Raises:
          UsageError: there is no such conversation or result, or the runs were scored otherwise.
          GoodGainError: it holds more than `max_held_bytes` allows.

        Example:
          >>> import goodgain as gg
          >>> call = {"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}
          >>> run = gg.evaluate([call])
          >>> print(run.explain("c").splitlines()[0])
          Conversation c
        """
        from goodgain.pipeline.views.explanation import explanation_document
        from goodgain.pipeline.views.pairs import pair_document

        with phrase_for_python():
            if against is not None:
                if pair is not None:
                    raise UsageError("Give pair or against, not both.")
                return Explanation(self._arms_document(conversation_id, against))
            explained = self._explain(conversation_id, pair).explanation
        if explained.pair is not None:
            return Explanation(pair_document(conversation_id, explained.pair))
        remember_metrics(self.manifest)
        return Explanation(explanation_document(explained))

    def _arms_document(self, conversation_id: str, against: Run | str | Path) -> Document:
        from goodgain.pipeline.api.load import load
        from goodgain.pipeline.studies.comparison.comparability import find_mismatches
        from goodgain.pipeline.studies.explanation.arms import explain_arms
        from goodgain.pipeline.views.arms import arms_document

        other = against if isinstance(against, Run) else load(against)
        if differing := find_mismatches(self.manifest, other.manifest):
            raise UsageError(
                "The two runs were not scored alike: they differ in "
                f"{', '.join(map(str, differing))}; score one of them again."
            )
        turn = self._explain(conversation_id, None)
        try:
            theirs = other._explain(conversation_id, None)
        except UsageError as error:
            raise UsageError("In the other run: " + error.message) from None
        return arms_document(explain_arms(turn, theirs))

    def save(self, folder: str | Path) -> None:
        """Write the run as `goodgain run --format parquet` does: for `load`, the gate, reports.

        Raises:
          UsageError: the folder is not empty, or cannot be written to.
        """
        from goodgain.pipeline.results.folder import REPORT, write_file, write_manifest
        from goodgain.pipeline.views.pages.run import build_report

        place = Path(folder)
        try:
            if place.is_dir() and any(place.iterdir()):
                raise UsageError(f"{folder} is not empty; give another folder.")
            self._write_datasets(place)
            remember_metrics(self.manifest)
            page = build_report(str(place), self.manifest, self._queries).page
            write_file(str(place), REPORT, page)
            write_manifest(str(place), self.manifest)
        except OSError as error:
            raise UsageError(f"{folder} cannot be written to: {problem_of(error)}.") from error

    def write_datasets(self, folder: str | Path) -> None:
        """Write what `save` writes, but for the report, into a folder that does not exist yet."""
        from goodgain.pipeline.results.folder import write_manifest

        self._write_datasets(Path(folder))
        write_manifest(str(folder), self.manifest)

    def report(self, path: str | Path) -> None:
        """Write the report to look at in a browser: one HTML file that needs no network.

        Raises:
          UsageError: the file cannot be written.
        """
        from goodgain.pipeline.views.pages.run import build_report

        with TemporaryDirectory() as folder:
            self._write_datasets(Path(folder))
            remember_metrics(self.manifest)
            content = build_report(folder, self.manifest, self._queries).page
        write_named(path, content)

    def __getitem__(self, metric: str) -> MeanRow:
        """The mean of a metric at N over all conversations that searched.

        It prints as `CG 30.47 (95 %: 26.15..34.96, n = 57)`. `run["ndcg@10"].mean` has its interval
        in `low` and `high`, and is over `n` conversations.

        Raises:
          KeyError: the run has no mean of this metric.
        """
        remember_metrics(self.manifest)
        for row in self.means.where(slice={}, i=None, population="all"):
            if row["metric"] == metric:
                return Mean.of(row)
        raise KeyError(f"the run has no mean of {metric!r} at N")

    def __repr__(self) -> str:
        return text_of(self._document())

    def _repr_html_(self) -> str:
        return fragment_of(self._document())

    def _document(self) -> Document:
        remember_metrics(self.manifest)
        at_end = self.means.where(slice={}, i=None, population="all")
        return short_document(self.manifest, at_end, self._warnings_part(), sorted(self._tables))

    def _warnings_part(self) -> Iterator[Sentence]:
        """The warnings, and why the first record was rejected; those emitted by their codes."""
        if self.emitted:
            yield Sentence(f"warned of: {', '.join(self.emitted)}; see `run.warnings`")
        rejected = describe_rejected(self.manifest, self._first_rejected)
        if rejected and REJECTED not in self.emitted:
            yield Sentence(rejected)
        for warning in data_warnings(self.manifest):
            if warning.code not in self.emitted:
                yield Sentence(warning_text(warning), "warning")
