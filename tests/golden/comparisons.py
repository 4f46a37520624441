"""The outputs of `compare` and `gate` over pairs of runs."""

from pathlib import Path

from msgspec import Struct

from goodgain.pipeline.results.exit_codes import ExitCode
from tests.golden import traces

_RULES = """
without_baseline: fail
least_n: 5
rules:
  - rejected <= 1 %
  - unlabelled <= 10 %
  - conversations >= 5
  - SRE >= 0.1
  - {metric: CG_at_i, i: 2, population: all, at_least: 1}
  - SRR rise <= 0.05
  - {metric: CG, drop_at_most: 2 %, proof: of_compliance, confidence: 95 %}
  - {metric: CG, drop_at_most: 50 %, proof: of_breach, slice: [market], least_n: 3}
  - {metric: cost.tokens, rise_at_most: 10 %}
  - {metric: ndcg@10, at_least: 0.2, slice: {market: fr}}
"""


class Comparison(Struct, frozen=True):
    """Two runs, and how they are compared.

    Attributes:
      run: options of both runs.
      compare: options of `compare`.
      arms: compare two arms of the first run.
    """

    name: str
    seed: int
    run: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()
    arms: bool = False


COMPARISONS = (
    Comparison(
        "paired",
        41,
        ("--cost", "tokens,usd", "--slice", "market"),
        ("--slice", "market", "--wilcoxon", "--sign", "--bootstrap", "200", "--tolerance", "CG=1"),
    ),
    Comparison(
        "clustered",
        42,
        ("--cluster", "query_id", "--max-i", "3"),
        ("--correction", "benjamini_hochberg", "--interval", "student"),
    ),
    Comparison(
        "arms",
        43,
        ("--bounds", "--max-i", "3"),
        ("--by", "arm", "--base", "A", "--candidate", "B", "--family", "CG", "ndcg@10"),
        arms=True,
    ),
)


def outputs_of_comparison(case, folder: Path, command):
    """What `compare` and `gate` print, by name."""
    base = traces.single_turns(case.seed, 24)
    folders = []
    for name, records in (("base", base), ("candidate", traces.change(base))):
        path = traces.write(folder, f"{name}.jsonl", traces.encode_file(records, "jsonl"))
        output = folder / name
        command("run", "--input", path, "--output", output, *case.run, codes=tuple(ExitCode))
        folders.append(output)
    rules = traces.write(folder, "gate.yaml", _RULES)
    compared = folders[:1] if case.arms else folders
    gate = ("gate", folders[1], "--config", rules, "--baseline", folders[0])
    return {
        "compare": command("compare", *compared, *case.compare),
        "gate": command(*gate, codes=(ExitCode.DONE, ExitCode.REGRESSION)),
    }
