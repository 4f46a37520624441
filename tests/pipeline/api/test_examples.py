"""Examples in the help of public names run, and the help cites no internal documents."""

import doctest
import inspect

import pytest

import goodgain as gg


@pytest.mark.parametrize("name", gg.__all__)
def test_every_public_name_has_help_without_internal_references(name):
    public = getattr(gg, name)
    texts = [inspect.getdoc(public) or ""]
    if inspect.isclass(public):
        members = (one for key, one in vars(public).items() if not key.startswith("_"))
        texts += [inspect.getdoc(one) or "" for one in members if callable(one)]
    assert all(texts)
    assert not [text for text in texts if "SPEC" in text or "DESIGN" in text]


def test_examples_run():
    ran = 0
    for found in (gg, *(getattr(gg, name) for name in gg.__all__)):
        for test in doctest.DocTestFinder(recurse=inspect.isclass(found)).find(found):
            result = doctest.DocTestRunner().run(test)
            assert result.failed == 0, test.name
            ran += result.attempted
    assert ran >= 10
    assert set(gg.__all__) <= set(dir(gg))
