"""Codes and digests of URLs, which are made with fewer steps where they are plain."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodgain.transforms.core.dedup import url_part
from goodgain.transforms.core.dedup.url_part import UrlPart
from tests.core.direct import shipped_rules

URLS = UrlPart(shipped_rules())

HOSTS = [
    "x",
    "www.X.com",
    "a.sharepoint.com",
    "office.com:443",
    "x:8080",
    "arxiv.org",
    ".office.com",
]
PATHS = ["", "/", "/a", "/A%20b/", "/%C3%A9", "/%FF", "/abs/1v2", "/index.html", "//"]
NAMES = [
    *("id", "ID", "v", "%69d", "a", "A", "a%25", "%s", "a+b", "a%20b", "%C3%89", "%FF", ""),
    *("utm_x", "UTM_Y", "web", "token", "d", "page", "itemid", "docid"),
]
VALUES = ["", "1", "2", "%7B1%7D", "%7b1%7d", "a+b", "%2B", "%", "%s", "=", "a=b", "%C3%A9", "%FF"]
pairs = st.builds("{}={}".format, st.sampled_from(NAMES), st.sampled_from(VALUES))
queries = st.lists(pairs | st.sampled_from(["", "=", *NAMES]), max_size=5).map("&".join)
urls = st.builds(
    "https://{}{}?{}{}".format,
    st.sampled_from(HOSTS),
    st.sampled_from(PATHS),
    queries,
    st.sampled_from(["", "#a?b=1"]),
)


@given(urls)
@example("https://x/a?a=1&id=2&v=3")
@example("https://x/a?id=2&id=1")
@example("https://x/a?b=/index.html")
def test_part_of_a_plain_url_equals_that_of_its_normal_form(url):
    assert URLS.part_of(url) == URLS._part_of_any(url)


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://x/a?id=1&page=2", "http://www.x/a/?PAGE=2&ID=1"),
        ("https://a.office.com/?web=1&a=%7B1%7D", "https://a.office.com?a=%7b1%7d&token=2"),
        ("https://x/a?utm_source=b", "https://x/a?"),
    ],
)
def test_plain_urls_need_no_normal_form_as_an_object(monkeypatch, url, other):
    monkeypatch.setattr(url_part, "normalise_url", None)
    assert URLS.part_of(url) == URLS.part_of(other)


def test_values_of_different_parameters_have_different_digests():
    assert URLS.part_of("https://x/?id=1")[1] != URLS.part_of("https://x/?v=1")[1]
