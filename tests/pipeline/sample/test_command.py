"""`goodgain sample` on the command line."""

import pytest

from goodgain.transforms.core.errors import UsageError
from tests.pipeline.sample.reading import command, json_records


class TestCommand:
    def test_prints_counts_format_and_seed(self, tmp_path, capsys):
        path = tmp_path / "made.jsonl"
        assert command("--output", str(path), "--conversations", "3", "--bad-share", "0") == 0
        records = json_records(path.read_bytes())
        results = sum(len(record["results"]) for record in records)
        assert capsys.readouterr().out == (
            f"{path}: 3 conversations, {len(records)} records, {results} results\n"
            f"jsonl, none, {path.stat().st_size:,} bytes; seed 1\n"
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--conversations", "0"], "--conversations"),
            (["--iterations", "-1"], "--iterations"),
            (["--results", "0"], "--results"),
            (["--turns-share", "1.5"], "--turns-share"),
            (["--bad-share", "nan"], "--bad-share"),
            (["--start", "yesterday"], "--start"),
            (["--start", "9999-12-31T23:00:00"], "--start"),
            (["--conversations-per-hour", "0"], "--conversations-per-hour"),
            (["--conversations-per-hour", "nan"], "--conversations-per-hour"),
        ],
    )
    def test_wrong_options_are_refused_before_writing(self, tmp_path, arguments, message):
        with pytest.raises(UsageError) as caught:
            command("--output", str(tmp_path / "a.avro"), *arguments)
        assert message in str(caught.value)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["a.txt", "a", "a.avro.gz", "a.gz", "file/a.avro"])
    def test_wrong_paths_are_refused_before_writing(self, tmp_path, name):
        path, file = str(tmp_path / name), tmp_path / "file"
        file.touch()
        with pytest.raises(UsageError) as caught:
            command("--output", path, "--conversations", "1")
        assert path in str(caught.value)
        assert list(tmp_path.iterdir()) == [file]

    def test_missing_folders_are_created(self, tmp_path):
        path = tmp_path / "traces" / "2025-03-03" / "a.avro"
        assert command("--output", str(path), "--conversations", "1") == 0
        assert path.stat().st_size > 0
