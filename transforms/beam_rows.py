"""The transforms with schema'd rows in and out, for Beam YAML, SQL and other languages.

`configs/beam/goodgain.provider.yaml` makes them available in Beam YAML under the names of the typed
transforms. Names of ranking metrics are those of Avro columns: `ndcg_at_10` for `ndcg@10`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput
from msgspec.structs import replace

from goodgain.transforms.beam_row_errors import BAD, ErrorHandling, Rows, with_errors
from goodgain.transforms.beam_schemas import (
    plain_mapping,
    row_type,
    score_row,
    score_type,
    struct_row,
)
from goodgain.transforms.coders import apply_typed
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules import Unit
from goodgain.transforms.core.dedup.rules_file import read_rules
from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.metrics.own_names import DEFAULT_METRICS
from goodgain.transforms.core.records.parsing import parse_escaped_mapping
from goodgain.transforms.core.records.rejection import (
    RejectedRecord,
    payload_of_mapping,
    reject_record,
)
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.label_rises import DocumentLabel
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.yaml_text import read_text
from goodgain.transforms.means import GlobalMeans
from goodgain.transforms.read import ReadTraces
from goodgain.transforms.score import ScoreConversations

_scores = msgspec.msgpack.Decoder(ConversationScore)


class ReadTraceRows(beam.PTransform):
    """PBegin to rows of search calls, with the fields of a trace record.

    Attributes:
      input: paths or patterns of trace files.
      error_handling: {output: NAME}: records that cannot be used become rows of this output, with
        source, position, reason and field. Without it the first such record fails the pipeline.

    Example: see `GlobalMeanRows`.
    """

    def __init__(
        self, input: str | Sequence[str], error_handling: ErrorHandling | None = None
    ) -> None:
        super().__init__()
        self.input = [input] if isinstance(input, str) else list(input)
        self.error_handling = error_handling

    def expand(self, begin: beam.pvalue.PBegin) -> Any:
        """Apply the transform."""
        traces = begin | "Read" >> ReadTraces(self.input)
        rows = traces.calls | "Rows" >> beam.Map(struct_row).with_output_types(row_type(SearchCall))
        return with_errors(rows, traces.rejected, self.error_handling)


class ScoreConversationRows(beam.PTransform):
    """Rows of search calls to rows of conversations.

    A row has the columns of the dataset `conversations`, its `iterations` as a list of rows, and
    `score`, bytes for `GlobalMeanRows`.

    Takes one input, or two: `input` and `rejected`, the errors of `ReadTraceRows`, whose
    conversations are then left out of the means.

    Attributes:
      metrics: ranking metrics, like `ndcg@10`.
      good_gain_threshold: smallest gain of a good result.
      rules: path of a file with rules for duplicates, instead of the built-in ones.
      max_i: last i at which means are computed.
      unit: `document`, or `passage` if results are passages of documents.
      document_label: whether a document has the label of its `first` occurrence, or the `best` of
        its passages so far.
      error_handling: {output: NAME}: rows that are not search calls go to this output. Without it
        the first such row fails the pipeline.

    Example: see `GlobalMeanRows`.
    """

    def __init__(
        self,
        metrics: Sequence[str] = DEFAULT_METRICS,
        good_gain_threshold: int = 2,
        rules: str | None = None,
        max_i: int = 10,
        error_handling: ErrorHandling | None = None,
        unit: Unit = "document",
        document_label: DocumentLabel = "first",
    ) -> None:
        """Check the options.

        Raises:
          UsageError: an option cannot be used.
        """
        super().__init__()
        self.error_handling = error_handling
        self.scoring = Scoring.default(
            metrics,
            unit=unit,
            good_gain_threshold=good_gain_threshold,
            max_i=max_i,
            document_label=document_label,
        )
        if rules:
            read = read_rules(read_text(rules, "the rules"), rules)
            self.scoring = replace(self.scoring, rules=compile_rules(read, unit))

    def expand(self, inputs: Any) -> Any:
        """Apply the transform."""
        rows, *rejected = (
            [inputs[name] for name in ("input", "rejected") if name in inputs]
            if isinstance(inputs, dict)
            else [inputs]
        )
        calls, bad = apply_typed(rows, "Parse", _Parse(), good=SearchCall, bad=RejectedRecord)
        flag = beam.Map(lambda row: RejectedRecord(**plain_mapping(row)))
        flagged = [
            row | f"Flagged{at}" >> flag.with_output_types(RejectedRecord)
            for at, row in enumerate(rejected)
        ]
        records = (calls, bad, *flagged) | "Records" >> beam.Flatten()
        scored = records | "Score" >> ScoreConversations(self.scoring)
        scored_rows = scored.scores | "Rows" >> beam.Map(score_row).with_output_types(
            score_type(self.scoring.plan)
        )
        return with_errors(scored_rows, bad, self.error_handling)


class GlobalMeanRows(beam.PTransform):
    """Rows of `ScoreConversationRows` to rows of the dataset `means`.

    Attributes:
      metrics: the ranking metrics that the conversations were scored with.
      slices: attributes to slice the means by: a name, or several with commas.
      max_i: last i at which means are computed, at most that of `ScoreConversationRows`.
      error_handling: {output: NAME}: rows that are not those of `ScoreConversationRows` with the
        same ranking metrics go to this output. Without it the first such row fails the pipeline.

    Example:
      >>> import apache_beam as beam
      >>> from apache_beam.runners.portability.fn_api_runner import FnApiRunner
      >>> from goodgain import GlobalMeanRows, ReadTraceRows, ScoreConversationRows
      >>> def show(row):
      ...     if row.metric == "CG" and row.i is None:
      ...         print(row.n, row.mean)
      >>> with beam.Pipeline(runner=FnApiRunner()) as pipeline:
      ...     read = pipeline | ReadTraceRows("traces/*.jsonl", {"output": "rejected"})
      ...     scored = (
      ...         {"input": read["good"], "rejected": read["rejected"]}
      ...         | ScoreConversationRows(["ndcg@10"])
      ...     )
      ...     _ = scored | GlobalMeanRows(["ndcg@10"]) | beam.Map(show)
      2 3.0
    """

    def __init__(
        self,
        metrics: Sequence[str] = DEFAULT_METRICS,
        slices: Sequence[str] = (),
        max_i: int = 10,
        error_handling: ErrorHandling | None = None,
    ) -> None:
        """Check the options.

        Raises:
          UsageError: an option cannot be used.
        """
        super().__init__()
        self.error_handling = error_handling
        self.scoring = Scoring.default(metrics, max_i=max_i)
        by_name = [[name.strip() for name in names.split(",")] for names in slices]
        self.options = MeansOptions(slice=by_name)  # type: ignore[arg-type]

    def expand(self, rows: Rows) -> Any:
        """Apply the transform."""
        decode = _DecodeScore(self.scoring)
        scores, bad = apply_typed(
            rows, "Scores", decode, good=ConversationScore, bad=RejectedRecord
        )
        means = (
            scores
            | "Means" >> GlobalMeans(self.scoring, self.options)
            | "Rows" >> beam.Map(struct_row).with_output_types(row_type(MeanRow))
        )
        return with_errors(means, bad, self.error_handling)


class _Parse(beam.DoFn):
    def process(self, row: Any) -> Iterator[SearchCall | TaggedOutput]:
        record = {name: value for name, value in plain_mapping(row).items() if value is not None}
        try:
            yield parse_escaped_mapping(record)
        except RecordError as error:
            bad = reject_record("row", "", error, payload_of_mapping(record))
            yield TaggedOutput(BAD, bad)


@dataclass(eq=False, repr=False)
class _DecodeScore(beam.DoFn):
    scoring: Scoring

    def process(self, row: Any) -> Iterator[ConversationScore | TaggedOutput]:
        try:
            score = _scores.decode(row.score)
        except (AttributeError, TypeError, msgspec.DecodeError):
            reason = "score is missing or damaged; give the rows of ScoreConversations."
        else:
            plan = self.scoring.plan
            if score.conversation.columns == plan.columns and len(score.by_i) >= plan.max_i:
                yield score
                return
            reason = (
                "GlobalMeans and ScoreConversations have different ranking metrics, or a different "
                "max_i; give both the same."
            )
        row = plain_mapping(row)
        error = RecordError(reason, "score", row.get("conversation_id"))
        yield TaggedOutput(BAD, reject_record("row", "", error, payload_of_mapping(row)))
