"""The conformity table shows what the tests compare."""

from __future__ import annotations

from tests.conformity.table import FILE, table


def test_the_table_is_up_to_date():
    """To update it: python -m tests.conformity.table"""
    assert FILE.read_text(encoding="utf-8") == table()
