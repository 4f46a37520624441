"""Options as fields: their groups, and their names on the command line, in files and in Python.

Each field declares its type, default and help text once; options of the command line, keys of a
configuration file, arguments in Python, JSON Schemas and tables in the docs are made from it.
"""

from __future__ import annotations

from typing import Any

from pydantic import (
    BaseModel,
    Field,
)
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from goodgain.transforms.core.option import (
    COMMON,
    LABELS,
    LIMITS,
    MEANS,
    NAMES,
    RANKING,
    SCORING,
    TIME,
)

# Headings of options beside those of the core, then all in the order in which they are shown.
CONTENT = "Content"
ARMS = "Arms and pairs"
STATISTICS = "Statistics"
RESULTS = "Results"
ENGINE = "Files and engine"
CHECKS = "What makes the exit code 3 or 4"
IMPORT = "From other tools"
FROM_TREC = "From TREC"
TO_TREC = "To TREC"
GROUPS = (
    COMMON, IMPORT, FROM_TREC, TO_TREC, CONTENT, LABELS, TIME, ARMS, SCORING, MEANS, RANKING,
    STATISTICS, RESULTS, ENGINE, CHECKS, NAMES, LIMITS,
)  # fmt: skip
# Of each dataset; many terabytes have no more of the size that the runs choose themselves.
GREATEST_SHARDS = 100_000
_POSITIONAL = "positional"
_FOR_WORKERS = "for_workers"


class OptionError(ValueError):
    """A mistake in one option of several that were checked together.

    Attributes:
      field: the option's.
    """

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


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


def is_flag(field: FieldInfo) -> bool:
    """Whether an option is true or false, or null if its default depends on the data."""
    return field.annotation in (bool, bool | None)


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


def field_of(error: Any) -> str:
    """The field of a model that a mistake is in."""
    raised = error.get("ctx", {}).get("error")
    return raised.field if isinstance(raised, OptionError) else str(error["loc"][0])
