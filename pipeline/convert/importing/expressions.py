"""JMESPath expressions of a mapping, compiled to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.visitor import TreeInterpreter

from goodgain.pipeline.convert.importing.trace_functions import TraceFunctions, compile_pattern

Expression = Callable[[Any], Any]


def compile_expression(text: str, functions: TraceFunctions) -> Expression:
    """An expression as a function that returns null for data which its functions do not accept.

    Raises:
      JMESPathError: not an expression, or it calls an unknown function; the message says where.
    """
    parsed = jmespath.compile(text).parsed
    _check_functions(parsed, functions)
    evaluate = _ExpressionCompiler(functions).compile_node(parsed)

    def evaluate_or_null(value: Any) -> Any:
        try:
            return evaluate(value)
        # TypeError: the library compares strings with numbers.
        except (JMESPathError, TypeError):
            return None

    return evaluate_or_null


def is_true(value: Any) -> bool:
    """Whether JMESPath treats a value as true."""
    return value is not None and value is not False and value not in ("", [], {})


def _check_functions(node: Any, functions: TraceFunctions) -> None:
    """Refuse unknown functions and wrong patterns, and note the names of fields."""
    if node["type"] == "field":
        functions.fields.add(node["value"])
    if node["type"] == "function_expression" and node["value"] not in functions.FUNCTION_TABLE:
        raise JMESPathError(f"there is no function {node['value']}()")
    if node["type"] == "function_expression" and node["value"] == "match":
        for argument in node["children"][1:]:
            if argument["type"] == "literal" and isinstance(argument["value"], str):
                compile_pattern(argument["value"])
    for child in node["children"]:
        _check_functions(child, functions)


class _ExpressionCompiler:
    """Compiles the usual expressions of mappings to closures, at a fifth of the library's cost.

    The library's interpreter evaluates the rest (projections, filters, slices).
    """

    def __init__(self, functions: TraceFunctions) -> None:
        self._functions = functions
        self._interpreter = TreeInterpreter(jmespath.Options(custom_functions=functions))

    def compile_node(self, node: Any) -> Expression:
        compile_ = getattr(self, f"_{node['type']}", None)
        if compile_ is not None:
            return cast(Expression, compile_(node))
        visit = self._interpreter.visit
        return lambda value: visit(node, value)

    def _field(self, node: Any) -> Expression:
        name = node["value"]
        return lambda value: value.get(name) if isinstance(value, dict) else None

    def _subexpression(self, node: Any) -> Expression:
        steps = [self.compile_node(child) for child in node["children"]]

        def follow(value: Any) -> Any:
            for step in steps:
                value = step(value)
            return value

        return follow

    def _current(self, _: Any) -> Expression:
        return lambda value: value

    def _literal(self, node: Any) -> Expression:
        literal = node["value"]
        return lambda _: literal

    def _or_expression(self, node: Any) -> Expression:
        left, right = map(self.compile_node, node["children"])

        def either(value: Any) -> Any:
            left_value = left(value)
            return left_value if is_true(left_value) else right(value)

        return either

    def _and_expression(self, node: Any) -> Expression:
        left, right = map(self.compile_node, node["children"])

        def both(value: Any) -> Any:
            left_value = left(value)
            return right(value) if is_true(left_value) else left_value

        return both

    def _comparator(self, node: Any) -> Expression:
        if node["value"] != "eq" or not any(
            child["type"] == "literal" and isinstance(child["value"], str)
            for child in node["children"]
        ):
            return lambda value: self._interpreter.visit(node, value)
        left, right = map(self.compile_node, node["children"])
        return lambda value: left(value) == right(value)

    def _function_expression(self, node: Any) -> Expression:
        name = node["value"]
        arguments = [self.compile_node(child) for child in node["children"]]
        signature_of = self._functions.FUNCTION_TABLE[name]["signature"]
        if signature_of == ({"types": []},) and len(arguments) == 1:  # nothing to validate
            (argument,) = arguments
            function = getattr(self._functions, f"_func_{name}")
            return lambda value: function(argument(value))
        call = self._functions.call_function
        return lambda value: call(name, [argument(value) for argument in arguments])
