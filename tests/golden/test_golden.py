"""Outputs are as recorded; `make golden` records them again and prints what changed."""

import pytest

from tests.golden.differences import differences
from tests.golden.outputs import Command
from tests.golden.recorded import FOLDER, GOLDEN, make, path_of, read_recorded

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", GOLDEN)
def test_outputs_are_as_recorded(name, tmp_path, capsys):
    outputs, now = make(name, tmp_path, Command(capsys.readouterr))
    assert outputs.differing == []
    changes = differences(read_recorded(name), now)
    hint = "If this is intended, run `make golden`, and say in the commit what changed and why."
    assert not changes, "\n".join([f"Outputs of {name!r} changed:", *changes, hint])


def test_every_recorded_file_has_its_outputs():
    assert set(FOLDER.iterdir()) == {path_of(name) for name in GOLDEN}
