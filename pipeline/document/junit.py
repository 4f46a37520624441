"""Renders the outcomes of checks as JUnit XML, for CI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from xml.etree import ElementTree

from msgspec import Struct

from goodgain.pipeline.document.safe_text import printable


class Case(Struct, frozen=True):
    """The outcome of one check.

    Attributes:
      message: what was found, and why it failed or was skipped.
      required: what should have been, as a sentence; shown if it failed.
    """

    name: str
    verdict: Literal["passed", "failed", "skipped"]
    message: str
    required: str


def junit_of(cases: Sequence[Case], name: str, timestamp: str) -> bytes:
    """One test suite with a test case for each outcome.

    Args:
      timestamp: time of the check, ISO 8601 without a zone, as the format requires.
    """
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.verdict == "failed" for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.verdict == "skipped" for case in cases)),
        "time": "0",
    }
    # The schema allows no `skipped` here.
    of_all = {name: count for name, count in counts.items() if name != "skipped"}
    suites = ElementTree.Element("testsuites", {"name": "goodgain gate", **of_all})
    suite = ElementTree.SubElement(
        suites,
        "testsuite",
        {"name": printable(name), **counts, "timestamp": timestamp, "hostname": "localhost"},
    )
    for case in cases:
        _add(suite, case)
    ElementTree.indent(suites)
    content: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add(suite: ElementTree.Element, case: Case) -> None:
    of_case = {"name": printable(case.name), "classname": "goodgain.gate", "time": "0"}
    element = ElementTree.SubElement(suite, "testcase", of_case)
    message = printable(case.message)
    if case.verdict == "failed":
        failure = ElementTree.SubElement(element, "failure", {"type": "gate", "message": message})
        failure.text = printable(f"{case.required}; {message}")
    elif case.verdict == "skipped":
        ElementTree.SubElement(element, "skipped", {"message": message})
    else:
        ElementTree.SubElement(element, "system-out").text = message
