"""Every public name has its types exported, help that is enough to use it, and an example."""

import doctest
import inspect
import json
import operator
import re
import typing

import apache_beam as beam
import msgspec
import pytest

import goodgain as gg
import goodgain.transforms
from goodgain.transforms.core.option import Scope, options_in

NAMES = sorted({*gg.__all__, *goodgain.transforms.__all__})
# Types of arguments in the help of functions; text, since they name optional packages.
ALIASES = ("ExcludedDocuments", "Labels", "Outcomes", "Qrels", "Traces")
DOCUMENTED = [name for name in NAMES if name not in ALIASES]
# Values that only this package makes; their fields are documented, but of types of its own.
HANDLES = (
    *(
        "Comparison",
        "ConversationRow",
        "ConversationScore",
        "Explanation",
        "FileShard",
        "GateVerdict",
    ),
    *("IterationRow", "Judgment", "Metric", "Prefix", "RankingMetric", "RuleTable", "Run", "Table"),
)
REFERENCE = re.compile(r"Example: see `(\w+)`\.")


def public(name):
    return getattr(gg, name)


def of_goodgain(public):
    return [base for base in public.__mro__ if base.__module__.startswith("goodgain.")]


def functions(public):
    """The function, or the constructor and the public methods and properties of a class."""
    if not inspect.isclass(public):
        return {"": public}
    found = {}
    for owner in of_goodgain(public):
        for name, member in vars(owner).items():
            if name == "__init__" or not name.startswith("_"):
                member = getattr(
                    member, "__func__", getattr(member, "func", getattr(member, "fget", member))
                )
                if inspect.isfunction(member):
                    found.setdefault(name, member)
    return found


def text_of(public):
    """Everything that `help` shows of a name."""
    texts = [inspect.getdoc(public) or ""]
    texts += [inspect.getdoc(function) or "" for function in functions(public).values()]
    return "\n".join(texts)


def types_in(hint):
    if isinstance(hint, type) and typing.get_origin(hint) is None:
        return {hint}
    return set().union(set(), *map(types_in, typing.get_args(hint)))


def test_transforms_are_exported_at_the_top():
    assert set(goodgain.transforms.__all__) <= set(gg.__all__) <= set(dir(gg))
    for name in goodgain.transforms.__all__:
        assert getattr(gg, name) is getattr(goodgain.transforms, name)
    for package in (gg, goodgain.transforms):
        with pytest.raises(AttributeError, match="no attribute 'evalute'"):
            operator.attrgetter("evalute")(package)


@pytest.mark.parametrize("name", [name for name in DOCUMENTED if name not in HANDLES])
def test_types_of_arguments_are_exported(name):
    """Those of the constructor, or of a function."""
    found = functions(public(name))
    hints = {}
    if not inspect.isclass(public(name)):
        # Not resolved, since they name optional packages that are not imported.
        words = re.findall(r"[A-Za-z_]\w*", " ".join(map(str, found[""].__annotations__.values())))
        known = {
            "Any",
            "Callable",
            "Direction",
            "Mapping",
            "None",
            "Path",
            "Sequence",
            "bool",
            "str",
        }
        assert set(words) <= {*known, *NAMES}
        return
    if "__init__" in found and not issubclass(public(name), msgspec.Struct):
        hints = typing.get_type_hints(found["__init__"])
    elif not issubclass(public(name), Exception):
        for owner in reversed(of_goodgain(public(name))):
            hints |= typing.get_type_hints(owner)
    exported = [public(name) for name in NAMES]
    types = set().union(set(), *map(types_in, hints.values()))
    ours = {type_ for type_ in types if type_.__module__.startswith("goodgain.")}
    assert [our.__name__ for our in ours if our not in exported and not issubclass(our, int)] == []


@pytest.mark.parametrize("name", DOCUMENTED)
def test_help_names_every_argument_and_field(name):
    text = text_of(public(name))
    named = set(re.findall(r"\w+", text))
    arguments = set()
    for of, function in functions(public(name)).items():
        if of in ("", "__init__", "default"):
            arguments |= set(inspect.signature(function).parameters) - {"self", "cls"}
    if inspect.isclass(public(name)):
        for owner in of_goodgain(public(name)):
            arguments |= {
                annotation for annotation in owner.__annotations__ if not annotation.startswith("_")
            }
    described = set()
    for line in text.splitlines():
        if found := re.match(r" {2,}([\w, \[\]`]+):\s", line):
            described |= set(re.findall(r"\w+", found[1]))
    if inspect.isclass(public(name)) and issubclass(public(name), msgspec.Struct):
        for scope in typing.get_args(Scope):  # an option has its own description
            described |= options_in(public(name), scope).keys()
    assert arguments - described == set()
    assert named


@pytest.mark.parametrize("name", DOCUMENTED)
def test_help_cites_nothing_that_users_cannot_reach(name):
    found = functions(public(name))
    assert inspect.getdoc(public(name))
    for function in found.values():
        if function.__module__.startswith("goodgain.") and function.__name__ != "__post_init__":
            assert inspect.getdoc(function), function
    text = text_of(public(name))
    assert not re.search(r"SPEC|DESIGN|\bcore\.|sources\.\w|registry", text)


def examples_of(name):
    finder = doctest.DocTestFinder(recurse=inspect.isclass(public(name)))
    return [test for test in finder.find(public(name), name) if test.examples]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that examples read."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "traces").mkdir()
    (folder / "incoming").mkdir()
    calls = [
        {
            "conversation_id": name,
            "iteration": 1,
            "attributes": {"query": "q"},
            "results": [{"ids": {"doc_id": "a"}, "gain": 3}],
        }
        for name in ("c-1", "c-2")
    ]
    (folder / "traces" / "a.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls))
    (folder / "qrels.txt").write_text("q 0 a 4\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", *DOCUMENTED])
def test_every_name_has_an_example_that_runs(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    if not name:
        tests = doctest.DocTestFinder(recurse=False).find(gg)
    elif not (tests := examples_of(name)):
        (other,) = REFERENCE.findall(inspect.getdoc(public(name)))
        shown = "\n".join(
            example.source for test in examples_of(other) for example in test.examples
        )
        assert re.search(rf"\b{name}\b", shown), f"the example of {other} does not use {name}"
        return
    for test in tests:
        result = doctest.DocTestRunner().run(test)
        assert result.attempted
        assert not result.failed, test.name


def test_transforms_are_transforms():
    for name in goodgain.transforms.__all__:
        assert issubclass(public(name), beam.PTransform)
