"""Codes and digests of URLs in fingerprints (SPEC 4.1)."""

from __future__ import annotations

from itertools import chain
from operator import add

from msgspec import Struct
from xxhash import xxh3_64_digest

from goodgain.transforms.core.dedup.attribute_parts import (
    ABSENT,
    SEEDS,
    Part,
    after_length,
    join_texts,
)
from goodgain.transforms.core.dedup.memo import Memo
from goodgain.transforms.core.dedup.normalise import (
    normalise_url,
    plain_host,
    split_plain_url,
    unquote_ascii,
)
from goodgain.transforms.core.dedup.rules import URL, URL_QUERY, RuleTable
from goodgain.transforms.core.unicode_14 import casefold

_URL_CODES = bytes((URL,))


class _Site(Struct, frozen=True):
    """What the URLs of a site have in common.

    Attributes:
      host: in its normal form.
      domains: those in the rules for parameters that it belongs to.
      may_have_alias: whether an alias may apply even to those without a dot after the host.
    """

    host: str
    domains: tuple[str, ...]
    may_have_alias: bool


class _QueryPlan(Struct, frozen=True):
    """What becomes of a query, as far as the names of its parameters decide.

    Attributes:
      kept: the positions of the parameters that may name a document, in the order of their names.
      form: these as they stand in a normalised URL, with `%s` for each value.
      names: their names as `join_texts` writes them.
      codes: the codes of the URL.
      identifying: the position among the kept of each parameter with a digest of its own, and the
        seed of that.
    """

    kept: tuple[int, ...]
    form: str
    names: tuple[bytes, ...]
    codes: bytes
    identifying: tuple[tuple[int, int], ...]


class UrlPart:
    """Makes the codes and digests of URLs. Not thread-safe, since it has caches.

    Plain URLs of one site have the same names in their queries, so what becomes of the parameters
    is decided once for these names. All that the names do not decide is left to `normalise_url`.
    """

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._sites = Memo(self._site)
        self._plans = Memo(self._plan)

    def part_of(self, url: str) -> Part:
        """The codes and digests of a URL."""
        plain = split_plain_url(url)
        site = None if plain is None else self._sites[plain[0]]
        if plain is None or site is None:
            return self._part_of_any(url)
        _, path, query = plain
        written = site.host + path
        plan, values = None, []
        if query:
            pairs = [pair.partition("=") for pair in query.replace("+", " ").split("&") if pair]
            plan = self._plans[site.domains, tuple([name for name, _, _ in pairs])]
            if plan is None:
                return self._part_of_any(url)
            values = [pairs[position][2] for position in plan.kept]
            if "%" in query:
                values = list(map(unquote_ascii, values))
            written += plan.form % tuple(values)
        may_have_alias = site.may_have_alias or written.rfind(".") >= len(site.host)
        if may_have_alias and self._rules.urls.may_have_alias(written):
            return self._part_of_any(url)
        place = _place_digest(site.host, path)
        if plan is None or not values:
            return _URL_CODES, place
        texts = [after_length(value.encode()) for value in values]
        pairs_kept = b"".join(map(add, plan.names, texts))
        digests = [place, xxh3_64_digest(pairs_kept, SEEDS[URL_QUERY])]
        digests += [xxh3_64_digest(texts[position], seed) for position, seed in plan.identifying]
        return plan.codes, b"".join(digests)

    def _site(self, place: str) -> _Site | None:
        """What has its documents at such a place in a plain URL; None if the place is not plain."""
        host = plain_host(place)
        if host is None:
            return None
        rules = self._rules.urls
        return _Site(host, rules.ignoring_domains(host), rules.may_have_alias_at(host))

    def _plan(self, query: tuple[tuple[str, ...], tuple[str, ...]]) -> _QueryPlan | None:
        """The plan for the domains of a host and the names of parameters; None if two are equal."""
        domains, written = query
        folded = [casefold(unquote_ascii(name)) for name in written]
        kept = sorted(
            (name, position)
            for position, name in enumerate(folded)
            if not self._rules.urls.ignores(name, domains)
        )
        names = [name for name, _ in kept]
        if len(set(names)) < len(names):
            return None
        numbers = self._rules.url_parameters
        identifying = [
            (position, numbers[name]) for position, name in enumerate(names) if name in numbers
        ]
        pairs = "&".join([f"{name.replace('%', '%%')}=%s" for name in names])
        return _QueryPlan(
            kept=tuple(position for _, position in kept),
            form=f"?{pairs}" if pairs else "",
            names=tuple(after_length(name.encode()) for name in names),
            codes=bytes((URL, URL_QUERY, *(number for _, number in identifying))),
            identifying=tuple((position, SEEDS[number]) for position, number in identifying),
        )

    def _part_of_any(self, url: str) -> Part:
        normal = normalise_url(url, self._rules.urls)
        if normal is None:
            return ABSENT
        place = _place_digest(normal.host, normal.path)
        if not normal.query:
            return _URL_CODES, place
        codes = bytearray((URL, URL_QUERY))
        digests = [place, xxh3_64_digest(join_texts(chain(*normal.query)), SEEDS[URL_QUERY])]
        parameters = self._rules.url_parameters
        identifying = {name for name, _ in normal.query if name in parameters}
        for parameter in sorted(identifying):
            number = parameters[parameter]
            values = sorted({value for name, value in normal.query if name == parameter})
            codes.append(number)
            digests.append(xxh3_64_digest(join_texts(values), SEEDS[number]))
        return bytes(codes), b"".join(digests)


def _place_digest(host: str, path: str) -> bytes:
    return xxh3_64_digest(f"{host}\n{path}".encode(), SEEDS[URL])
