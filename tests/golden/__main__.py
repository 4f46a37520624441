"""Records the golden outputs again and prints what changed: `python -m tests.golden [NAME ...]`.

All rows go to out/golden. If it holds the rows that were recorded last, from an earlier call, the
first value that differs is printed, too.
"""

import io
import json
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.golden.differences import differences
from tests.golden.digests import as_text, columns_of, digests
from tests.golden.outputs import Command
from tests.golden.recorded import FOLDER, GOLDEN, make, path_of, read_recorded
from tests.quick_beam import cache_beam_lookups

_ROWS = Path("out/golden")
_MOST_VALUES = 10  # that are shown of each set of options


class _Capture:
    """What was printed since the last call, like pytest's."""

    def __init__(self):
        self.output, self.messages = io.StringIO(), io.StringIO()

    def __call__(self):
        printed = self.output.getvalue(), self.messages.getvalue()
        for stream in (self.output, self.messages):
            stream.seek(0)
            stream.truncate()
        return printed


def main(names):
    """Record the outputs with these names, or all; 1 if combinations of formats differ."""
    cache_beam_lookups()
    FOLDER.mkdir(exist_ok=True)
    differing = False
    for name in names or GOLDEN:
        capture = _Capture()
        with (
            tempfile.TemporaryDirectory() as folder,
            redirect_stdout(capture.output),
            redirect_stderr(capture.messages),
        ):
            outputs, now = make(name, Path(folder), Command(capture))
        before = read_recorded(name)
        changes = differences(before, now)
        _say(f"{name}: {'changed' if changes else 'as recorded'}")
        for line in (*outputs.differing, *changes, *_some_values(name, before, outputs.tables)):
            _say(f"  {line}")
        differing |= bool(outputs.differing)
        if changes:
            path_of(name).write_text(as_text(now))
        _keep_rows(name, outputs.tables)
    if not names:
        for path in set(FOLDER.iterdir()) - {path_of(name) for name in GOLDEN}:
            _say(f"{path.name}: deleted, since nothing makes it")
            path.unlink()
    return int(differing)


def _say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _rows_of(name):
    return _ROWS / path_of(name).name


def _keep_rows(name, tables):
    _ROWS.mkdir(parents=True, exist_ok=True)
    _rows_of(name).write_text(json.dumps(tables, default=str))


def _some_values(name, before, tables):
    """The first value that differs in some changed columns, each of another name."""
    found = {}
    for column, line in _values(name, before, tables):
        found.setdefault(column, line)
    return list(found.values())[:_MOST_VALUES]


def _values(name, before, tables):
    """(column, first value that differs) of all tables, if the rows before are at hand."""
    path = _rows_of(name)
    if not path.exists() or digests(old := json.loads(path.read_text())) != before:
        return
    for output in old.keys() & tables.keys():
        new = columns_of(output, json.loads(json.dumps(tables[output], default=str)))
        for table, (_, columns) in columns_of(output, old[output]).items():
            for place, values in columns.items():
                if table in new and place in new[table][1]:
                    column = place[1] if isinstance(place, tuple) else place
                    where = " of ".join((column, *place[:1])) if column != place else place
                    for line in _first(f"{table}, {where}", values, new[table][1][place]):
                        yield column, line


def _first(where, before, now):
    for at, (old, new) in enumerate(zip(before, now, strict=False), start=1):
        if old != new:
            yield f"{where}, value {at}: {old!r} became {new!r}"
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
