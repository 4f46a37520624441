"""Outputs of a comparison of two small runs that differ in known ways."""

import json

from msgspec.structs import replace

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.folder import write_manifest
from goodgain.pipeline.results.manifest_counts import FileOfRun
from tests.pipeline.views.pages.outputs import search, write_outputs

PAIRS = 12  # c-00 to c-11; CG of the candidate is 2 higher in even ones and 1 lower in c-01
ONLY_IN_BASE = "z-gone"


def arms(name="c", attributes=None):
    """Records of base and candidate."""
    base, candidate = [], []
    for at in range(PAIRS):
        identity = f"{name}-{at:02}"
        own = {"market": ("north", "south")[at % 3 == 0], **(attributes or {})}
        first, second = [(1, 3), (2, at % 5)], [(1, 3), (3, 0)]
        base += [search(identity, 1, first, own), search(identity, 2, second, own)]
        if at % 2 == 0:
            second = [(1, 3), (3, 2)]
        if at == 1:
            first = [(1, 2), (2, at % 5)]
        candidate += [search(identity, 1, first, own), search(identity, 2, second, own)]
    return [*base, search(ONLY_IN_BASE, 1, [(1, 3)], {"market": "north"})], candidate


def write_comparison(folder, records, *words, parameters=({}, {}), scoring=None):
    """Compare the records of two runs, and return the folder of the comparison."""
    places = [folder / name for name in ("base", "candidate")]
    for place, of_arm, more in zip(places, records, parameters, strict=True):
        more = {"input": [f"{place.name}.avro"], **more}
        manifest = write_outputs(place, of_arm, parameters=more, scoring=scoring)
        inputs = tuple(FileOfRun(path, 1) for path in more["input"])
        write_manifest(str(place), replace(manifest, inputs=inputs))
    output = folder / "comparison"
    assert main(["compare", *map(str, places), "--output", str(output), *words]) == 0
    return output


def edit_manifest(output, **values):
    """Replace values in the manifest of a comparison."""
    path = output / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
