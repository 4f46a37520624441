"""The data files in configs/data."""

import gzip
from importlib.resources import files

import fastavro

from tests.pipeline.sample.reading import command, json_records, unpack

SHIPPED = ["--seed", "7", "--conversations", "60", "--bad-share", "0.008"]


class TestShippedData:
    def test_sample_equals_the_output_of_the_command(self, tmp_path, capsys):
        """Compares decompressed blocks, since builds of zlib compress differently."""
        command("--output", str(tmp_path / "sample.avro"), *SHIPPED)
        shipped = files("goodgain.configs").joinpath("data/sample.avro")
        with shipped.open("rb") as old, (tmp_path / "sample.avro").open("rb") as new:
            old_blocks, new_blocks = fastavro.block_reader(old), fastavro.block_reader(new)
            assert old_blocks.metadata == new_blocks.metadata
            assert [unpack(block) for block in old_blocks] == [
                unpack(block) for block in new_blocks
            ]
        assert "60 conversations" in capsys.readouterr().out

    def test_sample_has_bad_records_within_the_default_limit(self):
        with files("goodgain.configs").joinpath("data/sample.avro").open("rb") as file:
            records = list(fastavro.reader(file))
        bad = [
            record
            for record in records
            if any(r["gain"] not in (None, *range(5)) for r in record["results"])
            or record["turn"] < 1
        ]
        assert len(bad) == 2
        assert len(bad) / len(records) < 0.01

    def test_trec_session_has_only_ids_urls_and_labels(self):
        content = files("goodgain.configs").joinpath("data/trec_session_2013.jsonl.gz").read_bytes()
        records = json_records(gzip.decompress(content))
        results = [result for record in records for result in record["results"]]
        assert len({record["conversation_id"] for record in records}) == 133
        assert len(results) == 4449
        names = {"conversation_id", "turn", "iteration", "call", "attributes", "results"}
        assert {frozenset(record) for record in records} == {frozenset(names)}
        assert {frozenset(result) for result in results} == {frozenset({"ids", "url", "gain"})}

    def test_data_stays_small(self):
        folder = files("goodgain.configs").joinpath("data")
        assert sum(len(file.read_bytes()) for file in folder.iterdir() if file.is_file()) < 1.5e6
