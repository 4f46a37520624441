"""Native code and Python make the same payloads, byte for byte, from any records."""

from datetime import datetime, timedelta, timezone
from operator import attrgetter
from random import Random

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring import packing
from tests import adversarial_values as values
from tests.adversarial import trace
from tests.core.files import samples
from tests.native.characters import groups, split_into_batches
from tests.native.paths import (
    assert_same,
    assert_same_records,
    needs_native,
    packers,
    payloads,
)

pytestmark = needs_native

FIELDS = ("author", "file_name", "start", "unknown", "subject")


def assert_same_results(results):
    """Assert equal payloads for calls with these results, each a dict of fields of `Result`."""
    calls = [
        SearchCall("c", at + 1, results=[Result(**result) for result in results[at : at + 50]])
        for at in range(0, len(results), 50)
    ]
    assert_same_records(calls)


def results_with(text, times=300):
    """Results with a text in every field that can hold it, repeated up to `times` times."""
    yield {"entity_type": text, "id": text, "title": text}
    yield {"ids": {"file_id": text, text: text, "item": [text, f"{text}A"]}, "entity_type": "File"}
    yield {"url": f"https://host/{text}?a={text}&{text}=b"}
    yield {"url": text}
    yield {"snippet": text * max(times // 5, 1), "content": f"{text} {text} b" * times}
    yield {"fields": {**dict.fromkeys(FIELDS, text), text: "x", "to": ["x", text, f"{text}\t "]}}


@pytest.mark.slow
@pytest.mark.parametrize("keep_records", [False, True])
def test_adversarial_traces(keep_records):
    records = [parse_mapping(record) for record in trace(Random(11), conversations=200)]
    assert_same_records(records, keep_records=keep_records)


@pytest.mark.slow
def test_thousands_of_records():
    """The records of a conversation come together."""
    records = 0
    for seed in range(2):
        calls = [parse_mapping(record) for record in trace(Random(seed), conversations=1_000)]
        calls.sort(key=attrgetter("conversation_id"))
        records += len(calls)
        packed = assert_same_records(calls)
        assert len({payload.conversation_id for payload in packed}) == 1_000
    assert records > 15_000


@pytest.mark.slow
def test_adversarial_traces_as_files():
    rows = [
        msgspec.to_builtins(parse_mapping(record), enc_hook=int)
        for record in trace(Random(12), conversations=300)
    ]
    content = samples.avro_bytes(rows)
    whole, _ = assert_same(content, "a.avro")
    assert sum(packed.calls for packed in whole) == len(rows)
    assert_same(content, "a.avro", shard_bytes=100_000)
    assert_same(samples.jsonl_bytes(rows), "a.jsonl")


WHOLE = {1e15: "1000000000000000", 2.0**53: "9007199254740992", 2.0**53 + 2: "9007199254740994.0"}
NUMBERS = {12.0: "12", -3.0: "-3", -0.0: "0", 1e16: "1e+16", 0.5: "0.5", **WHOLE}


@pytest.mark.parametrize("as_text", NUMBERS.items())
def test_a_whole_number_in_a_column_of_floats_is_the_attribute_that_its_text_is(as_text):
    """In every format, as text and as a number; table libraries write 12 with gaps as 12.0."""
    number, word = (
        [{"conversation_id": "c", "iteration": 1, "attributes": {"a": text}}] for text in as_text
    )
    plain = {"type": "map", "values": ["double", "string"]}
    schema = samples.avro_record("S", conversation_id="string", iteration="int", attributes=plain)
    expected, _ = assert_same(samples.jsonl_bytes(word), "a.jsonl")
    for content, path in (
        (samples.jsonl_bytes(number), "a.jsonl"),
        (samples.avro_bytes(number, schema=schema), "a.avro"),
        (samples.table_bytes(pa.Table.from_pylist(number)), "a.parquet"),
    ):
        assert assert_same(content, path) == (expected, [])


def test_payloads_leave_early_in_the_same_order(monkeypatch):
    monkeypatch.setattr(packing, "MOST_BUFFERED_RESULTS", 40)
    packers.cache_clear()
    records = [parse_mapping(record) for record in trace(Random(13), conversations=60)]
    records[::17] = [
        RejectedRecord("f", "line 1", "Bad.", conversation_id=name, records=count)
        for count, name in enumerate([None, "", "a-1", "only-rejected"] * 9, start=1)
    ][: len(records[::17])]
    assert_same_records(records)
    packers.cache_clear()


def test_ties_and_redeliveries():
    def call(query, **more):
        return SearchCall("c", 1, query=query, **more)

    for more in ({}, {"call": 1}, {"record_id": "r"}, {"timestamp": 5}):
        assert_same_records([call("a", **more), call("b", **more), call("a", **more)])
        assert_same_records([call("é\u2028", **more), call("b", **more, turn_count=3)])


def test_characters_in_every_place():
    assert_characters(range(0x80, 0x20000, 499))


@pytest.mark.slow
def test_every_character_of_the_basic_plane_in_every_place():
    assert_characters(range(0x10000))


@pytest.mark.slow
@pytest.mark.parametrize("plane", [1, 2, 3, 14])
def test_every_character_beyond_the_basic_plane_in_every_place(plane):
    assert_characters(range(plane << 16, (plane + 1) << 16))


@pytest.mark.slow
def test_characters_of_unassigned_and_private_planes_in_every_place():
    assert_characters([*range(4 << 16, 14 << 16, 16), *range(15 << 16, 17 << 16, 16)])


def assert_characters(codes):
    for batch in split_into_batches(
        groups([code for code in codes if not 0xD800 <= code <= 0xDFFF]), 4_000
    ):
        assert_same_results(
            [
                result
                for group in batch
                for result in results_with(
                    "".join(f"X{digit}Y {digit}" for digit in group), 300 // len(group)
                )
            ]
        )


@given(st.lists(st.text(max_size=12), min_size=1, max_size=8))
@settings(max_examples=50)
def test_any_texts(texts):
    assert_same_results([result for text in texts for result in results_with(text)])


combining_texts = st.text(
    st.one_of(
        st.sampled_from("aA éÅ\u0301\u0323\u0345\u1100\u1161\u11a8\uac00ﾞカ\u09be\u09c7가…ßİ\ufdfa"),
        st.characters(max_codepoint=0xFFFF, categories=["Mn", "Mc", "Lo", "Zs", "Cc"]),
    ),
    max_size=120,
)


@given(combining_texts)
@settings(max_examples=200)
def test_combining_characters(text):
    assert_same_results([{"title": text}, {"snippet": text}, {"content": text, "id": text}])


spaces = st.text(st.sampled_from(" \t\n\x0b\x1c\x1f\x85\xa0\u1680\u2029aB\x00\x7f"), max_size=140)


@given(spaces)
@settings(max_examples=200)
def test_white_space(text):
    assert_same_results(list(results_with(text)))


moments = st.datetimes(
    timezones=st.one_of(
        st.none(),
        st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
    )
)
written_moments = st.tuples(
    moments,
    st.sampled_from(["auto", "seconds", "milliseconds", "microseconds", "minutes", "hours"]),
    st.sampled_from(["T", " ", "t"]),
    st.sampled_from(["", "Z", "z", " ", "+00:00", "0"]),
).map(lambda parts: parts[0].isoformat(parts[2], parts[1]) + parts[3])
nearly_moments = st.from_regex(
    r"\s?\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,7})?)?(Z|[+-]\d\d:?\d\d)?)?\s?", fullmatch=True
)


@pytest.mark.slow
@given(st.lists(st.one_of(written_moments, nearly_moments), min_size=1, max_size=12))
@settings(max_examples=100)
def test_times(written):
    names = ("start", "end", "date_time_received", "last_modified_time", "author")
    assert_same_results([{"fields": {name: text}} for text in written for name in names])
    assert_same_results([{"fields": {"start": written}}])


def test_days_of_all_years():
    days = [datetime(1, 1, 1) + timedelta(days=number) for number in range(0, 3_652_059, 359)]
    days += [datetime(year, month, 28) for year in (1900, 1999, 2000, 2024) for month in (2, 3)]
    leaps = [f"{year:04}-02-29" for year in range(0, 9_999, 50)]
    texts = [day.isoformat() for day in days] + leaps + ["2023-04-31", "2023-00-10", "2023-13-01"]
    assert_same_results([{"fields": {"start": text}} for text in texts])


url_parts = st.sampled_from(
    [
        *("http://", "https://", "//", "ftp://", "HTTP://", "mailto:", "host", "www.", "WWW.Host"),
        *(".com", ":80", ":443", ":8080", ":", "/", "//", "/a b", "?", "&", "=", "#", "@", "%41"),
        *("%C3%A9", "%ff", "%", "%%4", "+", "id=1", "ID=2", "utm_source=x", "web=1", ";", "[", "]"),
        *("arxiv.org/pdf/", "ArXiv.org/abs/", "v2", "youtu.be/", "youtube.com/watch?", "v=b"),
        *("x.sharepoint.com/", "en.m.wikipedia.org/", "/index.html", "doi.org/10.1/A", "view=1"),
        *("é", "\\", "|", "^", '"', "<", "a", "Z", "-", "_", "~", "!", "'", ",", "\t", "version"),
    ]
)


@given(st.lists(st.lists(url_parts, max_size=12).map("".join), min_size=1, max_size=20))
@settings(max_examples=150)
def test_urls(urls):
    assert_same_results([{"url": url} for url in [*urls, *(f"https://h{url}" for url in urls)]])


STRIPPED = compile_rules(
    read_rules("strip: {doc_id: '#.*$', id: '_[0-9]+$'}\ntypes: {default: {definitive: [doc_id]}}")
)


@given(st.lists(st.text("aA1#_ -é", max_size=8), min_size=1, max_size=10))
def test_ids_from_which_the_rules_remove_something(texts):
    results = [Result(id=text, ids={"doc_id": text, "odd": [text, "a#1"]}) for text in texts]
    calls = [SearchCall("c", 1, results=results)]
    in_python, native = (payloads(packer, calls) for packer in packers.__wrapped__(rules=STRIPPED))
    assert in_python == native


def test_adversarial_urls():
    urls = [url for url in values.URLS if isinstance(url, str)]
    assert_same_results([{"url": cased} for url in urls for cased in (url, url.upper())])


ids = st.one_of(
    st.from_regex(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{11,13}", fullmatch=True),
    st.text("aB@ \t-é0", max_size=5),
)
maps = st.dictionaries(
    st.sampled_from(["file_id", "doc_id", "site_id", "title", "odd", "Odd", "é", ""]),
    st.one_of(ids, st.lists(ids, min_size=2, max_size=5)),
    max_size=4,
)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(maps, st.none() | ids, st.sampled_from([None, "File", "Wiki", " é"])), max_size=4
    )
)
@settings(max_examples=150)
def test_ids(drawn):
    assert_same_results(
        [
            {"ids": named, "id": text, "entity_type": kind, "fields": named}
            for named, text, kind in drawn
        ]
    )


whole = st.integers(0, 2**31 - 1)
texts = st.none() | st.text(max_size=40) | st.sampled_from(["x" * 31, "x" * 32, "y" * 256])
results = st.builds(
    Result,
    entity_type=texts,
    title=texts,
    gain=st.none() | st.integers(0, 4),
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 2**40),
    aspects=st.none() | st.lists(st.text(max_size=3), max_size=4),
    reference_id=texts,
)
calls = st.builds(
    SearchCall,
    conversation_id=st.sampled_from(["a", "b", "é"]),
    iteration=st.integers(1, 2**31 - 1),
    turn=st.integers(1, 300),
    call=st.none() | whole,
    record_id=st.sampled_from([None, "r", "s"]),
    timestamp=st.none() | st.integers(-62_135_596_800_000, 253_402_300_799_999),
    query=texts | st.text("aB ?!,…«。ⓐ$ﬁ⑴\u0600𐄀", max_size=8),
    tool=texts,
    turn_count=st.none() | whole,
    is_final=st.booleans(),
    action=st.sampled_from(["search", "open", "cite"]),
    error=texts | st.sampled_from([" ", "\u2003"]),
    outcomes=st.dictionaries(
        st.text(max_size=3), st.floats(-1e308, 1e308) | st.integers(-5, 2**60), max_size=20
    ),
    attributes=st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=20),
    costs=st.dictionaries(
        st.text(max_size=3), st.floats(0, 1e100) | st.integers(0, 2**60), max_size=20
    ),
    results=st.lists(results, max_size=20),
)


@pytest.mark.slow
@given(st.lists(calls, max_size=12), st.booleans())
@settings(max_examples=150)
def test_any_calls(records, keep_records):
    assert_same_records(records, keep_records=keep_records)
