"""What `goodgain validate --json` says of trace files."""

import json

import pytest

from goodgain.pipeline.__main__ import main


@pytest.fixture
def validate(capsys):
    def run(*words):
        code = main(["validate", "--json", *words])
        return code, json.loads(capsys.readouterr().out)

    return run
