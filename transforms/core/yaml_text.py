"""Reads users' YAML, and reports every mistake in it at once, with file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import yaml
from msgspec import Struct
from pydantic import BaseModel, ValidationError

from goodgain.transforms.core.errors import UsageError, missing_file, problem_of

Location = tuple[int | str, ...]
Mistake = tuple[int, str]  # the line, from 1, or 0 for none; and what is wrong
_Model = TypeVar("_Model", bound=BaseModel)


def read_text(path: str, what: str) -> str:
    """The text of a local file; messages call the expected content `what`.

    Raises:
      UsageError: it cannot be read, is a named pipe, or is not text.
    """
    if _is_named_pipe(path):
        raise UsageError(
            f"{path} is a named pipe, where a file is needed: write {what} to a file, and give "
            "the path of that."
        )
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise missing_file(path, f"{path} cannot be read: {problem_of(error)}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8; write {what} in YAML.") from None


def _is_named_pipe(path: str) -> bool:
    """Whether reading it might wait for ever; a shell's `<(...)` has its writer already."""
    file = Path(path)
    with suppress(OSError, ValueError):  # reading it says why
        # What /dev/fd names resolves to a pipe without a path.
        return file.is_fifo() and file.parent != Path("/dev/fd") and file.resolve().is_fifo()
    return False


def _none(content: Any) -> Iterable[tuple[Location, str]]:
    return ()


class YamlFile(Struct, frozen=True):
    """A parsed file.

    Attributes:
      tree: its nodes, which have line numbers; None for an empty file.
      error_type: the class of errors about it.
    """

    name: str
    tree: yaml.Node | None
    content: Any
    error_type: type[UsageError] = UsageError

    def line(self, location: Location) -> int:
        """The line, from 1, of the deepest existing part of a location.

        A location is keys of mappings and indexes in lists, outermost first.
        """
        node, line = self.tree, 1
        for step in location:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == step:
                        line, node = key.start_mark.line + 1, value
                        break
            elif isinstance(node, yaml.SequenceNode) and step in range(len(node.value)):
                node = node.value[int(step)]
                line = node.start_mark.line + 1
        return line

    def place(self, *location: int | str) -> str:
        """A location in messages, like `run.yaml:3`."""
        return f"{self.name}:{self.line(location)}"

    def find_repeated_keys(self) -> list[Mistake]:
        """Each key that is repeated in a mapping; YAML itself keeps the last."""
        return [
            (line, describe_repeated_key(key))
            for line, key in _find_repeated_keys(self.tree, set())
        ]

    def read(
        self,
        model: type[_Model],
        what: str,
        describe: Callable[[Any], str],
        context: Any = None,
        contradictions: Callable[[Any], Iterable[tuple[Location, str]]] = _none,
    ) -> _Model:
        """The content as a model.

        Args:
          what: what messages call the content, like "The gate".
          describe: puts a pydantic error into words.
          context: for the model's validators.
          contradictions: further mistakes in the content, which may also have others.

        Raises:
          UsageError: it does not fit the model; the message lists every mistake, those without a
            line first.
        """
        found = contradictions(self.content)
        mistakes = {*self.find_repeated_keys(), *((self.line(at), wrong) for at, wrong in found)}
        try:
            values = model.model_validate(self.content, context=context)
        except ValidationError as error:
            for mistake in error.errors():
                location: Location = mistake["loc"]
                # A missing key has no line of its own: report it at the mapping that lacks it.
                at = location[:-1] if mistake["type"] == "missing" else location
                mistakes.add((self.line(at) if at else 0, describe(mistake)))
        else:
            if not mistakes:
                return values
        raise self.error_type(
            f"{what} cannot be used:{list_mistakes(self.name, mistakes, self.name)}"
        )


def parse_yaml(text: str, name: str, error_type: type[UsageError] = UsageError) -> YamlFile:
    """Parse the text of a file, which messages call `name`.

    Raises:
      UsageError: the text is not YAML; `error_type` chooses the class, here and for its content.
    """
    try:
        return YamlFile(name, *_nodes_and_content(text), error_type)
    except RecursionError:
        raise error_type(f"{name} is nested too deeply.") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + 1}" if mark else name
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        if problem.startswith("but "):  # like "but found another document"
            problem = f"{getattr(error, 'context', 'it is wrong')}, {problem}"
        raise error_type(f"{where}: not valid YAML: {problem}.") from None


def _nodes_and_content(text: str) -> tuple[yaml.Node | None, Any]:
    # Parsing takes nearly all the time, so the content is made from the same nodes, unless there
    # may be a merge, which would change the nodes.
    if "<<" in text:
        return yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        return node, None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _find_repeated_keys(node: yaml.Node | None, visited: set[int]) -> Iterator[tuple[int, str]]:
    """Line and name of each key that is repeated in a mapping."""
    if id(node) in visited:  # an alias, which may even be recursive
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield key.start_mark.line + 1, key.value
            seen.add(key.value)
            yield from _find_repeated_keys(value, visited)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _find_repeated_keys(value, visited)


def describe_repeated_key(key: str) -> str:
    """The message for a key that occurs twice in one mapping."""
    return f"{key} appears here a second time"


def list_mistakes(name: str, mistakes: Iterable[Mistake], elsewhere: str = "") -> str:
    """Mistakes in a file, each on a line of its own, those without a line in it first.

    Args:
      elsewhere: what the latter are about; "" = nothing that needs a name.
    """
    start = f"{elsewhere}: " if elsewhere else ""
    return "".join(
        f"\n  {name}:{line}: {wrong}" if line else f"\n  {start}{wrong}"
        for line, wrong in sorted(mistakes)
    )
