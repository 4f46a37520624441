"""The outcome of a gate as files for CI: JUnit XML, and Markdown for the summary page of a job."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from goodgain.pipeline.gate.outcome import Outcome, cautions_of, passed
from goodgain.pipeline.terminal.safe_text import printable

_MARKS = {"passed": "passed", "failed": "**failed**", "skipped": "skipped"}
_SPECIAL = "\\`*_{}[]<>#|~&!"


def markdown(outcomes: Sequence[Outcome], folder: str) -> str:
    """A heading with the verdict, and a table with one line per outcome."""
    failed = sum(outcome.verdict == "failed" for outcome in outcomes)
    verdict = "passed" if passed(outcomes) else f"failed ({failed} of {len(outcomes)} rules)"
    lines = [
        f"### Gate {verdict}: {_escaped(folder)}",
        "",
        "| rule | value | bound | n | verdict | reason |",
        "|---|---|---|---:|---|---|",
    ]
    for outcome in outcomes:
        n = "" if outcome.n is None else f"{outcome.n:,}"
        cells = (*outcome.cells, n)
        lines.append(
            f"| {' | '.join(map(_escaped, cells))} | {_MARKS[outcome.verdict]} | "
            f"{_escaped(outcome.reason)} |"
        )
    for caution in cautions_of(outcomes):
        lines += ["", _escaped(caution)]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Escape Markdown and HTML in a text."""
    return "".join("\\" + one if one in _SPECIAL else one for one in printable(text))


def junit(outcomes: Sequence[Outcome], folder: str, timestamp: str) -> bytes:
    """One test suite with a test case for each outcome.

    Args:
      timestamp: time of the check, ISO 8601 without a zone, as the format requires.
    """
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(sum(outcome.verdict == "failed" for outcome in outcomes)),
        "errors": "0",
        "skipped": str(sum(outcome.verdict == "skipped" for outcome in outcomes)),
        "time": "0",
    }
    # The schema allows no `skipped` here.
    of_all = {name: count for name, count in counts.items() if name != "skipped"}
    suites = ElementTree.Element("testsuites", {"name": "goodgain gate", **of_all})
    suite = ElementTree.SubElement(
        suites,
        "testsuite",
        {"name": printable(folder), **counts, "timestamp": timestamp, "hostname": "localhost"},
    )
    for outcome in outcomes:
        _case(suite, outcome)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _case(suite: ElementTree.Element, outcome: Outcome) -> None:
    name = printable(f"{outcome.rule}: {outcome.bound}")
    case = ElementTree.SubElement(
        suite, "testcase", {"name": name, "classname": "goodgain.gate", "time": "0"}
    )
    message = printable("; ".join(filter(None, (outcome.value, outcome.reason))))
    if outcome.verdict == "failed":
        failure = ElementTree.SubElement(case, "failure", {"type": "gate", "message": message})
        failure.text = printable(f"{outcome.rule} must be {outcome.bound}; {message}")
    elif outcome.verdict == "skipped":
        ElementTree.SubElement(case, "skipped", {"message": message})
    else:
        ElementTree.SubElement(case, "system-out").text = message
