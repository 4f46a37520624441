"""Options as fields of Structs declare them."""

from typing import Annotated

from msgspec import Struct

from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.option import LIMITS, Option, differs_beside, options_in

LINES = Option(LIMITS, "N", "read so many lines", at_least=1)
ROWS = Option(LIMITS, "N", "show so many rows", "run")


class Reader(Struct, frozen=True):
    name: str
    lines: Annotated[int, LINES] = 10
    rows: Annotated[int | None, ROWS] = None
    size: Annotated[int, "in bytes"] = 0


def test_a_field_is_an_option_in_the_scope_that_it_declares():
    ((name, declared),) = options_in(Reader).items()
    assert (name, declared.option, declared.type, declared.default) == ("lines", LINES, int, 10)
    assert [found.option for found in options_in(Reader, "run").values()] == [ROWS]
    assert options_in(Reader, "means") == {}


def test_limits_of_reading_are_options():
    assert {"max_decoded_bytes", "max_record_results"} <= options_in(ReadBounds).keys()
    assert "max_rejected_rows" in options_in(ReadBounds, "run")


def test_values_differ_from_defaults_besides_the_fields_that_are_known():
    assert not differs_beside(Reader("a"), ("name",))
    assert not differs_beside(Reader("a", lines=3), ("name", "lines"))
    assert differs_beside(Reader("a", lines=3), ("name",))
    assert differs_beside(Reader("a", rows=0), ("name", "lines"))
