"""Random fingerprints of calls, drawn from a seed."""

import math
from random import Random

from hypothesis import strategies as st

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, ResultFingerprint
from tests.native.generated import any_double

COSTS = ("tokens", "usd")
TEXTS = ("a", "b", "é", "￿", "𐀀", "\x1c", " ", "b/a", "/")
SHAPES = {  # codes with so many digests
    b"\x00\x01\x02": 2,
    b"\x01\x60\x60\xe0\x02\x03\x04": 6,
    b"\x01\x60\x02\x20\x21\xa1": 5,
    b"\x02\x26\x27\x22\xa2": 4,
    b"\x00\x7f" + bytes(8) + b"\x01": 2,
    b"\xff" + bytes(8) + b"\x20\x7e" + bytes(8): 2,
    b"\x00": 0,
}
# Drawing each value by hypothesis took ten times what is tested.
seeds = st.integers(0, 2**64 - 1).map(Random)


def some(random, make, most):
    """Up to so many values."""
    return [make() for _ in range(random.randint(0, most))]


def digest(random, most=3):
    return random.randint(0, most).to_bytes(8)


def any_result(random):
    codes = random.choice(list(SHAPES))
    return ResultFingerprint(
        codes,
        b"".join(digest(random) for _ in range(SHAPES[codes])),
        random.choice([None, *range(5)]),
        random.choice([None, 0.5, any_double(random), math.inf, -math.inf, -0.0]),
        random.choice([None, bytes(8)]),
    )


def any_call(random):
    def text():
        return random.choice(TEXTS)

    def cost():
        return random.choice(COSTS), random.choice([0, random.uniform(0, 9), 1e100])

    def outcome():
        return random.choice(["correct", "rating"]), random.uniform(-9, 9)

    return CallFingerprint(
        turn=random.randint(1, 3),
        iteration=random.choice([1, 2, 5, 2**31]),
        call=random.choice([None, 0, 1, 2]),
        timestamp=random.choice([None, -1, 0, 1_700_000_000, 1_700_000_000_000]),
        record_id=random.choice([None, None, text()]),
        turn_count=random.choice([None, *range(5)]),
        is_final=random.random() < 0.5,
        action=random.choice(["search", "search", "open", "cite"]),
        attributes=dict(some(random, lambda: (text(), text()), 2)),
        record_digest=random.choice([b"\x00", b"\x01", b"\xff"]) * 16,
        record=random.choice([None, b"", b"a", b"ab", b"\xff"]),
        names={b"\xff" + bytes(8): "odd", b"\x7f" + bytes(8): "unheard"},
        results=some(random, lambda: any_result(random), 8),
        costs=dict(some(random, cost, 2)),
        failed=random.random() < 0.5,
        query=random.choice([None, bytes(8), b"query  1"]),
        outcomes=dict(some(random, outcome, 2)),
    )


def any_calls(random, most):
    return some(random, lambda: any_call(random), most)
