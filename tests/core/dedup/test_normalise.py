"""Normal forms, following SPEC 4.1 sentence by sentence."""

import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodgain.transforms.core.dedup import normalise
from goodgain.transforms.core.dedup.normalise import (
    normalise_id,
    normalise_query,
    normalise_text,
    normalise_time,
    normalise_url,
    unquote_ascii,
)
from tests.core.direct import shipped_rules
from tests.reference import normalisation as reference

URLS = shipped_rules().urls
GUID = "0A1B2C3D-4e5f-6789-ABCD-ef0123456789"


def url(text):
    normal = normalise_url(text, URLS)
    return None if normal is None else (normal.host, normal.path, normal.query)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Straße", "strasse"),
        ("\ufb01ne \uff27\uff2c\uff21\uff33\uff33", "fine glass"),
        ("  a \t\n b\u00a0\u2003c ", "a b c"),
        ("PLAN", "plan"),
        (" \t\u3000", ""),
        ("", ""),
        ("İ", "i̇"),
        ("a\x1cb", "a b"),
    ],
)
def test_normal_form_of_text(text, expected):
    assert normalise_text(text) == expected


@given(st.text())
def test_any_text_equals_the_reference(text):
    assert normalise_text(text) == reference.text(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_fast_path_of_ascii_text_equals_the_general_one(text):
    assert normalise_text(text) == normalise_text(text + " \u00a0")


NOON = 1_709_294_400_000_000


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-01T12:00:00Z",
        "2024-03-01T12:00:00z",
        "2024-03-01T12:00:00",
        " 2024-03-01 12:00 ",
        "2024-03-01T14:00+02:00",
        "20240301T120000Z",
        "2024-W09-5T12:00:00.000000+00:00",
        "2024-03-02T02:00+14:00",
    ],
)
def test_spellings_of_a_time(text):
    assert normalise_time(text) == NOON


@pytest.mark.parametrize("text", ["", "Z", "noon", "2024-13-01", "1709294400", "12:00Z", "today z"])
def test_invalid_times_have_no_normal_form(text):
    assert normalise_time(text) is None


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01", 0),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("0001-01-01T00:00+14:00", -62_135_596_800_000_000 - 14 * 3_600_000_000),
        ("9999-12-31T23:59:59-14:00", 253_402_300_799_000_000 + 14 * 3_600_000_000),
    ],
)
def test_time_at_the_limits(text, microseconds):
    assert normalise_time(text) == microseconds


@given(st.datetimes() | st.datetimes(timezones=st.timezones()), st.sampled_from([" ", "T", "_"]))
def test_any_time_equals_the_reference(moment, separator):
    text = moment.isoformat(separator)
    assert normalise_time(text) == reference.instant(text) is not None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f" {GUID}\n", GUID.casefold()),
        (GUID[:-1] + "g", GUID[:-1] + "g"),
        (GUID.replace("-", ""), GUID.replace("-", "")),
        ("{" + GUID + "}", "{" + GUID + "}"),
        ("Ann@Example.ORG ", "ann@example.org"),
        (" Doc-7 ", "Doc-7"),
        ("  ", ""),
    ],
)
def test_normal_form_of_an_id(value, expected):
    assert normalise_id(value) == expected


@given(st.text(alphabet="aA1-@ \n\u0661ß", max_size=8) | st.just(GUID))
def test_any_id_equals_the_reference(value):
    assert normalise_id(value) == reference.identifier(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # trimmed; blank = absent
        ("", None),
        (" \n", None),
        ("  http://x/a ", ("x", "/a", ())),
        # a scheme without `//` or a port: one opaque host
        ("mailto:Ann@X", ("mailto:ann@x", "", ())),
        ("im:a?x=1#y", ("im:a?x=1#y", "", ())),
        ("a.b:c", ("a.b:c", "", ())),
        ("x:80", ("x", "/", ())),
        ("x:8080/A", ("x:8080", "/A", ())),
        ("x:443?id=1", ("x", "/", (("id", "1"),))),
        ("x:80a/b", ("x:80a/b", "", ())),
        # without `://`, and not beginning with `//`
        ("x.org/a", ("x.org", "/a", ())),
        ("//x.org/a", ("x.org", "/a", ())),
        ("/a/b", ("", "/a/b", ())),
        ("x/go?to=http://y/b", ("", "x/go", (("to", "http://y/b"),))),
        # host
        ("HTTPS://WWW.X.org/a", ("x.org", "/a", ())),
        ("http://www.www.x/", ("www.x", "/", ())),
        ("http://wwwx/", ("wwwx", "/", ())),
        ("http://me:pw@x/a", ("x", "/a", ())),
        ("http://x:80/a", ("x", "/a", ())),
        ("http://x:443/a", ("x", "/a", ())),
        ("http://x:/a", ("x", "/a", ())),
        ("http://x:081/a", ("x:81", "/a", ())),
        ("http://[2001:DB8::1]:80/a", ("2001:db8::1", "/a", ())),
        # path
        ("http://x/a%2Fb%20c/", ("x", "/a/b c", ())),
        ("http://x/a///", ("x", "/a", ())),
        ("http://x", ("x", "/", ())),
        ("http://x//", ("x", "/", ())),
        ("http://x/%C3%BC", ("x", "/ü", ())),
        ("http://x/a/%2F", ("x", "/a", ())),
        # fragment and query
        ("http://x/a#top", ("x", "/a", ())),
        ("http://x/a?b=2&A=1&a=&c#z", ("x", "/a", (("a", ""), ("a", "1"), ("b", "2"), ("c", "")))),
        ("http://x/a?q=%C3%BC+1&Q=%26", ("x", "/a", (("q", "&"), ("q", "ü 1")))),
        ("http://x/a?&&=1", ("x", "/a", (("", "1"),))),
        # brackets, of which later versions of urlsplit refuse more
        ("http://x[::1]y:8/A", ("::1:8", "/A", ())),
        ("http://[::ffff:1.2.3.4%Eth0]/", ("::ffff:1.2.3.4%Eth0", "/", ())),
        ("http://[1:2:3:4:5:6:7::]/", ("1:2:3:4:5:6:7::", "/", ())),
        ("http://[v1.X]/", ("v1.x", "/", ())),
        # rejected by urlsplit, or an invalid port: one opaque host
        ("http://[1.2.3.4]/A", ("http://[1.2.3.4]/a", "", ())),
        ("http://[::1.2.3.256]/A", ("http://[::1.2.3.256]/a", "", ())),
        ("http://[1:2:3:4:5:6:7:8::]/A", ("http://[1:2:3:4:5:6:7:8::]/a", "", ())),
        ("http://[::1%]/A", ("http://[::1%]/a", "", ())),
        ("http://[::G]/A", ("http://[::g]/a", "", ())),
        ("http://[v1]/A", ("http://[v1]/a", "", ())),
        ("http://]X[/A", ("http://]x[/a", "", ())),
        ("http://x\uff0fy/A", ("http://x\uff0fy/a", "", ())),
        ("http://[X/a", ("http://[x/a", "", ())),
        ("http://X:port/A?b#c", ("http://x:port/a?b#c", "", ())),
        ("http://x:99999/", ("http://x:99999/", "", ())),
    ],
)
def test_normal_form_of_a_url(text, expected):
    assert url(text) == expected


IGNORED_NAMES = (
    "wdorigin wdprevioussession wdprevioussessionid gclid fbclid msclkid mc_cid mc_eid utm_ "
    "utm_source UTM_Medium"
)
IGNORED_ON_OFFICE = "web preview view action auth token session d e cid Web CID"


@pytest.mark.parametrize("name", IGNORED_NAMES.split())
@pytest.mark.parametrize("suffix", ["", "=", "=1", "=%41"])
def test_ignored_parameters_are_removed(name, suffix):
    assert url(f"http://x/a?{name}{suffix}&k=1") == ("x", "/a", (("k", "1"),))


@pytest.mark.parametrize("name", IGNORED_ON_OFFICE.split())
def test_parameters_of_office_are_removed_on_its_hosts_only(name):
    for host in ("t.sharepoint.com", "onedrive.live.com", "www.office.com", "microsoft.com:8443"):
        assert url(f"http://{host}/a?{name}=1&k=1")[2] == (("k", "1"),)
    for host in ("x", "notsharepoint.com", "sharepoint.com.x", "com"):
        assert url(f"http://{host}/a?{name}=1")[2] == ((name.lower(), "1"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://arxiv.org/abs/2401.00001v3", ("arxiv.org", "/abs/2401.00001", ())),
        ("https://www.arxiv.org/pdf/2401.00001v3.pdf?x=1", ("arxiv.org", "/abs/2401.00001", ())),
        ("https://export.arxiv.org/html/2401.00001", ("arxiv.org", "/abs/2401.00001", ())),
        ("https://arxiv.org/abs/cs/9901001", ("arxiv.org", "/abs/cs/9901001", ())),
        ("https://arxiv.org/list/cs", ("arxiv.org", "/list/cs", ())),
        ("https://dx.doi.org/10.1000/ABC", ("doi.org", "/10.1000/abc", ())),
        ("https://doi.org/10.1000/abc/", ("doi.org", "/10.1000/abc", ())),
        ("https://doi.org/About", ("doi.org", "/About", ())),
        ("https://youtu.be/dQw4-w_X?t=3", ("youtube.com", "/watch", (("v", "dQw4-w_X"),))),
        ("https://m.youtube.com/watch?list=a&v=b", ("youtube.com", "/watch", (("v", "b"),))),
        ("https://youtube.com/shorts/b/", ("youtube.com", "/watch", (("v", "b"),))),
        ("https://youtube.com/@b", ("youtube.com", "/@b", ())),
        ("https://en.m.wikipedia.org/wiki/Red_kite", ("en.wikipedia.org", "/wiki/Red_kite", ())),
        ("https://x/a/index.html?b=1", ("x", "/a", (("b", "1"),))),
        ("https://x/index.htm", ("x", "/", ())),
        ("https://x/index.html/a", ("x", "/index.html/a", ())),
        ("/index.htm", ("", "/", ())),
        ("0/index.htm?://", ("", "0/index.htm", (("://", ""),))),
        ("arxiv.org/pdf/1?://", ("", "arxiv.org/pdf/1", (("://", ""),))),
        ("https://x/a?b=/index.html", ("x", "/a", (("b", "/index.html"),))),
        ("https://vertexaisearch.cloud.google.com/grounding-api-redirect/AbC", None),
    ],
)
def test_other_forms_of_a_url(text, expected):
    assert url(text) == reference.url(text) == expected


@pytest.mark.parametrize(
    "name", ["webs", "dd", "utm", "id", "x_utm_source", "mc", "view", "web", "d"]
)
def test_other_parameters_are_kept(name):
    assert url(f"http://x/a?{name}=1") == ("x", "/a", ((name, "1"),))


def general_form(text):
    """The normal form of a URL without the fast path for plain ones."""
    split = normalise._split_any(text, URLS)
    if split is None or not split.path:
        return split
    resolved = URLS.resolve(split.host, split.path, split.query)
    return None if resolved is None else normalise.NormalUrl(*resolved)


plain = st.from_regex(
    r"https?://[A-Za-z0-9.\-]{1,6}([!-~]{0,20}|[\x00-\x7f]{0,20})", fullmatch=True
)
STARTS = ["", "//", "http://", "https://", "HTTP://x", "http://x/", "x:", "http://x/a?"]
PIECES = [
    *"aAwz09.-_~!$&'()*+,;=:@/?#%[]{}|\\^`\"<> \t\n\u00e9\u0661",
    "www.",
    *("arxiv.org/abs/", "arxiv.org/pdf/", "v2", ".pdf", "10.", "doi.org/", "youtu.be/", "v="),
    *("youtube.com/watch?", "m.wikipedia.org", "en.", "/index.html", ".sharepoint.com/", "web"),
    "%2F",
    "utm_",
    "://",
    *("[::1]", "[::1%a]", "[v1.a]", "::", "1.2.3.4", "\uff0f", "\u03a3", "\U0001e030"),
]
near_urls = st.builds(
    "{}{}".format,
    st.sampled_from(STARTS),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)


@given(plain | near_urls | st.text(max_size=20))
@example("http://x/a?b=1&b")
@example("http://x?&a&=b==c")
@example("https://www.x/#?a=b")
@example("http://x/a\n")
def test_fast_path_of_urls_equals_the_general_one(text):
    assert normalise_url(text, URLS) == general_form(text)


@given(plain | near_urls | st.text(max_size=20))
def test_any_url_equals_the_reference(text):
    assert url(text) == reference.url(text)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is  Beam?", "what is beam"),
        ("what is (beam)", "what is beam"),
        ("C++ and C#", "c++ and c"),  # a plus is no punctuation
        ("$5 < 6_7", "$5 < 67"),
        ("Straße \u2014 \u201eOrt\u201c\u2026", "strasse ort"),
        ("\u3001\u3002 ?!", ""),
        ("\u2e5e", "\u2e5e"),  # Unicode 15 may call it punctuation; Unicode 14 does not have it
        ("  ", ""),
    ],
)
def test_normal_form_of_a_query(query, expected):
    assert normalise_query(query).decode() == expected


@pytest.mark.slow
@given(st.text())
def test_any_query_equals_the_reference(query):
    kept = "".join(
        character for character in query if not unicodedata.category(character).startswith("P")
    )
    assert normalise_query(query).decode() == reference.text(kept)


@given(st.lists(st.sampled_from([*"%2 0a", "%20", "%25", "%C3%A9", "%FF"])).map("".join))
@example("%2%200%2520%%20")
def test_ascii_is_unquoted_as_by_the_standard_library(text):
    assert unquote_ascii(text) == unquote(text)
