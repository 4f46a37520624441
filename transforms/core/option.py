"""Options declared where they take effect: what a field of a Struct says to whoever sets it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import Struct, ValidationError, convert
from msgspec.structs import fields, force_setattr

from goodgain.transforms.core.errors import UsageError

# Headings of options that fields of the core declare.
COMMON = "Most used"
SCORING = "Scoring"
LABELS = "Labels and judgments"
TIME = "Event time"
MEANS = "Means"
RANKING = "Ranking metrics"
NAMES = "Names in the traces"
LIMITS = "Limits"

Scope = Literal["all", "labels", "means", "run"]
Form = Literal["texts", "names", "entries", "duration"]


class Option(Struct, frozen=True):
    """Makes a field an option with the field's name, type and default.

    Attributes:
      group: its heading in help.
      metavar: what stands for its value in help; "" for one that is on or off.
      description: what it does, in a phrase.
      scope: who has it: `all` commands that set the Struct; these and others that read `labels`,
        like validation; those that compute `means` (runs and streams); or `run` only.
      at_least, at_most: the smallest and greatest number.
      check: returns a value as it counts, like names each once, or raises a UsageError, or a
        ValueError whose text follows the option's name; it is not asked about None.
      form: how texts of which it takes several are written: one by one (`texts`), also with commas
        between them (`names`), or so and in files as a mapping (`entries`, like `gain=relevance`);
        or that a number of milliseconds is written as a `duration`, like 30m.
      flag: its name on the command line and in files, if it differs from the field's.
      keyword: its name as an argument in Python, if it differs from the field's.
      selects: whether it only selects what is computed or written, so that runs which differ in it
        can be compared.

    Example:
      >>> class Reader(Options, frozen=True):
      ...     lines: Annotated[int, Option(LIMITS, "N", "read so many lines", at_least=1)] = 10
      >>> list(options_in(Reader))
      ['lines']
      >>> Reader(0)
      Traceback (most recent call last):
      ...
      goodgain.transforms.core.errors.UsageError: lines is 0: give at least 1.
    """

    group: str
    metavar: str
    description: str
    scope: Scope = "all"
    at_least: int | None = None
    at_most: int | None = None
    check: Callable[[Any], Any] | None = None
    form: Form = "texts"
    flag: str | None = None
    keyword: str | None = None
    selects: bool = False


class DeclaredOption(Struct, frozen=True):
    """A field that is an option.

    Attributes:
      type: what its values are.
    """

    option: Option
    type: Any
    default: Any


class Options(Struct, frozen=True):
    """A Struct of options, whose values are checked and put as they count wherever it is made."""

    def __post_init__(self) -> None:
        """Check each option by itself.

        Raises:
          UsageError: a value cannot be used.
        """
        for name, declared in _declared_in(type(self)):
            value = getattr(self, name)
            if value is not declared.default:
                force_setattr(self, name, check_option(name, declared, value))


def options_in(struct: type[Struct], scope: Scope | None = "all") -> dict[str, DeclaredOption]:
    """The options of a scope that the fields of a Struct declare, by name, in their order.

    Args:
      scope: None = every.
    """
    return {
        field.name: DeclaredOption(option, type_, field.default)
        for field in fields(struct)
        if get_origin(field.type) is Annotated
        for type_, *others in [get_args(field.type)]
        for option in others
        if isinstance(option, Option) and scope in (None, option.scope)
    }


def check_option(name: str, declared: DeclaredOption, value: Any) -> Any:
    """A value as the option declares it, like a tuple for a list.

    Raises:
      UsageError: it has another type, is too small or too great, or its check refuses it.
    """
    option = declared.option
    try:
        converted = convert(value, declared.type)
    except ValidationError as error:
        wanted = _describe_wanted(declared) or error
        raise UsageError(f"{name} cannot be {value!r}: {wanted}.") from None
    if isinstance(converted, int):
        if option.at_least is not None and converted < option.at_least:
            raise UsageError(f"{name} is {value!r}: give at least {option.at_least}.")
        if option.at_most is not None and converted > option.at_most:
            raise UsageError(f"{name} is {value!r}: give at most {option.at_most}.")
    if option.check is None or converted is None:
        return converted
    try:
        return option.check(converted)
    except ValueError as error:
        raise UsageError(f"{name} {error}.") from None


def _describe_wanted(declared: DeclaredOption) -> str | None:
    """What to give instead of a value of another type; None if the type itself says it."""
    type_ = declared.type
    if get_origin(type_) is Literal:
        return f"give {' or '.join(map(str, get_args(type_)))}"
    if type_ == tuple[tuple[str, ...], ...]:
        return 'give a list of lists, like [["market"], ["arm", "market"]]'
    if tuple[str, ...] in (type_, *get_args(type_)):
        return f"give a list of {declared.option.form}"
    return None


def differs_beside(value: Struct, names: tuple[str, ...]) -> bool:
    """Whether a field that is not among `names` has another value than its default.

    Code that knows only these fields, like native code, leaves such a value to code that knows all.
    """
    return any(
        getattr(value, name) != default for name, default in _defaults_beside(type(value), names)
    )


@cache
def _declared_in(struct: type[Struct]) -> tuple[tuple[str, DeclaredOption], ...]:
    """Every option of a Struct; cached, since settings are made anew on every worker."""
    return tuple(options_in(struct, None).items())


@cache
def _defaults_beside(struct: type[Struct], names: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Names and defaults of the other fields; cached, since a stream asks for each message."""
    return [(field.name, field.default) for field in fields(struct) if field.name not in names]
