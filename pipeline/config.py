"""The configuration of one run: every option with its type, default and help text, once.

The options of `goodgain run`, the keys of a configuration file and the table in the README are all
made from the fields of `RunConfig`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic.config import JsonDict

from pipeline.max_rejected import MaxRejected
from transforms.core.errors import UsageError
from transforms.core.ranking import (
    DEFAULT_RANKING_METRICS,
    RankingMetric,
    parse_ranking_metrics,
)
from transforms.core.records import GREATEST_GAIN

Text = Annotated[str, StringConstraints(min_length=1)]
_GREATEST_G_MAX = 20


def _several(value: Any) -> Any:
    """A single text stands for a list of one."""
    return [value] if isinstance(value, str) else value


def _comma_separated(value: Any) -> Any:
    """Texts with commas stand for several entries."""
    value = _several(value)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        return value
    return [name.strip() for entry in value for name in entry.split(",")]


def _slices(value: Any) -> Any:
    """Each slice is a list of attribute names, or one text with commas between them."""
    value = _several(value)
    if not isinstance(value, list):
        return value
    return [_comma_separated(one) if isinstance(one, str) else one for one in value]


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


def _max_rejected(value: Any) -> MaxRejected:
    return value if isinstance(value, MaxRejected) else MaxRejected.parse(str(value))


Number = Annotated[int, BeforeValidator(_no_boolean)]
Patterns = Annotated[tuple[Text, ...], BeforeValidator(_several), Field(min_length=1)]
Slices = Annotated[
    tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...], BeforeValidator(_slices)
]
MetricNames = Annotated[tuple[str, ...], BeforeValidator(_comma_separated)]
Limit = Annotated[MaxRejected, BeforeValidator(_max_rejected), PlainSerializer(str)]


def _option(group: str, metavar: str, description: str, default: Any = ..., **checks: Any) -> Any:
    extra: JsonDict = {"group": group, "metavar": metavar}
    return Field(default, description=description, json_schema_extra=extra, **checks)


_DATA = "Data"
_SCORING = "Scoring"
_MEANS = "Means"
_RANKING = "Ranking metrics"
_RUN = "Run"


class RunConfig(BaseModel):
    """What one run reads, computes and writes (SPEC 6); each field is an option."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, validate_default=True
    )

    input: Patterns = _option(
        _DATA, "PATTERN", "trace files to read: Avro, JSON Lines or Parquet; * and ** are wildcards"
    )
    output: Text = _option(_DATA, "DIR", "folder for everything that is written")
    format: Literal["avro", "parquet", "jsonl"] = _option(
        _DATA, "FORMAT", "what the datasets are written as", "avro"
    )
    overwrite: bool = _option(_DATA, "", "replace what an earlier run left in the output", False)
    max_rejected: Limit = _option(
        _DATA,
        "LIMIT",
        "exit with 3 when more records than this are rejected: a count like 5 or a share like 2%",
        "1%",
    )
    rules: Text | None = _option(
        _SCORING, "FILE", "rules that decide what is a duplicate, instead of those built in", None
    )
    good_gain_threshold: Number = _option(
        _SCORING, "GAIN", "least gain of a good result", 2, ge=1, le=GREATEST_GAIN
    )
    write_duplicates: bool = _option(
        _SCORING, "", "also write a row for each duplicate: of which result, and why", False
    )
    slice: Slices = _option(
        _MEANS,
        "NAMES",
        "attributes to give means by, like market or arm,market; may be repeated",
        (),
    )
    max_i: Number = _option(_MEANS, "I", "give means at the iterations 1 to this", 10, ge=1)
    metrics: MetricNames = _option(
        _RANKING,
        "NAME",
        "ranking metrics to compute, like ndcg@10; see `goodgain metrics`",
        tuple(metric.name for metric in DEFAULT_RANKING_METRICS),
    )
    duplicates: Literal["compact", "hold_slot"] = _option(
        _RANKING,
        "HOW",
        "later copies leave the ranked list (compact) or keep their places as non-relevant",
        "compact",
    )
    g_max: Number = _option(
        _RANKING,
        "GAIN",
        "greatest gain of the labelling scale, for err and nerr",
        GREATEST_GAIN,
        ge=1,
        le=_GREATEST_G_MAX,
    )
    relevance_threshold: Number | None = _option(
        _RANKING, "GAIN", "least gain of a relevant result; good_gain_threshold by default", None
    )
    per_call: bool = _option(_RANKING, "", "also evaluate the list of every search call", False)
    bounds: bool = _option(
        _RANKING, "", "also give the worst and best values that missing labels allow", False
    )
    qrels: Text | None = _option(
        _RANKING,
        "FILE",
        "judgments that replace the labels of the traces: TREC qrels, or a table",
        None,
    )
    qrels_id: Text = _option(
        _RANKING, "NAME", "named id of a result that holds its document name in qrels", "doc_id"
    )
    qrels_topic: Text | None = _option(
        _RANKING,
        "NAME",
        "attribute that holds the topic in qrels; conversation_id by default",
        None,
    )
    shards: Number | None = _option(
        _RUN,
        "N",
        "files that each dataset is written to; the runner decides by default",
        None,
        ge=1,
    )
    runner: Text = _option(
        _RUN, "RUNNER", "engine that runs the pipeline; its own options follow", "DirectRunner"
    )

    @field_validator("slice")
    @classmethod
    def _slices_are_distinct(cls, slices: tuple[tuple[str, ...], ...]) -> tuple[Any, ...]:
        seen: set[frozenset[str]] = set()
        for names in slices:
            if len(set(names)) < len(names):
                raise ValueError(f"names an attribute twice in {','.join(names)}")
            if frozenset(names) in seen:
                raise ValueError(f"holds {','.join(names)} twice")
            seen.add(frozenset(names))
        return slices

    @field_validator("metrics")
    @classmethod
    def _metrics_exist(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(metric.name for metric in parse_ranking_metrics(names))
        except UsageError as error:
            raise ValueError(f"cannot be used: {str(error).removesuffix('.')}") from None

    @field_validator("relevance_threshold")
    @classmethod
    def _threshold_fits_scale(cls, threshold: int | None, info: ValidationInfo) -> int | None:
        effective = info.data.get("good_gain_threshold") if threshold is None else threshold
        g_max = info.data.get("g_max")
        if effective is not None and g_max is not None and not 1 <= effective <= g_max:
            raise ValueError(f"must be from 1 to g_max = {g_max}, not {effective}")
        return threshold

    @property
    def ranking_metrics(self) -> tuple[RankingMetric, ...]:
        """The metrics that `metrics` names, in their order."""
        return parse_ranking_metrics(self.metrics)

    @property
    def relevant_from(self) -> int:
        """The least gain of a relevant result (SPEC 8, `relevance_threshold`)."""
        if self.relevance_threshold is None:
            return self.good_gain_threshold
        return self.relevance_threshold
