"""Options in messages, as arguments in Python."""

import pytest

from goodgain.pipeline.settings.wording import as_argument, phrase_for_python
from goodgain.transforms.core.errors import RecordError, UsageError
from goodgain.transforms.core.remedy import Remedy, word


@pytest.mark.parametrize(
    ("remedy", "expected"),
    [
        (Remedy("map", {"ids.a": "b", "gain": "rel"}), 'mapping={"ids.a": "b", "gain": "rel"}'),
        (Remedy("map", {"results": "FIELD"}), 'mapping={"results": "FIELD"}'),
        (Remedy("map"), "mapping"),
        (Remedy("allow_no_good"), "allow_no_good=True"),
        (Remedy("force"), "force=True"),
        (Remedy("good_gain_threshold", 1), "good_gain_threshold=1"),
        (Remedy("input"), "traces"),
        (Remedy("pair_by", "q"), 'pair_by="q"'),
        (Remedy("by", "ATTRIBUTE"), "by=ATTRIBUTE"),
        (Remedy("tolerance"), "tolerances"),
        (Remedy("slice"), "slices"),
        (Remedy("runner", "FlinkRunner"), 'runner="FlinkRunner"'),
    ],
)
def test_options_become_arguments(remedy, expected):
    assert word("Give " + remedy + ".", as_argument) == f"Give {expected}."


def test_commands_stay_as_they_are():
    text = "Run `goodgain pool build --update`, or " + Remedy("force") + "."
    assert word(text, as_argument) == "Run `goodgain pool build --update`, or force=True."


@pytest.mark.parametrize(
    "error", [UsageError("Raise " + Remedy("max_i")), RecordError("Raise " + Remedy("max_i"), "f")]
)
def test_errors_raised_inside_name_arguments(error):
    with pytest.raises(type(error), match=r"^Raise max_i$"), phrase_for_python():
        raise error
