"""Codes and digests of URLs, which are made with fewer steps where they are plain."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from goodgain.transforms.core.dedup import url_part
from goodgain.transforms.core.dedup.url_part import UrlPart
from goodgain.transforms.core.dedup.url_rules import UrlAlias, UrlRules, with_aliases
from tests.core.direct import shipped_rules

URLS = UrlPart(shipped_rules())

HOSTS = [
    "x",
    "www.X.com",
    "a.sharepoint.com",
    "office.com:443",
    "x:8080",
    "arxiv.org",
    "xdoi.org",
    "Youtu.BE",
    ".office.com",
]
PATHS = [
    *("", "/", "/a", "/A%20b/", "/%C3%A9", "/%FF", "/abs/1v2", "/index.html", "/Index%2Ehtm", "//"),
    *("/doi.org/10", "/10.1", "/%20%2520%%20"),
]
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


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        (r"^a\.example/", "https://www.A.example/b"),
        (r"^a\.exam", "https://a.example"),
        (r"\.example/b", "https://a.example/b"),
        (r"B\.html", "https://a.example/B%2Ehtml"),
        (r"/b/", "https://a.example/b/c"),
        ("id=", "https://a.example/b?id=1"),
        (r"=1\.0", "https://a.example/b?id=1.0"),
        ("[ab]", "https://a.example/b"),
    ],
)
def test_an_alias_applies_wherever_in_a_url_its_pattern_matches(pattern, written):
    alias = UrlAlias(re.compile(pattern), "other.example/")
    with_alias = UrlPart(replace(shipped_rules(), urls=with_aliases(UrlRules(), [alias])))
    without = UrlPart(replace(shipped_rules(), urls=UrlRules()))
    assert with_alias.part_of(written) == with_alias._part_of_any(written)
    assert with_alias.part_of(written) != without.part_of(written)
