"""All golden outputs, and the digests that are recorded of them."""

from pathlib import Path

from tests.golden.cases import CASES
from tests.golden.comparisons import COMPARISONS, outputs_of_comparison
from tests.golden.digests import digests, from_text
from tests.golden.outputs import READINGS, Outputs, outputs_of, reading_by
from tests.golden.stream import STREAMS, outputs_of_stream
from tests.golden.traces import FORMATS

FOLDER = Path(__file__).parent / "expected"


def _of_case(case, number):
    left_out = FORMATS[number % len(FORMATS)] if len(case.formats) > 1 else None
    return lambda folder, command: outputs_of(case, left_out, folder, command)


def _of_comparison(case):
    def make(folder, command):
        found = Outputs(folder)
        for name, document in outputs_of_comparison(case, folder, command).items():
            found.add(name, document, name)
        return found

    return make


def _of_stream(case):
    def make(folder, _):
        found = Outputs(folder)
        for reading in READINGS:
            with reading_by(reading):
                for name, rows in outputs_of_stream(case).items():
                    found.add(name, rows, reading)
        return found

    return make


# By name, functions of a folder and a `Command` that return `Outputs`.
GOLDEN = {
    **{case.name: _of_case(case, number) for number, case in enumerate(CASES)},
    **{f"compare {case.name}": _of_comparison(case) for case in COMPARISONS},
    **{f"stream {case.name}": _of_stream(case) for case in STREAMS},
}


def path_of(name):
    """The file of recorded digests."""
    return FOLDER / f"{name.replace(' ', '_')}.json"


def read_recorded(name):
    """The recorded digests of an output; {} if none are."""
    path = path_of(name)
    return from_text(path.read_text()) if path.exists() else {}


def make(name, folder, command):
    """(outputs, their digests), made now."""
    outputs = GOLDEN[name](folder, command)
    return outputs, digests(outputs.tables)
