"""Streams read records in native code: the same payloads, times, rejected rows and counts."""

import json
import os
import re
import shutil
from dataclasses import replace
from functools import partial
from random import Random

import pytest
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.message import Message, parse_message
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.native import SWITCH
from goodgain.transforms.core.scoring import packing
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.read import PlanShards
from goodgain.transforms.sources.folder_files import collect_times, read_timed
from goodgain.transforms.sources.stream_packing import (
    ReadRecords,
    StreamPacker,
    _ParseBundle,
    stamp_records,
)
from tests.adversarial import trace
from tests.core.direct import shipped_rules
from tests.core.files import samples
from tests.native.paths import needs_native
from tests.transforms.streams import at, stamp
from tests.transforms.watching import Engine

pytestmark = needs_native

PLAIN = [{**row, "timestamp": at(place % 7)} for place, row in enumerate(samples.records(60))]
FORMATS = ("jsonl", "json", "avro", "parquet")


def plain(output):
    """An output of a `StreamPacker`, as text that can be compared and sorted.

    Native code flags the conversation of a rejected record later: when it has packed the block of
    Avro, or the lines up to the first call, for whose time a record before it waits. So that
    conversation's payload may come later.
    """
    tag, value = "payload", output
    if isinstance(output, TaggedOutput):
        tag, value = output.tag, output.value
    if isinstance(value.value, ReadRecords):
        value.value.conversation_ids.sort()
    return f"{tag} {value.timestamp} {value.value}"


def outputs_of_file(path, bounds=(None, None), limits=DEFAULT_BOUNDS):
    """The sorted outputs, the event times, and the number of `SearchCall`s made."""
    packer, times = StreamPacker(Packing(shipped_rules())), []
    outputs = []
    for shard in PlanShards(10_000, bounds=limits).process(
        InputFile(str(path), path.stat().st_size)
    ):
        records = collect_times(read_timed(shard, packer.record_packer(*bounds)), times)
        outputs += map(plain, packer.add(stamp_records(records, *bounds)))
        outputs += map(plain, packer.rest())
    made = getattr(packer._packer, "from_python", None)
    return sorted(outputs), times, made


def rejected_in(outputs):
    return [output for output in outputs if output.startswith("rejected")]


def both(monkeypatch, outputs):
    """What a function returns with native code and without it."""
    native = outputs()
    with monkeypatch.context() as patch:
        patch.setenv(SWITCH, "off")
        return native, outputs()


def write(path, rows):
    path.write_bytes(
        b"".join(
            row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows
        )
    )
    return path


def write_as(path, rows):
    """Write rows in the format of the path's suffix, several blocks or row groups of them."""
    make = {
        ".jsonl": samples.jsonl_bytes,
        ".json": lambda rows: json.dumps(rows, indent=1).encode(),
        ".avro": samples.avro_bytes,
        ".parquet": partial(samples.parquet_bytes, group=50),
    }
    path.write_bytes(make[path.suffix](rows))
    return path


def odd_rows(rng, records):
    """Rows that every format can hold: some are rejected, and some only Python can read."""
    odd = [
        {"iteration": 0},
        {"conversation_id": " "},
        {"timestamp": None},
        {"timestamp": None, "conversation_id": "untimed"},
        {"record_id": "\u2003"},
        {"record_id": "\u2003", "timestamp": None},
        {"timestamp": at(99_999)},
        {"timestamp": at(-99_999)},
    ]
    for number, record in enumerate(records):
        changes = rng.choice(odd) if rng.random() < 0.3 else {}
        yield {**record, "timestamp": at(number % 40), **changes}


def spoil(rng, records):
    """Lines of which some are rejected, and some can only be read in Python."""
    for number, record in enumerate(records):
        if rng.random() < 0.1:
            yield rng.choice([b"broken\n", b'{"conversation_id": "a-1"}\n', b"\n", b"\xff\n"])
        kind = rng.random()
        if kind < 0.1:
            yield {**record, "timestamp": None}
        elif kind < 0.2:
            yield {**record, "timestamp": f"{at(number % 40)}.0"}
        else:
            yield {**record, "timestamp": at(number % 40) if kind < 0.9 else "2031-01-01"}


@pytest.mark.parametrize("bounds", [(None, None), (at(10), None), (None, at(30)), (at(10), at(30))])
def test_files_give_the_same_outputs(tmp_path, monkeypatch, bounds):
    rng = Random(3)
    path = write(tmp_path / "a.jsonl", [PLAIN[0], *spoil(rng, trace(rng, conversations=40))])
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, bounds))
    assert native[:2] == in_python[:2]
    assert {output.split()[0] for output in native[0]} == {"payload", "rejected", "read"}
    assert 20 < native[2] < 100


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [(None, None), (at(10), at(30)), (at(30), at(10))])
@pytest.mark.parametrize("suffix", FORMATS)
def test_files_of_every_format_give_the_same_outputs(tmp_path, monkeypatch, suffix, bounds):
    rows = list(odd_rows(Random(5), samples.records(300, results=3)))
    path = write_as(tmp_path / f"a.{suffix}", rows)
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, bounds))
    assert native[:2] == in_python[:2]
    times, made = native[1:]
    assert len(times) + len(rejected_in(native[0])) == len(rows)
    usable = sum(row["record_id"] == "\u2003" and row["timestamp"] is not None for row in rows)
    # Python reads more rows of Parquet at once, the more of them are odd.
    assert usable <= made <= (100 if suffix == "parquet" else usable)


@pytest.mark.parametrize("suffix", FORMATS)
def test_rejected_records_before_the_first_call_have_its_time(tmp_path, monkeypatch, suffix):
    bad = [{"iteration": 0}, {"conversation_id": "c0", "turn": -1}, {"timestamp": None}]
    rows = [*({**PLAIN[0], **changes} for changes in bad), *PLAIN[2:]]
    path = write_as(tmp_path / f"a.{suffix}", rows)
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, (None, at(3))))
    assert native[:2] == in_python[:2]
    assert sum(f"rejected {stamp(at(2))}" in output for output in native[0]) == len(bad)


def test_broken_lines_before_the_first_call_have_its_time(tmp_path, monkeypatch):
    rows = [b"broken\n", {"conversation_id": "c0", "iteration": 1}, *PLAIN]
    path = write(tmp_path / "a.jsonl", rows)
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, (None, at(3))))
    assert native[:2] == in_python[:2]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["avro", "parquet"])
def test_damage_in_the_middle_of_a_file(tmp_path, monkeypatch, suffix):
    rows = list(odd_rows(Random(6), samples.records(300, results=3)))
    path = tmp_path / f"a.{suffix}"
    make = samples.avro_bytes if suffix == "avro" else partial(samples.parquet_bytes, group=50)
    whole = make(rows, "null" if suffix == "avro" else "none")
    rng, damaged = Random(7), 0
    for _ in range(30):
        changed, place = bytearray(whole), rng.randrange(len(whole) // 3, len(whole) * 2 // 3)
        changed[place : place + 3] = rng.randbytes(3)
        path.write_bytes(changed)
        native, in_python = both(monkeypatch, partial(outputs_of_file, path, (at(10), None)))
        assert native[:2] == in_python[:2]
        damaged += any("damaged" in message or "cannot be read" in message for message in native[0])
    assert damaged > 3


def test_a_full_buffer_loses_no_records_and_no_times(tmp_path, monkeypatch):
    rows = list(odd_rows(Random(8), samples.records(100, results=3)))
    path = write_as(tmp_path / "a.avro", rows)
    whole = outputs_of_file(path)
    monkeypatch.setattr(packing, "MOST_BUFFERED_RESULTS", 10)
    native, in_python = both(monkeypatch, partial(outputs_of_file, path))
    assert native[1] == in_python[1]
    assert len(native[0]) > len(whole[0])
    assert rejected_in(native[0]) == rejected_in(in_python[0]) == rejected_in(whole[0])
    read = re.findall(r"ReadRecords\(records=(\d+)", "".join(native[0]))
    assert sum(map(int, read)) == len(rows)


@pytest.mark.parametrize("suffix", FORMATS)
def test_limits_on_results_hold(tmp_path, monkeypatch, suffix):
    empty = {"ids": {}, "fields": {}}
    rows = [{**row, "results": [empty] * (place % 5)} for place, row in enumerate(PLAIN)]
    path, limits = write_as(tmp_path / f"a.{suffix}", rows), ReadBounds(max_record_results=2)
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, limits=limits))
    assert native[:2] == in_python[:2]
    assert native[1][1] > 20


def test_limits_on_lines_hold(tmp_path, monkeypatch):
    limits = ReadBounds(max_decoded_bytes=1_000)
    rows = [
        {**row, "results": [{"id": "x" * 400}] * (place % 3)} for place, row in enumerate(PLAIN)
    ]
    path = write(tmp_path / "a.jsonl", [*rows, {**PLAIN[0], "query": "q" * 1_000}])
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, limits=limits))
    assert native[:2] == in_python[:2]
    assert native[1][1] > 10


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_watched_folder_gives_the_same_steps_and_watermarks(tmp_path, monkeypatch, suffix):
    incoming, rng = tmp_path / "incoming", Random(9)

    def steps():
        shutil.rmtree(incoming, ignore_errors=True)
        incoming.mkdir()
        engine = Engine(incoming, now=at(45))
        for name in ("a", "b"):  # the times of the second are clipped to the watermark, too
            path = write_as(incoming / f"{name}.{suffix}", files[name])
            os.utime(path, (at(0) / 1_000, at(0) / 1_000))
            engine.run()
        return [replace(step, calls=sorted(step.calls)) for step in engine.steps], engine.watermark

    files = {name: list(odd_rows(rng, samples.records(80, results=2))) for name in ("a", "b")}
    native, in_python = both(monkeypatch, steps)
    assert native == in_python
    ((_, second), _) = native
    assert min(second.calls_at) == second.watermark < max(second.calls_at) == at(45)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_watched_folder_makes_no_objects_of_plain_records(tmp_path, suffix):
    (tmp_path / "incoming").mkdir()
    write_as(tmp_path / f"incoming/a.{suffix}", PLAIN)
    engine = Engine(tmp_path / "incoming", now=2**42).run()
    assert len(engine.calls) == len(PLAIN)
    assert engine._read._packer._packer.from_python == 0


def outputs_of_messages(values, latest):
    packer, outputs = StreamPacker(Packing(shipped_rules())), []
    for number, value in enumerate(values):
        lines = packer.record_packer(None, latest)
        record = parse_message(Message("s", str(number), value), None, DEFAULT_BOUNDS, lines)
        outputs += map(plain, packer.add(stamp_records([record], None, latest)))
    outputs += map(plain, packer.rest())
    return outputs


def test_messages_give_the_same_outputs(monkeypatch):
    rng = Random(4)
    rows = list(spoil(rng, trace(rng, conversations=20)))
    values = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    pretty = json.dumps(PLAIN[0], indent=1).encode()
    values += [None, b"", b" ", b"{}\n{}", pretty, values[0] + b"\n", json.dumps(PLAIN).encode()]
    native, in_python = both(monkeypatch, partial(outputs_of_messages, values, at(30)))
    assert native == in_python


def test_topics_make_no_objects_of_plain_messages():
    parse = _ParseBundle(Packing(shipped_rules()), None, DEFAULT_BOUNDS)
    parse.setup()
    for row in PLAIN:
        message = Message("s", "p", json.dumps(row).encode())
        assert not list(parse.process(message, stamp(at(30))))
    assert len(list(parse.finish_bundle())) > 2
    assert parse._packer._packer.from_python == 0
