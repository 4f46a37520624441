"""Options in messages, as arguments in Python."""

import pytest

from goodgain.pipeline.settings.wording import for_python


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "add --map ids.a=b,gain=rel; --allow-no-good accepts it.",
            'add mapping={"ids.a": "b", "gain": "rel"}; allow_no_good=True accepts it.',
        ),
        ("add --map gain=rel.", 'add mapping={"gain": "rel"}.'),
        ("name it with --map results=FIELD, or", 'name it with mapping={"results": "FIELD"}, or'),
        ("--map names fields", "mapping names fields"),
        ("Lower it with --good-gain-threshold 1, or", "Lower it with good_gain_threshold=1, or"),
        ("the pattern of --input, and", "the pattern of traces, and"),
        ("pair by q (--pair-by q), which", 'pair by q (pair_by="q"), which'),
        ("one of them with --by ATTRIBUTE.", "one of them with by=ATTRIBUTE."),
        ("a smaller --tolerance, or --slice", "a smaller tolerances, or slices"),
        (
            "Run `goodgain pool build --update`, or --force.",
            "Run `goodgain pool build --update`, or force=True.",
        ),
        ("well-known -- and a--b", "well-known -- and a--b"),
    ],
)
def test_options_become_arguments(text, expected):
    assert for_python(text) == expected
