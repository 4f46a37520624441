"""Normal forms of texts, times, ids, URLs and type names (SPEC 4.1)."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import IPv6Address
from urllib.parse import parse_qsl, unquote

from tests.reference.newer_characters import casefold, lower, nfkc

TIME_FIELDS = {"start", "end", "date_time_received", "last_modified_time"}

IGNORED_PARAMETERS = {
    *("wdorigin", "wdprevioussession", "wdprevioussessionid"),
    *("gclid", "fbclid", "msclkid", "mc_cid", "mc_eid"),
}
IGNORED_ON_OFFICE = {
    *("web", "preview", "view", "action", "auth", "token", "session", "d", "e", "cid"),
}
OFFICE = ("sharepoint.com", "office.com", "live.com", "microsoft.com")

GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
PORT = re.compile(r"[0-9]+([/?#]|$)")
LEADING = re.compile(r"\A[\x00-\x20]+")
PARTS = re.compile(  # of RFC 3986
    r"([A-Za-z][A-Za-z0-9+.\-]*:)?(//(?P<place>[^/?#]*))?(?P<path>[^?#]*)(\?(?P<query>[^#]*))?"
)
BRACKETS = re.compile(r"[^\[]*\[(?P<host>[^\]]*)(\][^:]*)?(:(?P<port>.*))?")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_list(value):
    """The values as a list; a plain string is one value, null is none."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


@lru_cache(10_000)
def text(value):
    """The normalised text; empty when absent."""
    folded = casefold(nfkc(value or ""))
    return re.sub(r"\s+", " ", folded).strip()


@lru_cache(10_000)
def instant(value):
    """Microseconds since 1970 UTC of an ISO 8601 time; None for any other text."""
    value = value.strip()
    if value[-1:] in ("Z", "z"):
        value = value[:-1] + "+00:00"
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return (parsed - EPOCH) // timedelta(microseconds=1)


def field_value(name, value):
    """One value of a field as a string in normal form; empty when absent."""
    microseconds = instant(value or "") if name in TIME_FIELDS else None
    return text(value) if microseconds is None else f"instant {microseconds}"


def identifier(value):
    """One id in normal form; empty when absent."""
    trimmed = (value or "").strip()
    return casefold(trimmed) if GUID.fullmatch(trimmed) or "@" in trimmed else trimmed


@lru_cache(10_000)
def url(value):
    """(host, path, tuple of query pairs), or None when absent."""
    trimmed = (value or "").strip()
    if not trimmed:
        return None
    opaque = (casefold(trimmed), "", ())
    scheme = SCHEME.match(trimmed)
    if scheme:
        rest = trimmed[scheme.end() :]
        if not rest.startswith("//") and not PORT.match(rest):
            return opaque
    if "://" not in trimmed and not trimmed.startswith("//"):
        trimmed = "//" + trimmed
    trimmed = re.sub(r"[\t\r\n]", "", LEADING.sub("", trimmed))
    place, path, query = PARTS.match(trimmed).group("place", "path", "query")
    try:
        host, port = host_and_port(place or "")
    except ValueError:
        return opaque
    host = host.removeprefix("www.")
    if port not in (None, 80, 443):
        host = f"{host}:{port}"
    return other_form(host, unquote(path).rstrip("/") or "/", query_pairs(query or "", host))


def host_and_port(place):
    """What `urlsplit` of Python 3.11.7 finds in front of the path; ValueError if it refuses."""
    if ("[" in place) != ("]" in place):
        raise ValueError(place)
    if "[" in place:
        inside = place.split("[", 1)[1].split("]", 1)[0]
        if not re.fullmatch(r"v[0-9a-fA-F]+\..+", inside):
            IPv6Address(inside)
    if set(nfkc(re.sub("[@:]", "", place))) & set("/?#@:"):
        raise ValueError(place)
    place = place.split("@")[-1]
    host, _, port = place.partition(":")
    if "[" in place:
        host, port = BRACKETS.match(place).group("host", "port")
    name, *zone = host.split("%", 1)
    host = "%".join([lower(name), *zone])
    if not port:
        return host, None
    if not re.fullmatch("[0-9]+", port) or int(port) > 65_535:
        raise ValueError(port)
    return host, int(port)


def query_pairs(query, host):
    """The sorted (name, value) pairs of a query, without ignored parameters."""
    pairs = [(casefold(name), value) for name, value in parse_qsl(query, keep_blank_values=True)]
    kept = [
        (name, value)
        for name, value in pairs
        if name not in IGNORED_PARAMETERS
        and not name.startswith("utm_")
        and not (name in IGNORED_ON_OFFICE and is_office(host))
    ]
    return tuple(sorted(kept))


def is_office(host):
    """Whether a host belongs to SharePoint, Office, OneDrive or Microsoft."""
    labels = host.split(":")[0].split(".")
    return ".".join(labels[-2:]) in OFFICE


VIDEO = re.compile(r"[0-9A-Za-z_-]+")


def other_form(host, path, pairs):
    """Where the shipped aliases lead; None if the URL names no document.

    Written out case by case, without the patterns of the rules file.
    """
    if host in ("arxiv.org", "export.arxiv.org"):
        _, kind, *name = path.split("/", 2)
        name = name[0].split("?")[0] if name else ""
        if kind in ("abs", "pdf", "html") and name:
            plain = name.removesuffix(".pdf") or name
            digits = len(plain) - len(plain.rstrip("0123456789"))
            if digits and plain[:-digits].endswith("v") and len(plain) > digits + 1:
                plain = plain[: -digits - 1]
            return "arxiv.org", f"/abs/{plain}".rstrip("/"), ()
    if host in ("doi.org", "dx.doi.org") and re.match(r"/10\..", path):
        folded = tuple(sorted((name, casefold(value)) for name, value in pairs))
        return "doi.org", casefold(path), folded
    if host == "youtu.be" and (video := VIDEO.match(path[1:])):
        return "youtube.com", "/watch", (("v", video[0]),)
    if host in ("youtube.com", "m.youtube.com"):
        for kind in ("/shorts/", "/embed/", "/live/"):
            if path.startswith(kind) and (video := VIDEO.match(path.removeprefix(kind))):
                return "youtube.com", "/watch", (("v", video[0]),)
        if path == "/watch":
            videos = [VIDEO.match(value) for name, value in pairs if name == "v"]
            videos = [found[0] for found in videos if found]
            if videos:
                return "youtube.com", "/watch", (("v", videos[-1]),)
    language, _, rest = host.partition(".")
    if rest == "m.wikipedia.org" and re.fullmatch("[a-z-]+", language):
        return f"{language}.wikipedia.org", path, pairs
    if host == "vertexaisearch.cloud.google.com" and path.startswith("/grounding-api-redirect/"):
        return None
    for name in ("/index.html", "/index.htm"):
        if path.startswith("/") and path.endswith(name):
            return host, path.removesuffix(name).rstrip("/") or "/", pairs
    return host, path, pairs
