"""Reads users' YAML, and reports every mistake in it at once, with file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from goodgain.transforms.core.errors import UsageError

Location = tuple[int | str, ...]
_Model = TypeVar("_Model", bound=BaseModel)


def read_text(path: str, what: str) -> str:
    """The text of a local file; messages call the expected content `what`.

    Raises:
      UsageError: it cannot be read, or is not text.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8; write {what} in YAML.") from None


def parse_yaml(
    text: str, name: str, error_type: type[UsageError] = UsageError
) -> tuple[yaml.Node | None, Any]:
    """Parse a text into its nodes, which have line numbers, and its content.

    Messages call the file `name`.

    Raises:
      UsageError: the text is not YAML; `error_type` chooses the class.
    """
    try:
        return _nodes_and_content(text)
    except RecursionError:
        raise error_type(f"{name} is nested too deeply.") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + 1}" if mark else name
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
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


def line_of(node: yaml.Node | None, location: Location) -> int:
    """The line, from 1, of the deepest existing part of a location.

    A location is keys of mappings and indexes in lists, outermost first.
    """
    line = 1
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


def repeated_keys(
    node: yaml.Node | None, visited: set[int] | None = None
) -> Iterator[tuple[int, str]]:
    """Line and name of each key that is repeated in a mapping; YAML itself keeps the last."""
    visited = set() if visited is None else visited
    if id(node) in visited:  # an alias, which may even be recursive
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield key.start_mark.line + 1, key.value
            seen.add(key.value)
            yield from repeated_keys(value, visited)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from repeated_keys(value, visited)


def repeated(key: str) -> str:
    """The message for a key that occurs twice in one mapping."""
    return f"{key} appears here a second time"


def _none(content: Any) -> Iterable[tuple[Location, str]]:
    return ()


def read_model(
    model: type[_Model],
    text: str,
    name: str,
    what: str,
    describe: Callable[[Any], str],
    context: Any = None,
    contradictions: Callable[[Any], Iterable[tuple[Location, str]]] = _none,
    error_type: type[UsageError] = UsageError,
) -> _Model:
    """The values in a YAML text.

    Args:
      name: what messages call the file.
      what: what messages call its content, like "The gate".
      describe: puts a pydantic error into words.
      context: for the model's validators.
      contradictions: further mistakes in the content, which may also have others.

    Raises:
      UsageError: it is not YAML, or does not fit the model; the message lists every mistake, those
        without a line first. `error_type` chooses the class.
    """
    tree, content = parse_yaml(text, name, error_type)
    mistakes = {(line, repeated(key)) for line, key in repeated_keys(tree)}
    mistakes |= {(line_of(tree, location), wrong) for location, wrong in contradictions(content)}
    try:
        values = model.model_validate(content, context=context)
    except ValidationError as error:
        for mistake in error.errors():
            location: Location = mistake["loc"]
            # A missing key has no line of its own: report it at the mapping that lacks it.
            line_location = location[:-1] if mistake["type"] == "missing" else location
            line = line_of(tree, line_location) if line_location else 0
            mistakes.add((line, describe(mistake)))
    else:
        if not mistakes:
            return values
    lines = [
        f"{name}:{line}: {wrong}" if line else f"{name}: {wrong}"
        for line, wrong in sorted(mistakes)
    ]
    raise error_type(f"{what} cannot be used:\n  " + "\n  ".join(lines))
