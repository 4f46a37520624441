"""Normal forms of SPEC 4.1, value by value."""

import pytest

from tests.reference import normalisation

OPAQUE = [
    "mailto:Ann@Example.org",
    "im:Ann",
    "C:\\Documents\\a",
    "http:/x/a",
    "http://[x/a",
    "http://x:port/a",
    "http://x:99999/a",
    "x:99999/a",
]
URLS = [
    ("HTTPS://me:pw@WWW.Example.ORG:443/a/b//?x=1#top", ("example.org", "/a/b", (("x", "1"),))),
    ("//example.org", ("example.org", "/", ())),
    ("example.org:0080", ("example.org", "/", ())),
    ("example.org:8080/a", ("example.org:8080", "/a", ())),
    (" localhost:5000?b=&A=2 ", ("localhost:5000", "/", (("a", "2"), ("b", "")))),
    ("http://www.www.x/%61%2F", ("www.x", "/a", ())),
    (
        "http://x.office.com/?UTM_source=1&web=1&Token=2&keep=3&e",
        ("x.office.com", "/", (("keep", "3"),)),
    ),
    ("file:///a/b", ("", "/a/b", ())),
    ("x/go?to=http://y", ("", "x/go", (("to", "http://y"),))),
]
TIMES = [
    ("2024-03-01T10:00:00Z", "2024-03-01T12:00:00+02:00", True),
    ("2024-03-01T10:00:00z", "2024-03-01 10:00", True),
    ("2024-03-01", "2024-W09-5", True),
    ("2024-03-01", "2024-03-01T00:00:01", False),
    ("2024-13-01T00:00:00Z", "2024-13-01t00:00:00z", True),
    ("Next  week", "next week ", True),
    ("0001-01-01T00:00:00+14:00", "0001-01-01T01:00:00+15:00", True),
]


@pytest.mark.parametrize("url", OPAQUE)
def test_opaque_urls_are_only_casefolded(url):
    assert normalisation.url(url) == (url.casefold(), "", ())


@pytest.mark.parametrize(("url", "expected"), URLS)
def test_normal_form_of_a_url(url, expected):
    assert normalisation.url(url) == expected


@pytest.mark.parametrize("url", [None, "", " \n"])
def test_blank_urls_are_absent(url):
    assert normalisation.url(url) is None


@pytest.mark.parametrize(("one", "other", "equal"), TIMES)
def test_times_in_a_time_field_are_compared_as_instants(one, other, equal):
    values = [normalisation.field_value("start", value) for value in (one, other)]
    assert (values[0] == values[1]) is equal


def test_times_in_other_fields_are_text():
    assert normalisation.field_value("created", "2024-03-01T10:00Z") == "2024-03-01t10:00z"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (" 0A1B2C3D-0000-1111-AAAA-0123456789AB ", "0a1b2c3d-0000-1111-aaaa-0123456789ab"),
        ("0A1B2C3D-0000-1111-AAAA-0123456789ABC", "0A1B2C3D-0000-1111-AAAA-0123456789ABC"),
        ("Ann@X", "ann@x"),
        (" Doc-7\n", "Doc-7"),
        ("  ", ""),
    ],
)
def test_normal_form_of_an_id(value, expected):
    assert normalisation.identifier(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("  Straße\u00a0\n \ufb01ne ", "strasse fine"), (None, ""), ("\t", "")],
)
def test_normal_form_of_text(value, expected):
    assert normalisation.text(value) == expected
