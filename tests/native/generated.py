"""Random values of records, most of them usual: what follows a bad one in a record is not read."""

import math
import struct

from goodgain.transforms.core.native import native_module

CHARACTERS = 'aB3 é\u0301\u2003\u2028😀"\\/\t\n\r\x00\x1f\x7f\x85\xa0\ufeff\uffff'
WORDS = ["2024-01-01", "1704110400000", " ", "3", "3.0", "true", "file_id", "x" * 40]
SCALARS = [
    lambda rng: None,
    lambda rng: rng.random() < 0.5,
    lambda rng: rng.choice([-1, 0, 1, 5, 2**31, 2**63, rng.randrange(-(2**70), 2**70)]),
    lambda rng: rng.choice([-0.0, 3.0, math.nan, -math.inf, any_double(rng)]),
    lambda rng: any_text(rng),
]


def any_double(rng):
    """Any bits, or a number of a size that occurs."""
    while not math.isfinite(number := struct.unpack("<d", rng.randbytes(8))[0]):
        pass
    return rng.choice([number, rng.uniform(-1, 1) * 10 ** rng.randint(-20, 20)])


def any_text(rng, most=6):
    return rng.choice([*WORDS, *("".join(rng.choices(CHARACTERS, k=most)) for _ in range(8))])


def any_value(rng, depth=3):
    kind = rng.randrange(len(SCALARS) + 2 * (depth > 0))
    if kind < len(SCALARS):
        return SCALARS[kind](rng)
    inner = [any_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return inner if kind == len(SCALARS) else {any_text(rng, 3): child for child in inner}


def texts_by_name(rng):
    """A text or several, as `ids` and `fields` have."""
    names = rng.sample(["file_id", "author", "start", "", "é"], rng.randint(0, 3))
    several = [any_text(rng) for _ in range(rng.choice([2, 2, 3]))]
    return {name: rng.choice([any_text(rng), several]) for name in names}


def record(rng):
    """A few fields."""
    return _with(rng, _RECORD, rng.randint(0, 4))


def result(rng):
    return _with(rng, _RESULT, rng.randint(0, 5))


def _with(rng, usual, count):
    names = rng.sample(sorted(usual), count)
    return {name: (usual[name] if rng.random() < 0.7 else any_value)(rng) for name in names}


_RESULT = {
    **dict.fromkeys([*(native_module().RESULT_FIELDS if native_module() else ()), "x"], any_text),
    **dict.fromkeys(["ids", "fields"], texts_by_name),
    "gain": lambda rng: rng.randint(0, 4),
    "score": any_double,
    "aspects": lambda rng: [any_text(rng, 2) for _ in range(rng.randint(0, 3))],
}
_RECORD = {
    "conversation_id": lambda rng: rng.choice("cdé"),
    **dict.fromkeys(["iteration", "turn"], lambda rng: rng.randint(1, 5)),
    **dict.fromkeys(["call", "turn_count"], lambda rng: rng.randint(0, 5)),
    "is_final": lambda rng: rng.random() < 0.5,
    "action": lambda rng: rng.choice(["search", "open", "cite"]),
    **dict.fromkeys(["record_id", "query", "tool", "error", "noise"], any_text),
    "timestamp": lambda rng: rng.randint(-(10**13), 10**13),
    "attributes": lambda rng: {any_text(rng, 2): any_text(rng) for _ in range(3)},
    "costs": lambda rng: {any_text(rng, 2): rng.choice([0, rng.uniform(0, 9)]) for _ in range(3)},
    "outcomes": lambda rng: {any_text(rng, 2): any_double(rng) for _ in range(2)},
    "results": lambda rng: [result(rng) for _ in range(rng.randint(0, 3))],
}
