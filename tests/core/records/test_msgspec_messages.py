"""Error messages of msgspec are parsed as the pinned release words them."""

from importlib.metadata import version
from importlib.resources import files

import msgspec
import pytest

from goodgain.transforms.core.records.record_errors import (
    find_missing_field,
    path_to_wrong_value,
)
from goodgain.transforms.core.records.search_call import SearchCall, timestamp_hook

RECORD = {"conversation_id": "c", "iteration": 1}


def message_of(record):
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(record, SearchCall, dec_hook=timestamp_hook)
    return str(raised.value)


def test_the_installed_release_is_the_pinned_one():
    pins = files("goodgain.configs").joinpath("constraints.txt").read_text().split()
    assert f"msgspec=={version('msgspec')}" in pins


@pytest.mark.parametrize(
    ("record", "message", "missing", "steps"),
    [
        (
            {"iteration": 1},
            "Object missing required field `conversation_id`",
            "conversation_id",
            (),
        ),
        ({**RECORD, "turn": "x"}, "Expected `int`, got `str` - at `$.turn`", None, ("turn",)),
        ({**RECORD, "turn": 0}, "Expected `int` >= 1 - at `$.turn`", None, ("turn",)),
        (
            {**RECORD, "results": [{}, {"gain": 5}]},
            "Expected `int` <= 4 - at `$.results[1].gain`",
            None,
            ("results", 1, "gain"),
        ),
        (
            {**RECORD, "attributes": {"a": 1}},
            "Expected `str`, got `int` - at `$.attributes[...]`",
            None,
            ("attributes",),
        ),
        (
            {**RECORD, "results": [{"ids": {"a": ["x", 1]}}]},
            "Expected `str`, got `int` - at `$.results[0].ids[...][1]`",
            None,
            ("results", 0, "ids"),
        ),
        (7, "Expected `object`, got `int`", None, ()),
    ],
)
def test_messages_give_the_missing_field_or_the_path(record, message, missing, steps):
    assert message_of(record) == message
    assert find_missing_field(message) == missing
    assert path_to_wrong_value(message) == steps
