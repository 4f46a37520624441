"""Which URLs name the same document: ignored parameters and other forms (SPEC 4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.unicode_14 import casefold

Pairs = tuple[tuple[str, str], ...]  # names and values of a query


class ParameterNames(Struct, frozen=True):
    """Names of query parameters, casefolded.

    Attributes:
      prefixes: names that begin with one of these belong, too.
    """

    names: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, written: Iterable[str]) -> ParameterNames:
        """From names of which `*` at the end matches any suffix."""
        folded = [casefold(name) for name in written]
        return cls(
            frozenset(name for name in folded if not name.endswith("*")),
            tuple(name[:-1] for name in folded if name.endswith("*")),
        )

    def __contains__(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)


class UrlAlias(Struct, frozen=True):
    """Another form of a URL that leads to the same document.

    Attributes:
      pattern: searched in `host/path?query` of the normalised URL.
      replacement: of what the pattern matches; of the whole text "" means that it names nothing.
      folds: whether the case of the result does not matter.
    """

    pattern: re.Pattern[str]
    replacement: str
    folds: bool = False


class UrlRules(Struct, frozen=True):
    """The rules for URLs, compiled.

    Attributes:
      ignored: parameters that name no document, on any host.
      ignored_on: the same on hosts of a domain, by domain with a dot before it.
      aliases: the first whose pattern matches applies.
      needles: texts in lower case, one of which every URL contains to which an alias may apply.
    """

    ignored: ParameterNames = ParameterNames()
    ignored_on: tuple[tuple[str, ParameterNames], ...] = ()
    aliases: tuple[UrlAlias, ...] = ()
    needles: tuple[str, ...] = ()

    def ignoring_domains(self, host: str) -> tuple[str, ...]:
        """The domains in `ignored_on` to which a host belongs."""
        dotted = f".{host.partition(':')[0]}"
        return tuple([domain for domain, _ in self.ignored_on if dotted.endswith(domain)])

    def ignores(self, name: str, domains: tuple[str, ...]) -> bool:
        """Whether a parameter, casefolded, names no document on a host of these domains."""
        return name in self.ignored or any(
            name in ignored for domain, ignored in self.ignored_on if domain in domains
        )

    def keep_pairs(self, host: str, pairs: Iterable[tuple[str, str]]) -> Pairs:
        """The pairs of a query that may name a document, casefolded and sorted."""
        domains = self.ignoring_domains(host)
        folded = [(casefold(name), value) for name, value in pairs]
        return tuple(sorted(pair for pair in folded if not self.ignores(pair[0], domains)))

    def may_have_alias_at(self, host: str) -> bool:
        """Whether an alias may apply to a URL of this host that has no dot after the host.

        Most hosts have none, so of their URLs only those with such a dot are to be searched.
        """
        for needle in self.needles:
            # All its dots are in the host then, which has no slash.
            head, _, _ = needle.partition("/")
            if "." not in needle or ("." in head and head in host):
                return True
        return False

    def may_have_alias(self, written: str) -> bool:
        """Whether an alias may apply to a normalised URL, written as `host/path?query`."""
        # With a generator, so few would take twice as long.
        return any(map(written.lower().__contains__, self.needles))

    def resolve(self, host: str, path: str, query: Pairs) -> tuple[str, str, Pairs] | None:
        """Host, path and query of the document that a URL names; None if it names none."""
        if not path.startswith("/"):  # as in `a/b?://`, which has no form `host/path`
            return host, path, query
        written = host + path
        if query:
            written += "?" + "&".join([f"{name}={value}" for name, value in query])
        if not self.may_have_alias(written):
            return host, path, query
        for alias in self.aliases:
            resolved, found = alias.pattern.subn(alias.replacement, written, count=1)
            if found:
                return _parts(casefold(resolved) if alias.folds else resolved)
        return host, path, query


def with_aliases(rules: UrlRules, aliases: Iterable[UrlAlias]) -> UrlRules:
    """The rules with aliases, and the needles of these."""
    aliases = tuple(aliases)
    needles = sorted({_literal(alias.pattern.pattern) for alias in aliases})
    return replace(rules, aliases=aliases, needles=tuple(needles))


def _parts(written: str) -> tuple[str, str, Pairs] | None:
    if not written:
        return None
    place, _, query = written.partition("?")
    host, slash, path = place.partition("/")
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return (
        host,
        (slash + path).rstrip("/") or "/",
        tuple(sorted((name, value) for name, _, value in pairs)),
    )


def _literal(pattern: str) -> str:
    """The longest ASCII text, in lower case, that every match of a pattern contains; "" if none."""
    # Python's own parser: what it takes for literal characters in a row, outside of groups.
    parsed: Any = re._parser.parse(pattern)  # type: ignore[attr-defined]
    return max(_runs(parsed), key=len, default="").lower()


def _runs(parsed: Any) -> Iterator[str]:
    run = ""
    for operator, argument in parsed:
        if str(operator) == "LITERAL" and argument < 128:
            run += chr(argument)
        else:
            yield run
            run = ""
    yield run
