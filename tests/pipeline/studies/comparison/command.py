"""Runs `goodgain compare` in this process."""

import json

from goodgain.pipeline.__main__ import main


def compare(capsys, *words):
    capsys.readouterr()
    code = main(["compare", *map(str, words), "--json"])
    assert code == 0
    return json.loads(capsys.readouterr().out)


def row(found, metric, i=None, population="all", **slice_):
    """The only row of a metric; in whichever population if that is None."""
    (only,) = (
        row
        for row in found["rows"]
        if (row["metric"], row["i"], row["slice"]) == (metric, i, slice_)
        and population in (None, row["population"])
    )
    return only


def error_of(capsys, *words):
    capsys.readouterr()
    assert main(["compare", *map(str, words)]) == 2
    return capsys.readouterr().err
