import json

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.studies.comparison.traces import (
    base_arm,
    candidate_arm,
    conversation,
    output_of,
)


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A baseline, and a run that finds more in even conversations and has one in a new market.

    Both also have a conversation without a good result, one without labels, and a rejected record.
    """
    folder = tmp_path_factory.mktemp("runs")
    odd = [
        conversation("nothing", [[0, 1]], market="fr"),
        conversation("blind", [[None, None]], market="fr"),
        [{"conversation_id": "", "iteration": 1, "results": []}],
    ]
    new = conversation("new", [[4]], market="es")
    options = {"slice": ["market"], "max_rejected": "100%"}
    return (
        output_of(folder / "baseline", [*base_arm(), *odd], **options),
        output_of(folder / "run", [*candidate_arm(), *odd, new], **options),
    )


@pytest.fixture
def judge(tmp_path, capsys):
    """Run a gate with these rules, and return its exit code and outcomes."""

    def judge_rules(rules, run, *words, **settings):
        path = tmp_path / "gate.yaml"
        path.write_text(json.dumps({"rules": rules, **settings}))
        capsys.readouterr()
        code = main(["gate", run, "--config", str(path), "--json", *map(str, words)])
        return code, json.loads(capsys.readouterr().out)["outcomes"]

    return judge_rules
