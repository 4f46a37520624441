"""Options in messages, as each face of the product words them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from pydantic.fields import FieldInfo

from goodgain.pipeline.settings.compare_config import CompareConfig
from goodgain.pipeline.settings.option_fields import is_flag, key_of, keyword_of
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.remedy import Remedy, word


@contextmanager
def phrase_for_python() -> Iterator[None]:
    """Words the options in the messages of errors that are raised inside for Python."""
    try:
        yield
    except GoodGainError as error:
        error.args = (word(error.message, as_argument),)
        raise


def as_argument(remedy: Remedy) -> str:
    """An option as an argument of the Python functions, like `max_i=20`."""
    named = _declared_options().get(remedy.option)
    if named is None:
        return remedy.option if remedy.value is None else f"{remedy.option}={remedy.value}"
    name, field = named
    keyword = keyword_of(name, field) or name
    if isinstance(remedy.value, Mapping):
        entries = ", ".join(f'"{target}": "{source}"' for target, source in remedy.value.items())
        return f"{keyword}={{{entries}}}"
    if is_flag(field):
        return f"{keyword}=True"
    if remedy.value is None:
        return keyword
    written = str(remedy.value)
    return (
        f"{keyword}={written}"
        if written.isdecimal() or written.isupper()
        else f'{keyword}="{written}"'
    )


@cache
def _declared_options() -> dict[str, tuple[str, FieldInfo]]:
    """The options of runs and comparisons by key."""
    fields = [*CompareConfig.model_fields.items(), *RunConfig.model_fields.items()]
    return {key_of(*named): named for named in fields}
