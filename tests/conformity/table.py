"""Write tests/conformity/README.md: `python -m tests.conformity.table`."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from goodgain.transforms.core.ranking import FAMILIES
from tests.conformity import trec_tables
from tests.conformity.judgments import CASES, Case
from tests.conformity.peers import PEERS, Peer
from tests.conformity.tools import LEVEL, TOOLS

FILE = Path(__file__).parent / "README.md"

HEAD = f"""# Which tools give the same numbers

Made by `python -m tests.conformity.table` from what the tests compare; do not edit. A cell names
the metric in that tool. Without a note its value equals ours on every topic; with notes, on every
topic but those of the notes. Relevant means gain >= {LEVEL}.

* `test_peers.py` asks trec_eval for 3,000 random topics, the others for 500 of them per group of
  metrics, and all for those that hypothesis thinks of. It compares every value to 1e-9 (gdeval,
  which ir_measures calls for ERR and for nDCG with exponential gain, prints five decimals), and
  asserts each difference on its example.
* ranx runs as plain Python there, but bpref where compiling changes it. With NUMBA_DISABLE_JIT=0
  in the environment all of it is compiled, which takes minutes the first time, and every tool is
  asked for all 3,000 topics.
* `test_trec_eval_tables.py` compares with the tables that trec_eval expects of itself, to their
  four decimals. A measure in *italics* is compared there alone.
* Every metric, and the two that no tool here has (`cg`, `nerr`), is compared with the formulas of
  SPEC 8 written down one by one (`tests/core/ranking`).
"""


def table() -> str:
    """The whole file as Markdown."""
    notes: list[str] = []
    rows = [_row(family, notes) for family in FAMILIES]
    lines = [
        HEAD,
        f"| metric | {' | '.join(TOOLS)} |",
        f"|---|{'---|' * len(TOOLS)}",
        *rows,
        "",
        "## Where they differ",
        "",
        *(f"{number}. {note}" for number, note in enumerate(notes, 1)),
        "",
        "Whatever the metric:",
        "",
        *(_case(case) for case in CASES),
        "",
        "## What trec_eval has and we have not",
        "",
        ", ".join(f"`{measure}`" for measure in trec_tables.NOT_OURS) + ".",
    ]
    return "\n".join(lines) + "\n"


def _row(family: str, notes: list[str]) -> str:
    cells = []
    for tool in TOOLS:
        peers = [peer for peer in PEERS if peer.tool == tool and _family(peer.metric) == family]
        spellings = [_spelling(peer, notes) for peer in peers]
        if tool == "trec_eval":
            spellings += _only_in_tables(family, notes)
        cells.append("<br>".join(spellings) or "none")
    return f"| `{family}` | {' | '.join(cells)} |"


def _spelling(peer: Peer, notes: list[str]) -> str:
    text = f"`{peer.spelling.format(k='k')}`"
    if peer.binary:
        text += " on gains 0 and 1"
    numbers = [_number(_difference(peer, difference), notes) for difference in peer.differences]
    return text + "".join(f" [{number}]" for number in numbers)


def _only_in_tables(family: str, notes: list[str]) -> list[str]:
    measures = {"rbp": "rbp", "rbp_residual": "rbp_resid", "judged": "unj_k"}
    if family not in measures:
        return []
    measure = measures[family]
    return [f"*`{measure}`* [{_number(trec_tables.NOTES[measure], notes)}]"]


def _difference(peer: Peer, difference) -> str:
    example = f"labels {_gains(difference.example.labels)}"
    if difference.example.rest:
        example += f", also judged {_gains(difference.example.rest)}"
    return (
        f"{difference.why} Example: {example}: ours {_value(difference.ours)}, "
        f"theirs {_value(difference.theirs)}."
    )


def _case(case: Case) -> str:
    beside = ""
    if case.beside is not None:
        beside = f", beside a topic with qrels {case.beside[0]}, scores {case.beside[1]}"
    return (
        f"* {case.why} Example: qrels {case.qrels}, scores {case.run}{beside}: `{case.metric}` "
        f"{_value(case.ours)}, {case.tool}'s `{case.spelling}` {_value(case.theirs)}."
    )


def _number(note: str, notes: list[str]) -> int:
    if note not in notes:
        notes.append(note)
    return notes.index(note) + 1


def _family(metric: str) -> str:
    return metric.replace(".", "@").partition("@")[0]


def _gains(gains: tuple[int, ...]) -> str:
    return " ".join("unjudged" if gain < 0 else str(gain) for gain in gains)


def _value(value: float | type[Exception] | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, type):
        return f"raises {value.__name__}"
    return "NaN" if isnan(value) else f"{value:.6g}"


if __name__ == "__main__":
    FILE.write_text(table(), encoding="utf-8")
