"""Options that messages name to mend a problem, and how each face of the product words them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import chain
from typing import Self

from msgspec import Struct
from msgspec.structs import force_setattr, replace

_PHRASES = "phrases"


class Remedy(Struct, frozen=True):
    """An option, and the value to give it.

    Added to text it makes a `Phrase`; its own text is that of the command line.

    Attributes:
      option: its key, like `max_i`.
      value: names by field for renamed fields; None if only the option is named, or takes none.
    """

    option: str
    value: str | int | Mapping[str, str] | None = None

    def __str__(self) -> str:
        """Like `--max-i 20`."""
        name = f"--{self.option.replace('_', '-')}"
        if self.value is None:
            return name
        if isinstance(self.value, Mapping):
            return f"{name} {','.join(f'{field}={other}' for field, other in self.value.items())}"
        return f"{name} {self.value}"

    def __add__(self, text: str) -> str:
        return Phrase(self, text)

    def __radd__(self, text: str) -> str:
        return Phrase(text, self)


class Phrase(str):
    """Text that names options, which `word` says in other words than those of the command line.

    It comes of adding a `Remedy` to text, and keeps its parts while text is added to it. Where it
    is formatted into other text, nothing but its text is left.

    Attributes:
      parts: the texts and options that it was made of.

    Example:
      >>> phrase = "Raise it with " + Remedy("max_i", 20) + "."
      >>> print(phrase, word(phrase, lambda remedy: f"{remedy.option}={remedy.value}"))
      Raise it with --max-i 20. Raise it with max_i=20.
    """

    parts: tuple[str | Remedy, ...]

    def __new__(cls, *parts: str | Remedy) -> Phrase:
        """The parts in this order; phrases among them count as their parts."""
        flat = tuple(
            chain.from_iterable(
                part.parts if isinstance(part, Phrase) else (part,) for part in parts
            )
        )
        phrase = super().__new__(cls, "".join(map(str, flat)))
        phrase.parts = flat
        return phrase

    def __getnewargs__(self) -> tuple[str | Remedy, ...]:  # type: ignore[override]
        """The parts, which `pickle` hands to `__new__`."""
        return self.parts

    def __add__(self, text: str | Remedy) -> Phrase:
        return Phrase(self, text)

    def __radd__(self, text: str) -> Phrase:
        return Phrase(text, self)

    def format(self, *args: object, **named: object) -> Phrase:
        """The phrase with these values in its texts, as of `str.format`."""
        return Phrase(
            *(part.format(*args, **named) if isinstance(part, str) else part for part in self.parts)
        )

    def removeprefix(self, prefix: str, /) -> Phrase:
        """The phrase without a text at its beginning, if it begins with that."""
        first, *others = self.parts
        return Phrase(first.removeprefix(prefix) if isinstance(first, str) else first, *others)

    def removesuffix(self, suffix: str, /) -> Phrase:
        """The phrase without a text at its end, if it ends with that."""
        *others, last = self.parts
        return Phrase(*others, last.removesuffix(suffix) if isinstance(last, str) else last)


def join(separator: str, texts: Iterable[str]) -> str:
    """At least one text, joined like `str.join`; the options of phrases are kept."""
    return reduce(lambda joined, text: joined + separator + text, texts)


def word(text: str, wording: Callable[[Remedy], str]) -> str:
    """A message with its options in other words; text that is no `Phrase` as it is."""
    if not isinstance(text, Phrase):
        return text
    return "".join(part if isinstance(part, str) else wording(part) for part in text.parts)


class Phrased(Struct, frozen=True, dict=True):
    """A Struct whose fields are plain texts, so that anything stores it, made of phrases.

    It knows them where it was made; of one that was stored, sent to another process or changed by
    `replace` only the texts are left.
    """

    def __post_init__(self) -> None:
        """Keep the phrases beside the fields, which get their text."""
        phrases = {}
        for name in self.__struct_fields__:
            text = getattr(self, name)
            if isinstance(text, Phrase):
                phrases[name] = text
                force_setattr(self, name, str(text))
        if phrases:
            self.__dict__[_PHRASES] = phrases

    def phrase(self, field: str) -> str:
        """The text of a field, with the options that it names if they are known."""
        text: str = self.__dict__.get(_PHRASES, {}).get(field, getattr(self, field))
        return text

    def word(self, wording: Callable[[Remedy], str]) -> Self:
        """With its options in other words, as far as they are known."""
        phrases: dict[str, Phrase] = self.__dict__.get(_PHRASES, {})
        return replace(self, **{name: word(text, wording) for name, text in phrases.items()})
