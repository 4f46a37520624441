"""Streams read lines in native code: the same payloads, times, rejected rows and counts."""

import json
from functools import partial
from random import Random

import pytest
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.message import Message, parse_message
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.native import SWITCH
from goodgain.transforms.read import PlanShards
from goodgain.transforms.sources.messages import _ParseBundle
from goodgain.transforms.sources.streamed import StreamPacker, stamped
from goodgain.transforms.sources.watched_file import FileTally, timed_records
from tests.adversarial import trace
from tests.core.direct import shipped_rules
from tests.core.files import samples
from tests.native.paths import needs_native
from tests.transforms.streams import at, stamp
from tests.transforms.watching import Engine

pytestmark = needs_native

PLAIN = [{**row, "timestamp": at(place % 7)} for place, row in enumerate(samples.records(60))]


def plain(output):
    """An output of a `StreamPacker`, as text that can be compared and sorted.

    A rejected record before the first call waits for that one's time, so in native code its
    conversation's payload may come later.
    """
    tag, value = "payload", output
    if isinstance(output, TaggedOutput):
        tag, value = output.tag, output.value
    return f"{tag} {value.timestamp} {value.value}"


def outputs_of_file(path, bounds=(None, None), limits=DEFAULT_BOUNDS):
    """The sorted outputs, the counts for the journal, and the number of `SearchCall`s made."""
    packer, tally = StreamPacker(shipped_rules()), FileTally()
    outputs = []
    shards = PlanShards(10_000, bounds=limits).process(InputFile(str(path), path.stat().st_size))
    for number, shard in enumerate(shards):
        records = tally.counted(timed_records(shard, packer.for_lines(*bounds)), number)
        outputs += map(plain, packer.add(stamped(records, *bounds)))
        outputs += map(plain, packer.rest())
    made = getattr(packer._packer, "from_python", None)
    return sorted(outputs), (tally.times, tally.rejected, tally.shards), made


def both(monkeypatch, outputs):
    """What a function returns with native code and without it."""
    native = outputs()
    with monkeypatch.context() as patch:
        patch.setenv(SWITCH, "off")
        return native, outputs()


def write(path, rows):
    path.write_bytes(
        b"".join(
            one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in rows
        )
    )
    return path


def spoiled(rng, records):
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
    path = write(tmp_path / "a.jsonl", [PLAIN[0], *spoiled(rng, trace(rng, conversations=40))])
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, bounds))
    assert native[:2] == in_python[:2]
    assert {output.split()[0] for output in native[0]} == {"payload", "rejected", "read"}
    assert 20 < native[2] < 100


def test_rejected_records_before_the_first_call_have_its_time(tmp_path, monkeypatch):
    rows = [b"broken\n", {"conversation_id": "c0", "iteration": 1}, *PLAIN]
    path = write(tmp_path / "a.jsonl", rows)
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, (None, at(3))))
    assert native[:2] == in_python[:2]


def test_limits_on_records_hold(tmp_path, monkeypatch):
    limits = ReadBounds(record_results=2, decoded_bytes=1_000)
    rows = [{**row, "results": [{"id": "x" * 90}] * (place % 5)} for place, row in enumerate(PLAIN)]
    path = write(tmp_path / "a.jsonl", [PLAIN[0], *rows, {**PLAIN[0], "query": "q" * 1_000}])
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, limits=limits))
    assert native[:2] == in_python[:2]
    assert native[1][1] > 20


def test_a_watched_folder_makes_no_objects_of_plain_lines(tmp_path):
    for name in ("incoming", "journal"):
        (tmp_path / name).mkdir()
    write(tmp_path / "incoming/a.jsonl", PLAIN)
    engine = Engine(tmp_path / "incoming", tmp_path / "journal", now=2**42).run()
    assert len(engine.calls) == len(PLAIN)
    assert engine._read._packer._packer.from_python == 0


@pytest.mark.parametrize("make", [samples.avro_bytes, samples.parquet_bytes])
def test_other_formats_give_the_same_outputs(tmp_path, monkeypatch, make):
    path = tmp_path / f"a.{make.__name__.split('_')[0]}"
    path.write_bytes(make(PLAIN))
    native, in_python = both(monkeypatch, partial(outputs_of_file, path, (None, at(3))))
    assert native[:2] == in_python[:2]


def outputs_of_messages(values, latest):
    packer, outputs = StreamPacker(shipped_rules()), []
    for number, value in enumerate(values):
        lines = packer.for_lines(None, latest)
        record = parse_message(Message("s", str(number), value), None, DEFAULT_BOUNDS, lines)
        outputs += map(plain, packer.add(stamped([record], None, latest)))
    outputs += map(plain, packer.rest())
    return outputs


def test_messages_give_the_same_outputs(monkeypatch):
    rng = Random(4)
    rows = list(spoiled(rng, trace(rng, conversations=20)))
    values = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in rows]
    pretty = json.dumps(PLAIN[0], indent=1).encode()
    values += [None, b"", b" ", b"{}\n{}", pretty, values[0] + b"\n", json.dumps(PLAIN).encode()]
    native, in_python = both(monkeypatch, partial(outputs_of_messages, values, at(30)))
    assert native == in_python


def test_topics_make_no_objects_of_plain_messages():
    parse = _ParseBundle(shipped_rules(), None, DEFAULT_BOUNDS)
    parse.setup()
    for row in PLAIN:
        message = Message("s", "p", json.dumps(row).encode())
        assert not list(parse.process(message, stamp(at(30))))
    assert len(list(parse.finish_bundle())) > 2
    assert parse._packer._packer.from_python == 0
