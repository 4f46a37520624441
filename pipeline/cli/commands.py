"""The commands of `goodgain`, each a module, imported only when it is needed; their arguments.

A new command is a module with the members of `Command` and its name in `COMMANDS`: `pool build` is
the module `pool/build.py`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from itertools import takewhile
from typing import NoReturn, Protocol, cast

from goodgain.transforms.core.errors import UsageError

_LEAST_SIMILARITY = 0.75
_WORD = re.compile("[a-z]+")
_SHORTEST_PART = 3  # shortest prefix or suffix that suggests an option


class Command(Protocol):
    """The interface of a command's module.

    A command that passes unknown options to Beam also sets `PASSES_OPTIONS_TO_BEAM = True`, and
    finds them in `args.beam_arguments`; `NOT_HERE` has the options of other commands that it
    refuses, and what to say of each. One whose first words may be the values of an option names it
    as `LEADING_WORDS`.
    """

    NAME: str
    HELP: str
    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return the exit code.

        Raises:
          UsageError: the options, or what they name, cannot be used; the message says why.
          GoodGainError: the command failed.
        """


COMMANDS = (
    "run", "stream", "init", "validate", "explain", "compare", "gate", "nightly", "prism",
    "metrics", "report", "sample", "convert", "completion", "export", "pool build", "pool show",
    "pool todo", "pool label", "pool judge", "pool agree",
)  # fmt: skip


def load_command(name: str) -> Command:
    """Import the module of a command."""
    return cast(Command, import_module(f"goodgain.pipeline.cli.{name.replace(' ', '.')}"))


class _Parser(argparse.ArgumentParser):
    """Raises for mistakes, so that every usage error reaches the user the same way."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`.")


def parse_arguments(command: Command, words: Sequence[str]) -> argparse.Namespace:
    """Parse the words after a command's name.

    Args:
      words: options and arguments; `--max_i` and `--max-i` are the same option.

    Returns:
      The parsed arguments; `beam_arguments` holds the words that are left for Beam, `given_words`
      all words.

    Raises:
      UsageError: the words contain a mistake; the message suggests a correction.
      SystemExit: help was asked for and has been printed.
    """
    parser = _Parser(
        prog=f"goodgain {command.NAME}",
        description=command.HELP[:1].upper() + command.HELP[1:] + ".",
        epilog=f"example:\n  {command.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    # Help and the form of the output come last, after the options of the command's subject.
    parser._action_groups.sort(key=lambda group: group is parser._optionals)
    ours = [option for action in parser._actions for option in action.option_strings]
    words = [_hyphenate(word, ours) for word in words]
    _refuse_of_others(words, getattr(command, "NOT_HERE", {}))
    _refuse_misspelt(words, ours, parser.prog)
    args, unknown = parser.parse_known_args(_with_leading(command, words))
    _refuse_stray(unknown, parser.prog)
    if unknown and not getattr(command, "PASSES_OPTIONS_TO_BEAM", False):
        name = unknown[0].partition("=")[0]
        instead = _argument_without_name(name, parser)
        raise UsageError(f"{name} is not an option{instead}; see `{parser.prog} --help`.")
    args.beam_arguments, args.given_words = unknown, words
    return args


def _argument_without_name(option: str, parser: argparse.ArgumentParser) -> str:
    """The advice to give a value without a name, if an option is called like such a value.

    That of an output folder is also called like what wrote it, which its help says: `--run out`.
    """
    name = option.lstrip("-").replace("-", "_").lower()
    for action in parser._get_positional_actions():
        metavar = str(action.metavar)
        called = {action.dest, action.dest.removesuffix("s"), metavar.lower()}
        words = _WORD.findall(f"{metavar} {action.help}".lower())
        if name in called or (len(name) > 1 and name in words):
            return f": give {metavar} without a name"
    return ""


def _with_leading(command: Command, words: list[str]) -> list[str]:
    """Give the words before the first option to the option that takes them."""
    option = getattr(command, "LEADING_WORDS", None)
    leading = list(takewhile(lambda word: not _is_option(word), words))
    return [option, *words] if option and leading else words


def _hyphenate(word: str, ours: Iterable[str]) -> str:
    """Spell one of our options with dashes, if it was written with underscores like Beam's."""
    name, equals, value = word.partition("=")
    hyphened = name.replace("_", "-")
    return hyphened + equals + value if hyphened in ours else word


def _refuse_of_others(words: Iterable[str], refused: Mapping[str, str]) -> None:
    """Refuse options of other commands, which Beam would ignore."""
    for word in words:
        if reason := refused.get(word.partition("=")[0].replace("_", "-")):
            raise UsageError(reason)


def _refuse_misspelt(words: Sequence[str], ours: Sequence[str], program: str) -> None:
    """Refuse misspelt options of ours that Beam would silently ignore."""
    mistakes = []
    # Dataflow has an option --label, which would pass for a misspelt --labels.
    known = [*ours, "--label"] if any("Dataflow" in word for word in words) else ours
    for word in words:
        name = word.partition("=")[0]
        if _is_option(word) and name not in known and (near := _nearest_option(name, ours)):
            mistakes.append(f"{name} is not an option; did you mean {near}?")
    if mistakes:
        raise UsageError(f"{' '.join(mistakes)} See `{program} --help`.")


def _refuse_stray(unknown: Sequence[str], program: str) -> None:
    """Refuse a word that follows no option; each option of Beam takes at most one.

    Beam takes negative numbers for values, but not a dash alone.
    """
    after_option = False
    for word in unknown:
        if not _is_option(word) and (not after_option or word == "-"):
            name, equals, _ = word.partition("=")  # what follows may be a secret
            shown = f"{name}=..." if equals else word
            raise UsageError(f"'{shown}' belongs to no option; see `{program} --help`.")
        after_option = _is_option(word) and "=" not in word


def _is_option(word: str) -> bool:
    return word.startswith("-") and any(character.isalpha() for character in word)


def _nearest_option(word: str, ours: Sequence[str]) -> str | None:
    """The option that a misspelt one probably means."""
    written = word.lstrip("-").replace("_", "-").lower()
    names = {option.lstrip("-"): option for option in ours}
    if near := get_close_matches(written, names, n=1, cutoff=_LEAST_SIMILARITY):
        return names[near[0]]
    if len(written) >= _SHORTEST_PART:
        for name, option in names.items():
            if name.startswith(written) or name.endswith(f"-{written}"):
                return option
    return None
