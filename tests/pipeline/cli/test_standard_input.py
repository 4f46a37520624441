"""`-` as an input, by which other programs mean standard input."""

from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode

SAMPLE = Path(__file__).parents[3] / "configs/data/sample.avro"


@pytest.mark.parametrize(
    "words",
    [
        "run --input - --output out",
        "run --input sample.avro --qrels - --output out",
        "run --input sample.avro --labels - --output out",
        "run --input sample.avro --exclude - --output out",
        "run --config - --input sample.avro --output out",
        "validate -",
        "validate sample.avro --rules -",
        "explain c-1 --input -",
        "pool build --run a=- --output pool",
        "convert --from otlp - --output traces.jsonl",
        "convert --from custom a --mapping - --output traces.jsonl",
        "convert --from-traces - --to-run out",
        "gate run --config -",
        "pool label pool --from -",
    ],
)
def test_every_command_explains_that_it_reads_no_standard_input(
    words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample.avro").write_bytes(SAMPLE.read_bytes())
    assert main(words.split()) == ExitCode.USAGE
    assert "Standard input (-) is not read" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
