"""Splits URLs as `urllib.parse.urlsplit` of Python 3.11.7, in every version of Python (SPEC 4.1).

Later releases refuse more hosts in brackets, and decompose characters that are new in Unicode.
"""

from __future__ import annotations

import re

from goodgain.transforms.core.unicode_14 import fold_nfkc, lower

_LEADING = "".join(map(chr, range(0x21)))  # control characters and the space
_IGNORED = dict.fromkeys(map(ord, "\t\r\n"))  # anywhere
_SCHEME = re.compile(r"\A[A-Za-z][A-Za-z0-9+.\-]*:")
_PORT = re.compile("0*[0-9]{1,5}")
_GREATEST_PORT = 0xFFFF
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4_AT_END = re.compile(rf"(?<=:)(?:{_BYTE}\.){{3}}{_BYTE}\Z")
_IPV6_GROUP = re.compile("[0-9A-Fa-f]{1,4}")
_IPV6_GROUPS = 8
_FUTURE_IP = re.compile(r"v[0-9A-Fa-f]+\..+")


def split_url(url: str) -> tuple[str, int | None, str, str] | None:
    """Host, port, path and query of a URL, which need not begin with a scheme or `//`.

    The host is in lower case, "" if there is none; path and query are percent-encoded, as in the
    URL. None if it is no valid one.
    """
    if "://" not in url and not url.startswith("//"):
        url = f"//{url}"
    url = _SCHEME.sub("", url.lstrip(_LEADING).translate(_IGNORED))
    path, _, query = url.partition("#")[0].partition("?")
    if not path.startswith("//"):
        return "", None, path, query
    place, slash, path = path[2:].partition("/")
    host, port = _host_and_port(place)
    if not _is_place(place):
        return None
    if port and not (_PORT.fullmatch(port) and int(port) <= _GREATEST_PORT):
        return None
    return host, int(port) if port else None, slash + path, query


def _host_and_port(place: str) -> tuple[str, str]:
    """Host and port of what precedes the path, without user info."""
    place = place.rpartition("@")[2]
    _, bracket, bracketed = place.partition("[")
    if bracket:
        host, _, after = bracketed.partition("]")
        port = after.partition(":")[2]
    else:
        host, _, port = place.partition(":")
    name, percent, zone = host.partition("%")  # the zone of an IPv6 address keeps its case
    return lower(name) + percent + zone, port


def _is_place(place: str) -> bool:
    """Whether what precedes the path has an address in its brackets, and no disguised delimiter."""
    if "[" in place or "]" in place:
        address = place.partition("[")[2].partition("]")[0]
        is_address = _FUTURE_IP.fullmatch if address.startswith("v") else _is_ipv6
        if ("[" in place) != ("]" in place) or not is_address(address):
            return False
    hidden = fold_nfkc(place.replace("@", "").replace(":", ""))
    return not any(delimiter in hidden for delimiter in "/?#@:")


def _is_ipv6(address: str) -> bool:
    number, percent, zone = address.partition("%")
    if percent and (not zone or "%" in zone):
        return False
    before, gap, after = _IPV4_AT_END.sub("0:0", number).partition("::")
    groups = [group for part in (before, after) if part for group in part.split(":")]
    has_right_length = len(groups) < _IPV6_GROUPS if gap else len(groups) == _IPV6_GROUPS
    return has_right_length and all(map(_IPV6_GROUP.fullmatch, groups))
