"""Fingerprints are the recorded bytes, in Python and in native code.

Streams keep fingerprints, and files of one run may be read by workers with different versions of
Python.
"""

import pytest

from tests.core.direct import call_fingerprint, fingerprints
from tests.core.pool.direct import build

WHAT_TO_DO = (
    "Fingerprints differ from the recorded ones. If rules or normal forms were changed on purpose, "
    "record {0!r}; otherwise Python's character tables or xxhash have changed, and workers with "
    "another version would find fewer duplicates."
)
LONG = "Straße ﬁn… \uff21\uff22\uff23\u2003 " * 9

# (result, codes and digests)
GOLDEN = [
    ({"title": "Budget  2024\t"}, "0020 4279edb7b5204879"),
    ({"title": "a\x1cb\u2028c\u00a0"}, "0020 a4238f4d01eb0b63"),
    ({"title": "Straße ﬁn… \uff21\uff22\uff23"}, "0020 3e7f2f76c8231a50"),
    ({"title": "\u0130ΣΊΣ\u03a5Φ\u039fΣ ς"}, "0020 3e01ad76c0852317"),
    ({"title": "e\u0301 \u00e9 q\u0323\u0307"}, "0020 c1af2093ca3185ac"),
    ({"title": "\u1112\u1161\u11ab 한글 ㌀"}, "0020 472841dee18890f0"),
    ({"title": "\ufb50\ufefb \u0e33 漢字 \uf900"}, "0020 e2849e5487140f57"),
    ({"title": "\U0001d400\U0001d4eb 𐐀𐐨 😀\U0002f800"}, "0020 f9d28027408361c4"),
    (
        {"snippet": LONG, "content": LONG * 9},
        "0021a122a2 b2ab3ecdf8b4d47039413ad11c594b1d67321a3dec857bf132c5dde39c210d9c",
    ),
    (
        {
            "entity_type": " File",
            "fields": {"author": ["Ann", "Bo", "ann "], "file_name": "A.docx", "odd": "1"},
        },
        "01242b7e3374938aa86b6dac 07e3613996434a6e70d28bf362d811d0930f6f333bcd605d",
    ),
    (
        {"entity_type": "Straße", "fields": {"author": "2024-01-01"}},
        "ff6a5260406c46e30c2b b0e473c9cf82fb71",
    ),
    ({"fields": {"start": "2024-03-01"}}, "0026 660e60f487cff889"),
    ({"fields": {"start": "2024-03-01T12:00:00.25+02:00"}}, "0026 8237262a0654b780"),
    ({"fields": {"start": "20240301T100000Z"}}, "0026 5cc02ee193666f83"),
    ({"fields": {"start": "2024-W09-5 10:00z"}}, "0026 5cc02ee193666f83"),
    ({"fields": {"start": "0001-01-01T00:00+14:00"}}, "0026 22e3ce753512a68c"),
    ({"fields": {"start": "next  Friday"}}, "0026 763e7dc0ada6f911"),
    ({"id": " Doc-7"}, "000181 15b09172d344033c09044c000b5b794a"),
    ({"id": "Ann@Example.ORG"}, "0001 6f5495c76ba65894"),
    ({"id": "0A1B2C3D-4e5f-6789-ABCD-ef0123456789"}, "0001 1a11bafe686c62ae"),
    (
        {"ids": {"file_id": "a", "site_id": ["b", "A", "b"], "odd": "É@\u0130"}, "id": "g"},
        "00606262e27f3374938aa86b6dac01 81a8e8dc31e7f19c7d66fafd94c2847fd"
        "66dfa2dd4ecba0653c6a72259996d6cca6f9f02377799cd2e21cf78506e9d7e",
    ),
    ({"ids": {"doc_id": ["2", "1"]}}, "006d6d 331e0107d0a6b9bca3f8353f2dbbad8c"),
    (
        {"url": "http://www.Example.org:80/A/?utm_source=1&id=2#z"},
        "00020304 a8996dd185bb5643306913f648c0026c8bbd6aea2f916683",
    ),
    (
        {"url": "https://h/a%20b/c?v=2&ID=1&b=x%26y&b="},
        "0002030407 3715ee01f5f99642f02f7fdc095d1696ab9a677e2ec072c7d835c884d847a668",
    ),
    ({"url": "//user:pw@Straße.de:8080/é?q=é+%C3%A9"}, "000203 80b727e97523e38805c1c14cfeb24c59"),
    ({"url": "mailto:Ann@Example.org"}, "0002 d410e63c60d14e83"),
    ({"url": "ftp://h/x?web=1"}, "000203 f9cd94d97a4b24979042497983767932"),
    ({"url": "h/x;y?a=1;b=2"}, "000203 da92f70d5ca2fd5962ea611d5c238bd8"),
]

# As above, with what later versions of Python read in another way: characters that Unicode 15 to 17
# assigned (letters that decompose or have two cases, marks that change places, which Σ is the
# last), and times and URLs that they take or refuse.
NEWER = [
    ({"title": "\U0001e030 \U0001e04c"}, "0020 4ca455cf8e3bf1cd"),
    ({"title": "e\u0301\U0001e08f\u0323"}, "0020 8b07b6eec3fe4bf2"),
    ({"snippet": "e\u0323\U00010efd\u0334"}, "0021 d2a6dac4d67f5425"),
    ({"content": "e\U0001e4ec\u0323\U0001e4ef"}, "0022 931195df8eeaa57e"),
    ({"fields": {"author": ["\U00011f41\u0334", "\U0001e6e3\u0301"]}}, "002b 51ddca2ab05fc1d5"),
    (
        {"title": "\U000105d2\u0307 \ua7cb \u1c89 \U00016ea0 \U00016d67\U00016d67"},
        "0020 d6eb59e8d9939a60",
    ),
    (
        {"id": "\ua7cb@\U0001e030\u1c89", "ids": {"file_id": "\ua7cc"}},
        "006001 2060a1bc5c542d2e79f38bc0c04b0d02",
    ),
    (
        {"entity_type": "\u1c89\U00010d50", "fields": {"\u1c89": "1"}},
        "ff41387ff7fb650d907ebbf3eaf8e6e81ce7 62caa87f53fcab13",
    ),
    (
        {"url": "http://A\u03a3\U0001e4ecA\u03a3.\U0001df25\u03a3/\U0001e030?\u1c89=\U0001e030"},
        "000203 b9d5d4cea456fa44ce45ce0032210b3d",
    ),
    ({"url": "x:\u1c89\U00010d50"}, "0002 23afeaeba9fd1a49"),
    ({"url": "http://x[::1]y/A"}, "0002 2b8200c56a2a712c"),
    ({"url": "http://[1:2:3:4:5:6:255.255.255.255%Zone]:81/A"}, "0002 f9b3ea2e1fad84f5"),
    ({"fields": {"start": "2024-03-01T24:00"}}, "0026 1ff9e48de1c75ddb"),
    ({"fields": {"start": "2024-03-01 10:00:00 +0200"}}, "0026 03daee3d77564b89"),
    ({"fields": {"start": "2024-03-01T10:00:00.+01:60"}}, "0026 03daee3d77564b89"),
]


@pytest.mark.parametrize(("result", "expected"), GOLDEN + NEWER)
def test_results(result, expected):
    (found,) = call_fingerprint([result]).results
    recorded = f"{found.codes.hex()} {found.digests.hex()}"
    assert recorded == expected, WHAT_TO_DO.format(recorded)


# (record, its digest)
RECORDS = [
    ({}, "4db7efcb9eb8c99dd719ab0b94149b63"),
    (
        {
            "query": "Straße \u2028 😀",
            "tool": "t",
            "timestamp": "2024-03-01T12:00+02:00",
            "call": 0,
        },
        "b6d4591dab40c6f596cf7908e5d579f8",
    ),
    (
        {
            "turn": 3,
            "turn_count": 4,
            "is_final": True,
            "record_id": " r ",
            "attributes": {"b": "1", "a": "é"},
        },
        "720faff1d81c775541ae7f302e212f75",
    ),
    (
        {
            "costs": {"usd": 0.1, "tokens": 7},
            "results": [{"title": "a", "gain": 3, "score": 1.5, "ids": {"odd": ["2", "1"]}}],
        },
        "a791404faf600b0e91e18827955c3238",
    ),
]


@pytest.mark.parametrize(("record", "expected"), RECORDS)
def test_records(record, expected):
    ((call,),) = fingerprints([{"conversation_id": "c", "iteration": 1, **record}]).values()
    recorded = call.record_digest.hex()
    assert recorded == expected, WHAT_TO_DO.format(recorded)


def test_ids_of_pooled_documents():
    results = [{"title": "é \U0001e030"}, {"title": "\u1c89", "entity_type": "É"}]
    record = {"conversation_id": "c\U0001e030é", "iteration": 1, "results": results}
    (topic,) = build({"run": [record]}).values()
    assert [document.document for document in topic.documents] == [
        "39ae2053670a0add",
        "43881b12c2ec437a",
    ]
