"""Native code encodes a record with the same bytes as msgspec."""

import math
import sys
from itertools import product
from random import Random

from goodgain.transforms.core.records.record_encoding import record_encoding
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.payload import unpack
from tests.native.generated import any_double
from tests.native.paths import needs_native, packers, payloads

pytestmark = needs_native


def assert_same_encodings(calls):
    _, native = packers(keep_records=True)
    frame = unpack(payload.payload for payload in payloads(native, calls))
    assert [call.record for call in frame.calls] == list(map(record_encoding, calls))


def call(number, **fields):
    return SearchCall("c", number + 1, **fields)


def test_any_double():
    rng = Random(5)
    # Among these are zeros and infinities.
    near_limits = [
        sign * (first * 10.0**power)
        for sign, first, power in product((1, -1), (1, 1.5, 9.999999999999999), range(-325, 309))
    ]
    extremes = [-0.0, 2.0**53, 5e-324, sys.float_info.max, sys.float_info.min, math.nan]
    scores = [*near_limits, *extremes, *(any_double(rng) for _ in range(50_000))]
    results = [Result(score=score) for score in scores]
    assert_same_encodings([call(0, results=results)])
    costs = {str(place): abs(score) for place, score in enumerate(scores) if abs(score) <= 1e100}
    assert_same_encodings([call(0, costs=costs)])


def test_whole_numbers_stay_whole():
    results = [Result(score=score) for score in (0, -1, 7, 2**62, -(2**62))]
    assert_same_encodings([call(0, results=results, costs={"a": 3, "b": 2**60}, call=0, turn=9)])


def test_every_character_in_strings_and_names():
    characters = [chr(code) for code in range(0x250)] + list("\u2028\u2029\ufeff\uffff😀")
    texts = ["", *characters, "".join(characters), *(f"a{character}b" for character in characters)]
    result = Result(**dict.fromkeys(("id", "title", "snippet", "content", "reference_id"), "\x1f"))
    calls = [
        call(
            0,
            query=texts[-1],
            tool='"\\/',
            record_id="r",
            timestamp=None,
            attributes={text: text for text in texts},
            results=[
                result,
                Result(ids={text: [text, "x"] for text in texts}),
                Result(fields={text: text for text in texts}, url="https://a/b?c"),
            ],
        ),
        call(1, is_final=True, turn_count=2),
    ]
    assert_same_encodings(calls)
