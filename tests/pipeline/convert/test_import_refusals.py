"""What `goodgain convert --from` refuses: mappings, options and files, each in one line."""

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.convert.importing import FIXTURES
from tests.pipeline.convert.steps import SAMPLE


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("unit: span", "m.yaml: unit is span, which needs trace and span and start"),
        ("unit: call\nconversation: a\nresults: b\nrank: c", "which does not allow rank"),
        ("unit: row", "m.yaml:1: unit must be 'span', 'call' or 'result'"),
        ("unit: call\nconversation: a\nresults: b\nquerry: c", "m.yaml:4: querry is not a key"),
        (
            "unit: call\nconversation: a\nresults: b ||\nresult: {id: 'nope(x)'}",
            "m.yaml:3: results: 'b ||' is not a JMESPath expression",
        ),
        ("unit: result\nconversation: nope(a)", "there is no function nope()"),
        ("unit: result\nconversation: a\nconversation: b", "m.yaml:3: conversation appears here"),
        ("unit: call\nconversation: a\nresults: b\neach: [{x: a, y: b}]", "each entry of `each`"),
        ("- a", "the mapping"),
    ],
)
def test_mistakes_in_a_mapping_have_line_numbers(tmp_path, mapping, message, capsys):
    path = tmp_path / "m.yaml"
    path.write_text(mapping)
    words = ["--from", "custom", "in", "--mapping", str(path), "--output", "t.jsonl"]
    assert main(["convert", *words]) == 2
    assert message in capsys.readouterr().err.replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--from phoenix a --output b.jsonl", "--from is 'phoenix'; it must be one of otlp,"),
        ("a --output b.jsonl", "--from is missing"),
        ("--from otlp a", "Give the files to import and --output FILE"),
        ("--from otlp --output b.jsonl", "Give the files to import and --output FILE"),
        ("--output b.jsonl", "--output needs --from FORMAT"),
        ("--from otlp a --output b.jsonl --to-run c", "--from and --to-run belong to different"),
        ("--from custom a --output b.jsonl", "--from custom needs --mapping FILE"),
        ("--from otlp a --output b.jsonl", "No file matches a"),
        ("--from otlp empty --output b.jsonl", "the files hold no records"),
        ("--from mlflow words --output b.jsonl", "words is neither JSON nor Parquet"),
        (f"--from otlp {SAMPLE} --output b.jsonl", "avro is an Avro file, which convert does not"),
        ("--from table image --output b.jsonl", "image is neither JSON nor CSV nor Parquet"),
        ("--from otlp words --output b.jsonl", "1 time JSON that holds no spans"),
        ("--from table words --output b.jsonl", "a row without a conversation"),
        (
            f"--from mlflow {FIXTURES / 'langsmith.jsonl'} --output b.jsonl",
            "18 times JSON that holds no data.spans",
        ),
    ],
)
def test_mistakes_in_options_give_one_line(tmp_path, monkeypatch, words, message, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    (tmp_path / "words").write_text("one,two\n1,2\n")
    (tmp_path / "image").write_bytes(b"\x89PNG\r\0\n")
    assert main(["convert", *words.split()]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "image", "words"]


@pytest.mark.parametrize("text", ['{"resourceSpans": []}', '{\n"a": 1\n}', "id,query\n1,a\n"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("format", "texts"), [("otlp", "JSON or CSV"), ("mlflow", "JSON")])
def test_text_in_utf_16_is_named(tmp_path, capsys, format, texts, encoding, text):
    """As PowerShell writes it by default."""
    path = tmp_path / "spans.json"
    path.write_text("\ufeff" + text, encoding)
    output = tmp_path / "traces.jsonl"
    assert main(["convert", "--from", format, str(path), "--output", str(output)]) == 2
    message = f"{path} is text in UTF-16; save it as {texts} in UTF-8, or as Parquet."
    assert message in capsys.readouterr().err
    assert not output.exists()
