import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.views.pages.outputs import market_records, write_outputs


def test_rebuilding_the_report_gives_the_same_bytes(tmp_path, capsys):
    write_outputs(tmp_path / "out", market_records())
    assert main(["report", str(tmp_path / "out")]) == 0
    first = (tmp_path / "out" / "report.html").read_bytes()
    assert main(["report", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == first
    assert "report.html" in capsys.readouterr().out


def test_folder_without_outputs_is_a_usage_error(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "There is no output of a run in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"records": {', "manifest.json cannot be read"),
        ("", "manifest.json cannot be read"),
        ("[]", "manifest.json is not a manifest"),
    ],
)
def test_unreadable_manifest_is_a_usage_error(tmp_path, capsys, content, message):
    write_outputs(tmp_path / "out", market_records())
    (tmp_path / "out" / "manifest.json").write_text(content)
    assert main(["report", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
