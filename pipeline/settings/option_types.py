"""Types of option values, and the metadata of a field.

Each field declares its type, default and help text once; options of the command line, keys of a
configuration file, arguments in Python, JSON Schemas and tables in the docs are made from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

# Headings of options, in the order in which they are shown.
COMMON = "Most used"
LABELS = "Labels and judgments"
CONTENT = "Content"
TIME = "Event time"
ARMS = "Arms and pairs"
SCORING = "Scoring"
MEANS = "Means"
RANKING = "Ranking metrics"
STATISTICS = "Statistics"
RESULTS = "Results"
ENGINE = "Files and engine"
CHECKS = "What makes the exit code 3 or 4"
NAMES = "Names in the traces"
LIMITS = "Limits"
IMPORT = "From other tools"
FROM_TREC = "From TREC"
TO_TREC = "To TREC"
GROUPS = (
    COMMON, IMPORT, FROM_TREC, TO_TREC, CONTENT, LABELS, TIME, ARMS, SCORING, MEANS, RANKING,
    STATISTICS, RESULTS, ENGINE, CHECKS, NAMES, LIMITS,
)  # fmt: skip

_POSITIONAL, _FOR_WORKERS = "positional", "for_workers"
Format = Literal["avro", "parquet", "jsonl"]
Text = Annotated[str, StringConstraints(min_length=1)]
_MILLIS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_DURATION_PART = re.compile(r"(\d{1,9})\s*(ms|[dhms])\s*")
_LONGEST_DURATION = 36_500 * _MILLIS["d"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LIMIT = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,6})?)(?P<percent>\s*%)?")
_WHOLE_SHARE = 100


def _as_list(value: Any) -> Any:
    """Turn a single string into a list of one."""
    return [value] if isinstance(value, str) else value


def _split_at_commas(value: Any) -> Any:
    """Split strings at commas."""
    value = _as_list(value)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        return value
    return [name.strip() for entry in value for name in entry.split(",")]


def _distinct_names(value: Any) -> Any:
    """Split strings at commas, and drop empty and repeated names."""
    names = _split_at_commas(value)
    return [name for name in dict.fromkeys(names) if name] if isinstance(names, list) else names


def _number_texts(value: Any) -> Any:
    """Turn one number, or those in a list, into text."""
    several = value if isinstance(value, list) else [value]
    return [str(item) if isinstance(item, int | float) else item for item in several]


def _as_numbers(value: Any) -> Any:
    """Turn one number, or text of numbers with commas, into a list of numbers."""
    value = [value] if isinstance(value, int) else _split_at_commas(value)
    if not isinstance(value, list):
        return value
    return [int(item) if isinstance(item, str) and item.isdecimal() else item for item in value]


def _slices(value: Any) -> Any:
    """Turn slices that are strings with commas into lists of attribute names."""
    value = _as_list(value)
    if not isinstance(value, list):
        return value
    return [_split_at_commas(item) if isinstance(item, str) else item for item in value]


def _mapping(value: Any) -> Any:
    """Turn renamed fields, a mapping or strings with commas, into a list like `gain=relevance`."""
    if isinstance(value, dict):
        return [f"{field}={name}" for field, name in value.items()]
    return [entry for entry in _split_at_commas(value) or () if entry]


def _refuse_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


# JSON Schemas of the values in a file, for editors.
_TEXT_SCHEMA: dict[str, Any] = {"type": "string", "minLength": 1}
_TEXTS_SCHEMA = {"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXT_SCHEMA}]}
_SLICES_SCHEMA = {"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXTS_SCHEMA}]}

Number = Annotated[int, BeforeValidator(_refuse_boolean)]
Patterns = Annotated[
    tuple[Text, ...], BeforeValidator(_as_list), Field(min_length=1), WithJsonSchema(_TEXTS_SCHEMA)
]
Slices = Annotated[
    tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...],
    BeforeValidator(_slices),
    WithJsonSchema(_SLICES_SCHEMA),
]
Mapping = Annotated[
    tuple[str, ...],
    BeforeValidator(_mapping),
    WithJsonSchema(
        {
            "type": ["string", "array", "object"],
            "items": {"type": "string"},
            "additionalProperties": {"type": "string"},
        }
    ),
]
Names = Annotated[tuple[str, ...], BeforeValidator(_split_at_commas), WithJsonSchema(_TEXTS_SCHEMA)]
DistinctNames = Annotated[
    tuple[str, ...], BeforeValidator(_distinct_names), WithJsonSchema(_TEXTS_SCHEMA)
]
Tolerances = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: _distinct_names(_number_texts(value))),
    WithJsonSchema(_TEXTS_SCHEMA),
]
BudgetTexts = Annotated[tuple[Text, ...], BeforeValidator(_as_list), WithJsonSchema(_TEXTS_SCHEMA)]
FilePatterns = BudgetTexts  # may be empty
Conditions = BudgetTexts
Numbers = Annotated[tuple[Number, ...], BeforeValidator(_as_numbers)]


def option(
    group: str,
    metavar: str,
    description: str,
    default: Any = ...,
    flag: str | None = None,
    keyword: str | None = None,
    for_workers: bool = False,
    **checks: Any,
) -> Any:
    """A field that is an option.

    Args:
      group: its heading in `--help`.
      flag: its name on the command line and in files, if it differs from the field's.
      keyword: its name as an argument in Python, if it differs from the field's; "" if it is none.
      for_workers: whether it names files that workers of an engine read or write.
    """
    extra: JsonDict = {"group": group, "metavar": metavar}
    extra |= {key: name for key, name in (("flag", flag), ("keyword", keyword)) if name is not None}
    if for_workers:
        extra[_FOR_WORKERS] = "yes"
    return Field(default, description=description, json_schema_extra=extra, **checks)


def argument(metavar: str, description: str, default: Any = ..., **checks: Any) -> Any:
    """A field whose values stand on the command line without the name of an option."""
    extra: JsonDict = {"group": COMMON, "metavar": metavar, _POSITIONAL: "yes"}
    return Field(default, description=description, json_schema_extra=extra, **checks)


def is_argument(field: FieldInfo) -> bool:
    """Whether a field was declared by `argument`."""
    return _POSITIONAL in metadata(field)


def paths_of_workers(model: type[BaseModel]) -> list[str]:
    """The fields that name files which workers of an engine read or write, required ones first."""
    fields = sorted(model.model_fields.items(), key=lambda named: not named[1].is_required())
    return [name for name, field in fields if _FOR_WORKERS in metadata(field)]


def metadata(field: FieldInfo) -> dict[str, str]:
    """The group, metavar, flag and keyword that `option` gave to a field."""
    extra = field.json_schema_extra
    return {key: str(value) for key, value in extra.items()} if isinstance(extra, dict) else {}


def key_of(name: str, field: FieldInfo) -> str:
    """The key of a field in a configuration file: its flag's name, like `max_i`."""
    return metadata(field).get("flag", name)


def keyword_of(name: str, field: FieldInfo) -> str:
    """The argument of a field in Python, like `slices`; "" if it has none."""
    return metadata(field).get("keyword", name)


def flag_of(name: str, field: FieldInfo) -> str:
    """The option of a field on the command line, like `--max-i`; of an argument, its name."""
    if is_argument(field):
        return metadata(field)["metavar"]
    return f"--{key_of(name, field).replace('_', '-')}"


def parse_duration(written: str) -> int:
    """A duration in milliseconds, from numbers with the units d, h, m, s and ms, like `1h30m`.

    Raises:
      ValueError: it is not a duration, or longer than a century.
    """
    text = written.strip().lower()
    parts = _DURATION_PART.findall(text)
    if not parts or _DURATION_PART.sub("", text):
        raise ValueError(f"must be a duration like 30m, 1d or 1h30m, not {written!r}")
    millis = sum(int(number) * _MILLIS[unit] for number, unit in parts)
    if millis > _LONGEST_DURATION:
        raise ValueError(f"must be at most a century, not {written!r}")
    return millis


def duration_text(millis: int) -> str:
    """A duration as `parse_duration` reads it, in as few units as possible."""
    parts = []
    for unit, size in _MILLIS.items():
        number, millis = divmod(millis, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"


# A bare number is refused, since its unit would be a guess.
Duration = Annotated[
    int,
    BeforeValidator(lambda value: parse_duration(str(value))),
    PlainSerializer(duration_text),
    WithJsonSchema({"type": "string"}),
]


def parse_instant(written: str) -> int:
    """A time in milliseconds since 1970, from a date or time like `2026-11-25T12:00`, in UTC.

    Raises:
      ValueError: it is not a time.
    """
    try:
        moment = datetime.fromisoformat(written.strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        raise ValueError(
            f"must be a date or time like 2026-11-25 or 2026-11-25T12:00Z, not {written!r}"
        ) from None


def instant_text(millis: int) -> str:
    """A time as `parse_instant` reads it."""
    moment = _EPOCH + timedelta(milliseconds=millis)
    return moment.isoformat(timespec="auto").replace("+00:00", "Z")


Instant = Annotated[
    int,
    BeforeValidator(lambda value: parse_instant(str(value))),
    PlainSerializer(instant_text),
    WithJsonSchema({"type": "string"}),
]


@dataclass(frozen=True)
class MaxRejected:
    """A limit: a count of records, or a share of all that were read.

    Attributes:
      limit: records, or percent.
      is_share: whether `limit` is in percent.
      is_given: whether it was asked for; otherwise it allows a loss of unknown size.
    """

    limit: Decimal
    is_share: bool
    is_given: bool = True

    @classmethod
    def parse(cls, value: Any) -> MaxRejected:
        """Read a limit: `5` is a count, `2%` or `0.5%` a share.

        Raises:
          ValueError: it is neither.
        """
        if isinstance(value, cls):
            return value
        written = str(value)
        match = _LIMIT.fullmatch(written.strip())
        if match is not None:
            limit, is_share = Decimal(match["number"]), match["percent"] is not None
            if limit <= _WHOLE_SHARE if is_share else "." not in match["number"]:
                return cls(limit, is_share)
        raise ValueError(f"must be a count like 5 or a share like 2%, not {written!r}")

    def given(self, is_given: bool) -> MaxRejected:
        """The same limit, asked for or not."""
        return MaxRejected(self.limit, self.is_share, is_given)

    def exceeded(self, rejected: int, read: int, unknown_losses: int = 0) -> bool:
        """Whether `rejected` of `read` records exceed the limit; exactly the limit does not.

        Args:
          unknown_losses: how often an unknown number of records was lost, which may exceed any
            limit but 100%.
        """
        allows_all = self.is_share and self.limit == _WHOLE_SHARE
        if unknown_losses and self.is_given and not allows_all:
            return True
        if self.is_share:
            return rejected * _WHOLE_SHARE > self.limit * read
        return rejected > self.limit

    def __str__(self) -> str:
        return f"{self.limit}%" if self.is_share else f"{self.limit}"
