"""The words of errors about files."""

import os
from io import UnsupportedOperation

import pytest

from goodgain.transforms.core.errors import missing_file, problem_of


def test_standard_input_is_explained():
    message = "x matches no file; check the path."
    assert str(missing_file("x", message)) == message
    assert str(missing_file("-", message)).startswith("Standard input (-) is not read: write it to")


def test_a_problem_is_a_phrase_without_number_and_path(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        (tmp_path / "no").read_text()
    assert problem_of(missing.value) == "No such file or directory"
    assert problem_of(ValueError("It broke.")) == "It broke"


def test_a_pipe_is_named_where_a_file_is_needed():
    read, write = os.pipe()
    with open(read, "rb") as pipe, open(write, "wb"), pytest.raises(UnsupportedOperation) as error:
        pipe.seek(0)
    assert problem_of(error.value) == "it is a pipe, where a file is needed"
