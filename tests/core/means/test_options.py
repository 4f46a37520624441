"""The options of means."""

import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.options import MeansOptions


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"interval": 3}, "interval cannot be 3: give hall or student"),
        ({"slice": ["market"]}, r"slice cannot be \['market'\]: give a list of lists, like \[\["),
        ({"slice": [[1]]}, r"slice cannot be \[\[1\]\]: give a list of lists"),
        ({"slice": [[]]}, "slice holds a slice without attributes"),
        ({"slice": [["a", "a"]]}, "slice names an attribute twice in a,a"),
        ({"slice": [["a", "b"], ["b", "a"]]}, "slice holds b,a twice"),
    ],
)
def test_wrong_options_are_named(given, message):
    with pytest.raises(UsageError, match=message):
        MeansOptions(**given)


def test_lists_become_tuples():
    assert MeansOptions([["arm", "market"]]).slice == (("arm", "market"),)
