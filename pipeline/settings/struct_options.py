"""Options that Structs of the core declare, as fields of settings."""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from msgspec import Struct
from pydantic import AfterValidator, BaseModel, BeforeValidator, create_model

from goodgain.pipeline.settings.catalogue import as_value_errors
from goodgain.pipeline.settings.option_fields import option
from goodgain.pipeline.settings.option_types import (
    Duration,
    Mapping,
    Names,
    Numbers,
    PositiveDuration,
    Slices,
    Text,
    Texts,
    duration_text,
)
from goodgain.transforms.core.number import Number, refuse_boolean
from goodgain.transforms.core.option import DeclaredOption, Form, Scope, options_in

_Model = TypeVar("_Model", bound=BaseModel)
_TEXTS: dict[Form, Any] = {"texts": Texts, "names": Names, "entries": Mapping}


def options_of(
    struct: type[Struct], scope: Scope = "all"
) -> Callable[[type[_Model]], type[_Model]]:
    """A decorator that gives settings a field for each option of this scope in a Struct.

    They come last, except where the class itself has a field of this name: a bare `max_i: int` is
    for code that reads it as an attribute.
    """
    fields: dict[str, Any] = {
        name: _field(name, declared, declared.default)
        for name, declared in options_in(struct, scope).items()
    }

    def with_options(model: type[_Model]) -> type[_Model]:
        return create_model(
            model.__name__,
            __base__=model,
            __module__=model.__module__,
            __doc__=model.__doc__,
            **fields,
        )

    return with_options


def option_in(struct: type[Struct], name: str, default: Any) -> Any:
    """The field of an option in a Struct, with another default."""
    _, field = _field(name, options_in(struct, None)[name], default)
    return field


def values_for(struct: type[Struct], settings: BaseModel) -> dict[str, Any]:
    """The values of the fields of a Struct that the settings have, by name."""
    names = struct.__struct_fields__
    return {name: getattr(settings, name) for name in names if name in type(settings).model_fields}


def _field(name: str, declared: DeclaredOption, default: Any) -> tuple[Any, Any]:
    """The type and the declaration of a field, for pydantic."""
    shown = declared.option
    duration = shown.form == "duration"
    plain = name.removesuffix("_")  # `pass_` is `pass` where that is no word of Python
    flag = shown.flag or (plain if plain != name else None)
    checks = {} if duration else {"ge": shown.at_least, "le": shown.at_most}
    given: dict[str, Any] = {name: limit for name, limit in checks.items() if limit is not None}
    field = option(
        shown.group,
        shown.metavar,
        shown.description,
        duration_text(default) if duration else default,
        flag,
        shown.keyword,
        **given,
    )
    return _type_of(declared), field


def _type_of(declared: DeclaredOption) -> Any:
    """The type of an option's value, with its check."""
    shown = declared.option
    if shown.form == "duration":
        return PositiveDuration if shown.at_least else Duration
    type_ = _as_written(declared.type, shown.form)
    if shown.check is None:
        return type_
    return Annotated[type_, AfterValidator(_validator(shown.check))]


def _validator(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The check of an option, which is not asked about None, for pydantic."""

    def checked(value: Any) -> Any:
        with as_value_errors():
            return None if value is None else check(value)

    return checked


def _as_written(type_: Any, form: Form) -> Any:
    """The type of an option's value as a command line or a file holds it."""
    if get_origin(type_) is Literal and all(isinstance(choice, int) for choice in get_args(type_)):
        checks = BeforeValidator(_number_of_text), BeforeValidator(refuse_boolean)
        return Annotated[type_, *checks]
    if get_origin(type_) is UnionType:
        kinds = [_as_written(kind, form) for kind in get_args(type_)]
        return Union[tuple(kinds)]  # noqa: UP007
    as_written = {
        int: Number,
        str: Text,
        tuple[int, ...]: Numbers,
        tuple[str, ...]: _TEXTS[form],
        tuple[tuple[str, ...], ...]: Slices,
    }
    return as_written.get(type_, type_)


def _number_of_text(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value
