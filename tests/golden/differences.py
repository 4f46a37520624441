"""What changed between recorded digests and those of now, in words."""

from tests.golden.digests import ROWS

_MOST_NAMES = 12


def differences(before, now):
    """Sentences on tables, metrics and columns that were added, are gone or changed."""
    found = [f"{name}: the table is gone" for name in sorted(before.keys() - now.keys())]
    for name in sorted(now):
        if name not in before:
            found.append(f"{name}: a new table")
        else:
            found += [f"{name}: {what}" for what in _of_table(before[name], now[name])]
    return found


def _of_table(before, now):
    if before[ROWS] != now[ROWS]:
        yield f"{now[ROWS]} rows, were {before[ROWS]}"
    changed = [place for place in now if place in before and before[place] != now[place]]
    for what, places in (
        ("added", [place for place in now if place not in before]),
        ("gone", [place for place in before if place not in now]),
        ("changed", [place for place in changed if place != ROWS]),
    ):
        yield from _in_words(what, places, before if what == "gone" else now)


def _in_words(what, places, table):
    """Places by column; a metric or column that stands there whole is named alone."""
    metrics = {place[0] for place in places if isinstance(place, tuple)}
    whole = {
        metric
        for metric in metrics
        if what != "changed"
        and all(place in places for place in table if place[0] == metric and place != ROWS)
    }
    if whole:
        yield f"{_name('metric', sorted(whole))} {what}"
    if plain := [place for place in places if not isinstance(place, tuple)]:
        yield f"{_name('column', plain)} {what}"
    by_column = {}
    for place in places:
        if isinstance(place, tuple) and place[0] not in whole:
            by_column.setdefault(place[1], []).append(place[0])
    for column, of in by_column.items():
        yield f"{_name('column', [column])} {what} of {_name('metric', sorted(of))}"


def _name(kind, names):
    shown = ", ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    plural = "s" if len(names) > 1 else ""
    return f"{kind}{plural} {shown}" + (f" and {more} more" if more > 0 else "")
