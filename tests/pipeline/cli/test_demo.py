from goodgain.pipeline.cli.demo import feed, files_in_time
from goodgain.pipeline.inputs.local_files import find_local_files, read_files
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.settings.sample_config import SampleConfig

SPAN = 60_000


def test_each_record_is_in_one_file_and_files_are_in_order_of_time():
    records = list(sample_records(SampleConfig(seed=3, conversations=20, results=2)))
    files = list(files_in_time(records, SPAN))
    assert sorted(map(id, (record for file in files for record in file))) == sorted(
        map(id, records)
    )
    spans = [
        {record["timestamp"] // SPAN for record in file if "timestamp" in record} for file in files
    ]
    assert [span for group in spans for span in group] == sorted(set().union(*spans))


def test_files_appear_one_at_a_time_and_complete(tmp_path):
    listings = []
    records = list(sample_records(SampleConfig(seed=3, conversations=5, results=2, bad_share=0)))
    feed(
        tmp_path,
        files_in_time(records, SPAN),
        lambda: listings.append(sorted(path.name for path in tmp_path.iterdir())),
    )
    assert listings[:2] == [["00000.jsonl"], ["00000.jsonl", "00001.jsonl"]]
    assert len(list(read_files(find_local_files([f"{tmp_path}/*"])))) == len(records)
