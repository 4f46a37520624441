"""Characters have the normal forms and the case of Unicode 14 in every version of Python."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_hexdigest

from goodgain.transforms.core.unicode_14 import (
    by_pieces,
    casefold,
    fold_nfkc,
    is_printable,
    keep_assigned,
    lower,
)
from tests.reference import newer_characters as reference

SURROGATES = range(0xD800, 0xE000)
CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if code not in SURROGATES]
WHITE_SPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
UNASSIGNED = 829_834
# From Unicode 15: letters that decompose, and marks of the classes 220, 230 and 9.
NEWER = "\U0001e030\U0001e06d\U00010efd\U0001e08f\U0001e4ec\U0001e4ef\U00011f41\u0ece"
# A mark that is not assigned yet would be sorted among these: classes 1, 202, 220, 230 and 240.
MARKS = "\u0334\u0321\u0323\u0301\u0345"
# In upper and lower case, in a compatibility form, and where the last one differs.
LETTERS = "eE\u00e9\ufb01\uff21\u0130Σς\u1100\u1161\u11a8\uac00\u0df2 "
texts = st.text(alphabet=NEWER + MARKS + LETTERS) | st.text()


@pytest.mark.slow
def test_what_is_not_assigned():
    unassigned = set(CHARACTERS) - set(keep_assigned("".join(CHARACTERS)))
    assert len(unassigned) == UNASSIGNED
    # Nothing that is assigned once is ever taken back.
    assert unassigned >= {
        character for character in CHARACTERS if unicodedata.category(character) == "Cn"
    }


def test_pieces_are_changed_on_their_own():
    bracketed = by_pieces(lambda piece: f"<{piece}>")
    assert bracketed("a\u0301\U0001e030\U00010efdé\u0378") == (
        "<a\u0301>\U0001e030\U00010efd<é>\u0378<>"
    )
    assert bracketed("é😀") == "<é😀>"


@given(texts)
def test_newer_characters_stay_as_they_are(text):
    assert fold_nfkc(text) == reference.casefold(reference.nfkc(text))
    assert casefold(text) == reference.casefold(text)
    assert lower(text) == reference.lower(text)


@given(texts)
def test_python_3_11_itself_changes_pieces_on_their_own(text):
    """There the functions are Python's own; elsewhere this says nothing."""
    for change in (fold_nfkc, casefold, lower):
        assert by_pieces(change)(text) == change(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "context", "recorded"),
    [
        (fold_nfkc, "{}", "8848d64d54b3c0fc"),
        (fold_nfkc, "a{}\u0301\u0323", "ea70deed438d8d17"),
        (casefold, "{}", "2972f25c0f8cd4af"),
        (lower, "A\u03a3{}A\u03a3", "6a62715ab5350743"),
    ],
)
def test_every_character(change, context, recorded):
    text = "\n".join(map(context.format, CHARACTERS))
    assert xxh3_64_hexdigest(change(text).encode()) == recorded


def test_white_space():
    assert "".join(character for character in CHARACTERS if character.isspace()) == WHITE_SPACE


@pytest.mark.parametrize(
    ("text", "expected"), [("a é", True), ("\u0378", False), ("\U0001e030", False), ("\x07", False)]
)
def test_printable_text(text, expected):
    assert is_printable(text) is expected
