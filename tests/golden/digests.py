"""Digests of outputs: one for each column, so that a new column changes no other digest.

Tables with a column `metric` have a digest for each metric and column. Columns of documents are
paths: `results[].gain` is the list of all values there.
"""

import json
from collections import defaultdict
from hashlib import blake2b

_BYTES = 3
_EMPTY = "-"  # a column that is null in every row
_ABSENT = "."  # a column that a metric does not have
_HEAD = "(columns)"
ROWS = "(rows)"


def digests(outputs):
    """The digests of outputs.

    Args:
      outputs: rows, or a document as one dict, by name.

    Returns:
      By table, digests by column, or by (metric, column).
    """
    return {
        table: {ROWS: str(rows), **{place: _digest(values) for place, values in columns.items()}}
        for name, output in outputs.items()
        for table, (rows, columns) in columns_of(name, output).items()
    }


def columns_of(name, output):
    """By table, the number of rows, and the values of each column, or (metric, column).

    Lists of rows with a metric inside a document are tables of their own.
    """
    if isinstance(output, list):
        return {name: _table(output)}
    columns, tables = defaultdict(list), defaultdict(list)
    _collect(output, "", columns, tables)
    inner = {f"{name} {path}": _table(rows) for path, rows in tables.items()}
    return {name: (1, columns), **inner}


def _table(rows):
    columns = defaultdict(list)
    by_metric = all("metric" in row for row in rows)
    for row in rows:
        for column, value in row.items():
            if not by_metric:
                columns[column].append(value)
            elif column != "metric":
                columns[row["metric"], column].append(value)
    return len(rows), columns


def _collect(value, path, columns, tables):
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            _collect(inner, f"{path}.{name}" if path else str(name), columns, tables)
    elif isinstance(value, list) and value and all(isinstance(element, dict) for element in value):
        if all("metric" in element for element in value):
            tables[path] += value
            return
        columns[f"{path}[]"].append(len(value))
        for element in value:
            _collect(element, f"{path}[]", columns, tables)
    else:
        columns[path].append(value)


def _digest(values):
    if all(value is None for value in values):
        return _EMPTY
    text = json.dumps(_plain(values), sort_keys=True, ensure_ascii=False, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).hexdigest()


def _plain(value):
    """A value with whole floats as integers: in memory they are what the metric returned."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def as_text(found):
    """Digests as JSON to be kept, with one line for each column, or for all columns of a metric."""
    return json.dumps({name: _lines(found[name]) for name in sorted(found)}, indent=1) + "\n"


def _lines(table):
    metrics = sorted({place[0] for place in table if place != ROWS and isinstance(place, tuple)})
    if not metrics:
        return table
    names = list(dict.fromkeys(place[1] for place in table if isinstance(place, tuple)))
    lines = {
        metric: " ".join(table.get((metric, name), _ABSENT) for name in names) for metric in metrics
    }
    return {ROWS: table[ROWS], _HEAD: " ".join(names), **lines}


def from_text(text):
    """The digests that `as_text` wrote."""
    return {name: _from_lines(lines) for name, lines in json.loads(text).items()}


def _from_lines(lines):
    if _HEAD not in lines:
        return lines
    names = lines[_HEAD].split()
    return {ROWS: lines[ROWS]} | {
        (metric, name): digest
        for metric, line in lines.items()
        if metric not in (ROWS, _HEAD)
        for name, digest in zip(names, line.split(), strict=True)
        if digest != _ABSENT
    }
