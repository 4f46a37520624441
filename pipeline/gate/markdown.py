"""The outcome of a gate as Markdown, for the summary page of a CI job."""

from __future__ import annotations

from collections.abc import Sequence

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
