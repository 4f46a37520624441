"""Compiles the records of an Avro schema to a Python function, which takes half of fastavro's time.

fastavro compares the kind of each value's type with the names of all kinds, and calls a file's
`read` for each byte of a number. The function instead has the code of each field in a row, and no
call for most values. It decodes what writers write as a rule, to the same records as fastavro; all
else, such as damage, it leaves to fastavro.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.avro_plan import AvroPlan
from goodgain.transforms.core.files.varint import read_zigzag

_MOST_VALUES = 500  # of types in a schema, each counted wherever it is used
_MOST_LOOPS = 8  # inside of each other; Python compiles 20, and each list has two
_MOST_INSIDE = 40  # types inside of each other; Python compiles 100 indents, and a union is one
_MOST_BRANCHES = 64  # of a union
_MOST_NAMED = 100_000  # characters of names and symbols, each counted wherever it is used
_MOST_COMPILED = 16
_LEAST_LONG, _GREATEST_LONG = -(2**63), 2**63 - 1
# The length or count that a single byte stands for; -1 for all that takes a call.
_LENGTHS = tuple(byte >> 1 if byte < 128 and not byte & 1 else -1 for byte in range(256))

# Decodes the data of a block to so many records; None if that is left to fastavro.
DecodeRecords = Callable[[bytes, int], list[Any] | None]
# The records, and the offset after them.
_Compiled = Callable[[bytes, int], tuple[list[Any], int]]


class UncommonError(GoodGainError):
    """A schema or data that is left to fastavro."""


def compile_records(plan: AvroPlan) -> DecodeRecords | None:
    """The function for the records of a plan; None for types inside themselves or very many."""
    try:
        compiled = _compile(_write_function(plan))
    except UncommonError:
        return None

    def decode(data: bytes, count: int) -> list[Any] | None:
        try:
            records, end = compiled(data, count)
        except (UncommonError, IndexError, ValueError, OverflowError, struct.error):
            return None
        return records if end == len(data) else None

    return decode


def _read_length(data: bytes, at: int) -> tuple[int, int]:
    """A length at any offset, and the offset of its last byte."""
    low, high = data[at], data[at + 1]
    if low > 127 and high < 128 and not low & 1:  # the common case, since shorter ones take no call
        return (low & 127 | high << 7) >> 1, at + 1
    value, end = read_zigzag(data, at)
    if value < 0:
        raise UncommonError("a length is negative")
    return value, end - 1


def _read_long(data: bytes, at: int) -> tuple[int, int]:
    value, end = read_zigzag(data, at)
    if not _LEAST_LONG <= value <= _GREATEST_LONG:
        raise UncommonError("a number has more than 64 bits")
    return value, end


_GLOBALS = {
    "lengths": _LENGTHS,
    "read_length": _read_length,
    "read_long": _read_long,
    "read_float": struct.Struct("<f").unpack_from,
    "read_double": struct.Struct("<d").unpack_from,
    "UncommonError": UncommonError,
}


@lru_cache(_MOST_COMPILED)
def _compile(source: str) -> _Compiled:
    found: dict[str, Any] = dict(_GLOBALS)
    exec(compile(source, "<records of an Avro schema>", "exec"), found)
    decode: _Compiled = found["decode"]
    return decode


def _write_function(plan: AvroPlan) -> str:
    """The source of the function.

    Of the schema it has only numbers, and names as literals.

    Raises:
      UncommonError: the types are not to be compiled.
    """
    writer = _Writer(plan)
    with writer.block("def decode(data, count):"):
        writer.write("at = 0", "records = []")
        with writer.block("for _ in range(count):"):
            record = writer.write_value(plan.top)
            writer.write(f"records.append({record})")
        writer.write("return records, at")
    return writer.source()


class _Writer:
    """Writes code that reads values: each begins at `data[at]`, and moves `at` behind it."""

    def __init__(self, plan: AvroPlan) -> None:
        self._types = plan.types
        self._lines: list[str] = []
        self._indent = ""
        self._values = 0
        self._open: list[int] = []  # the types that the current one is inside of
        self._loops = 0
        self._named = 0

    def source(self) -> str:
        return "\n".join(self._lines)

    def write(self, *lines: str) -> None:
        self._lines += [self._indent + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.write(head)
        before, self._indent = self._indent, self._indent + " "
        yield
        self._indent = before

    def write_value(self, number: int) -> str:
        """Write what reads a value of a type; returns the expression that it then is."""
        kind, detail = self._types[number]
        self._values += 1
        inside = self._open
        if number in inside or len(inside) >= _MOST_INSIDE or self._values > _MOST_VALUES:
            raise UncommonError("a type is inside itself, or there are too many")
        self._open.append(number)
        value = f"v{self._values}"
        if kind == "record":
            value = self._write_record(detail)
        elif kind == "union":
            self._write_union(value, detail)
        elif kind == "array":
            with self._write_loop(value, "[]"):
                self.write(f"{value}.append({self.write_value(detail)})")
        elif kind == "map":
            with self._write_loop(value, "{}"):
                key = f"k{value}"
                self._write_text(key, ".decode()")
                self.write(f"{value}[{key}] = {self.write_value(detail)}")
        elif kind == "null":
            value = "None"
        else:
            self._write_plain(kind, detail, value)
        self._open.pop()
        return value

    def _write_plain(self, kind: str, detail: Any, value: str) -> None:
        if kind == "string":
            self._write_text(value, ".decode()")
        elif kind == "bytes":
            self._write_text(value, "")
        elif kind in ("int", "long"):
            self.write("n = data[at]")
            with self.block("if n < 128:"):
                self.write("at += 1", f"{value} = n >> 1 ^ -(n & 1)")
            with self.block("else:"):
                self.write(f"{value}, at = read_long(data, at)")
        elif kind in ("float", "double"):
            size = 4 if kind == "float" else 8
            self.write(f"({value},) = read_{kind}(data, at)", f"at += {size}")
        elif kind == "boolean":
            self.write(f"{value} = data[at] != 0", "at += 1")
        elif kind == "enum":
            self._write_length()
            self._count_names(detail)
            self.write(f"{value} = {tuple(detail)!r}[n]")
        else:
            raise UncommonError(f"{kind} is uncommon")

    def _write_length(self) -> None:
        """Write what reads a length, count or symbol to `n`."""
        self.write("n = lengths[data[at]]")
        with self.block("if n < 0:"):
            self.write("n, at = read_length(data, at)")
        self.write("at += 1")

    def _write_text(self, value: str, decode: str) -> None:
        self._write_length()
        self.write("begin = at", "at += n", f"{value} = data[begin:at]{decode}")

    def _write_record(self, fields: list[tuple[str, int]]) -> str:
        self._count_names([name for name, _ in fields])
        values = [f"{name!r}: {self.write_value(number)}" for name, number in fields]
        return "{" + ", ".join(values) + "}"

    def _count_names(self, names: list[str]) -> None:
        self._named += sum(map(len, names))
        if self._named > _MOST_NAMED:
            raise UncommonError("names are long")

    def _write_union(self, value: str, branches: list[int]) -> None:
        if len(branches) > _MOST_BRANCHES:
            raise UncommonError("the number of a branch takes two bytes")
        self.write("n = data[at]", "at += 1")
        for branch, number in enumerate(branches):
            with self.block(f"{'elif' if branch else 'if'} n == {2 * branch}:"):
                self.write(f"{value} = {self.write_value(number)}")
        with self.block("else:"):
            self.write('raise UncommonError("a union has no such branch")')

    @contextmanager
    def _write_loop(self, value: str, empty: str) -> Iterator[None]:
        """Write what collects items: blocks, each after its number of items, up to an empty one."""
        self._loops += 1
        if self._loops > _MOST_LOOPS:
            raise UncommonError("lists are deep inside of each other")
        self.write(f"{value} = {empty}")
        with self.block("while True:"):
            self._write_length()
            with self.block("if n == 0:"):
                self.write("break")
            with self.block("for _ in range(n):"):
                yield
        self._loops -= 1
