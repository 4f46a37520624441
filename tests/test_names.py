"""Class names are unique within the program."""

import ast
from collections import defaultdict
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def test_class_names_are_unique():
    places = defaultdict(list)
    for folder in ("transforms", "pipeline"):
        for path in sorted((_ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(f"{path.relative_to(_ROOT)}:{node.lineno}")
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
