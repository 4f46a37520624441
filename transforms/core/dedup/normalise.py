"""Normal forms of text, times, ids and URLs, in which results are compared (SPEC 4.1)."""

from __future__ import annotations

import re
import unicodedata
from datetime import timedelta
from urllib.parse import unquote, unquote_plus, unquote_to_bytes

from msgspec import Struct

from goodgain.transforms.core.dedup.url_parts import split_url
from goodgain.transforms.core.dedup.url_rules import UrlRules
from goodgain.transforms.core.records.epoch import EPOCH
from goodgain.transforms.core.records.iso_time import parse_time
from goodgain.transforms.core.unicode_14 import casefold, fold_nfkc, keep_assigned

_MICROSECOND = timedelta(microseconds=1)
_GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_GUID_LENGTH = 36
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?!//)(?!\d+(?:[/?#]|$))")
_PLAIN_SCHEMES = ("https", "http")
# What most URLs have before their path: an ASCII host, and no port or the default one.
_PLAIN_PLACE = re.compile(r"([A-Za-z0-9.\-]+)(?::443|:80)?")
_DEFAULT_PORTS = (80, 443)
# In lower case, and a space for each character that `str.split` takes for white space.
_FOLDED_ASCII = bytes(
    ord(" " if chr(code).isspace() else chr(code).lower()) if code < 128 else code
    for code in range(256)
)
# White space beyond ASCII that NFKC leaves as it is.
_OTHER_SPACES = ("\x85", "\u1680", "\u2028", "\u2029")


def normalise_text(text: str) -> str:
    """A text in NFKC, casefolded, with white space folded and trimmed; "" means absent."""
    return normal_bytes(text).decode()


def normal_bytes(text: str) -> bytes:
    """`normalise_text` in UTF-8, which takes half the time: ASCII needs no character tables."""
    if not text.isascii():
        # Often the only character that is not ASCII; this is its NFKC form.
        text = text.replace("\u2026", "...")
        if not text.isascii():
            text = fold_nfkc(text)
            for space in _OTHER_SPACES:
                if space in text:
                    text = text.replace(space, " ")
    folded = text.strip().encode().translate(_FOLDED_ASCII)
    # For `in`, bytes first try to read the other as a number, which takes longer than the search;
    # from the beginning, it takes Python 3.11 a third longer than from the end.
    return folded if folded.rfind(b"  ") < 0 else b" ".join(folded.split())


class _WithoutPunctuation(dict[int, int | None]):
    """Maps code points to themselves, those of category P to None; for `str.translate`."""

    def __missing__(self, code: int) -> int | None:
        character = keep_assigned(chr(code))
        is_punctuation = bool(character) and unicodedata.category(character).startswith("P")
        kept = self[code] = None if is_punctuation else code
        return kept


_WITHOUT_PUNCTUATION = _WithoutPunctuation()


def normalise_query(query: str) -> bytes:
    """The normal form of a query's text without punctuation (SPEC 11); empty means absent."""
    return normal_bytes(query.translate(_WITHOUT_PUNCTUATION))


def normalise_time(text: str) -> int | None:
    """The time in an ISO 8601 text, in microseconds since 1970 UTC; None if it is not one.

    A time without an offset is UTC.
    """
    moment = parse_time(text)
    return None if moment is None else (moment - EPOCH) // _MICROSECOND


def normalise_id(value: str, stripped: re.Pattern[str] | None = None) -> str:
    """An id, trimmed; GUIDs and ids with `@` are casefolded; "" means absent.

    Args:
      stripped: the pattern of what is removed from it before.
    """
    value = value.strip() if stripped is None else stripped.sub("", value, count=1).strip()
    folded = casefold(value)
    if folded != value and (
        "@" in value or (len(value) == _GUID_LENGTH and _GUID.fullmatch(value))
    ):
        return folded
    return value


def normalise_type(written: str) -> str:
    """An entity type, trimmed and casefolded; "" means absent."""
    return casefold(written.strip())


class NormalUrl(Struct, frozen=True):
    """A URL in the form in which it is compared, without scheme and fragment."""

    host: str
    path: str
    query: tuple[tuple[str, str], ...]


def normalise_url(url: str, rules: UrlRules) -> NormalUrl | None:
    """Split a URL into the parts to compare; None if it is blank or names nothing (SPEC 4.1)."""
    split = _split(url, rules)
    if split is None or not split.path:
        return split
    resolved = rules.resolve(split.host, split.path, split.query)
    return None if resolved is None else NormalUrl(*resolved)


def _split(url: str, rules: UrlRules) -> NormalUrl | None:
    plain = split_plain_url(url)
    host = None if plain is None else plain_host(plain[0])
    if plain is None or host is None:
        return _split_any(url, rules)
    _, path, query = plain
    return NormalUrl(host, path, rules.keep_pairs(host, _pairs(query)) if query else ())


def split_plain_url(url: str) -> tuple[str, str, str] | None:
    """What precedes the path of a URL, its path in the normal form, and its query as written.

    None if a URL is not plain. Most are, and need no general parser: `_split_any` gives the same
    for those with a `plain_host`.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in _PLAIN_SCHEMES or not url.isascii() or url.split() != [url]:
        return None
    address, _, query = rest.partition("#")[0].partition("?")
    place, _, path = address.partition("/")
    return place, "/" + unquote_ascii(path).rstrip("/"), query


def plain_host(place: str) -> str | None:
    """The normal form of the host before the path of a plain URL; None if it is not plain."""
    plain = _PLAIN_PLACE.fullmatch(place)
    return None if plain is None else plain[1].lower().removeprefix("www.")


def unquote_ascii(text: str) -> str:
    """`unquote` for ASCII, in half the time."""
    if "%" not in text:
        return text
    text = text.replace("%20", " ")  # often all there is to decode
    return unquote_to_bytes(text).decode(errors="replace") if "%" in text else text


def _pairs(query: str) -> list[tuple[str, str]]:
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    if "%" in query or "+" in query:
        return [(unquote_plus(name), unquote_plus(value)) for name, _, value in pairs]
    return [(name, value) for name, _, value in pairs]


def _split_any(url: str, rules: UrlRules) -> NormalUrl | None:
    url = url.strip()
    if not url:
        return None
    parts = None if _SCHEME.match(url) else split_url(url)
    if parts is None:
        return NormalUrl(casefold(url), "", ())
    host, port, path, query = parts
    host = host.removeprefix("www.")
    if port is not None and port not in _DEFAULT_PORTS:
        host = f"{host}:{port}"
    pairs = rules.keep_pairs(host, _pairs(query))
    return NormalUrl(host, unquote(path).rstrip("/") or "/", pairs)
