"""Blocks of Avro read by several threads: the same payloads and rows, in the same order."""

import io
from unittest import mock

import pytest
import zstandard

from goodgain.pipeline.inputs.local_files import find_local_files, open_local, shards_of
from goodgain.transforms.core.files import avro_decoder
from goodgain.transforms.core.files.avro_codecs import DamagedBlockError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.scoring import packing
from goodgain.transforms.core.scoring.native_packing import NativePacker
from goodgain.transforms.core.scoring.packers import packer_for
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.shard_payloads import payloads_of_shard
from tests.core.direct import shipped_rules
from tests.core.files import samples
from tests.forked import in_process
from tests.native.paths import needs_native, threaded_packer

pytestmark = [needs_native, pytest.mark.slow]

THREADS = (2, 3, 8)
MEBIBYTE = 2**20

# Each conversation is in many blocks. Python reads every tenth record, and rejects some of these.
ROWS = [
    {
        **row,
        "conversation_id": f"c-{at % 23}",
        "iteration": 0 if at % 200 == 71 else row["iteration"],
        "query": "\u2003" if at % 10 == 1 else row["query"],
        "record_id": "\u2003" if at % 10 == 1 else row["record_id"],
    }
    for at, row in enumerate(samples.records(400))
]
PLAIN = samples.avro_bytes(ROWS, "null", block=1_000)
FILES = {
    "zstandard": samples.recode(PLAIN, b"zstandard", zstandard.compress),
    **{
        codec: samples.avro_bytes(ROWS, codec, block=1_000)
        for codec in ("null", "deflate", "bzip2", "snappy", "xz", "lz4")
    },
}
NATIVE = ("null", *samples.NATIVE_CODECS)


def read(content, threads, bounds=DEFAULT_BOUNDS, shard_bytes=1 << 30, **how):
    """All that a file gives, in order; how many records Python read, and blocks threads packed."""
    packer = threaded_packer(threads, **how)
    packer.from_python = 0
    ahead = []
    pack_blocks = NativePacker.pack_blocks

    def counting(*arguments):
        for packed in pack_blocks(*arguments):
            ahead.append(packed)
            yield packed

    found = []
    with mock.patch.object(NativePacker, "pack_blocks", counting):
        for shard in plan_shards(
            io.BytesIO(content), "a.avro", len(content), shard_bytes, bounds=bounds
        ):
            found += payloads_of_shard(shard, lambda _: io.BytesIO(content), packer)
    return found, packer.from_python, len(ahead)


def assert_same(content, several=THREADS, **how):
    """Assert that threads read the same as one; returns that, and how many blocks they packed
    at least."""
    found, from_python, alone = read(content, 1, **how)
    assert alone == 0
    counts = []
    for threads in several:
        by_threads, by_python, ahead = read(content, threads, **how)
        assert by_threads == found
        assert by_python == from_python
        counts.append(ahead)
    return found, min(counts)


@pytest.mark.parametrize("codec", FILES)
@pytest.mark.parametrize("shard_bytes", [1 << 30, 20_000])
def test_codecs(codec, shard_bytes):
    found, ahead = assert_same(FILES[codec], shard_bytes=shard_bytes)
    calls = sum(getattr(part, "calls", 0) for part in found)
    assert calls == len(ROWS) - 2
    assert read(FILES[codec], 3)[1] >= 30
    assert (ahead > 20) == (codec in NATIVE)


@pytest.mark.parametrize("codec", NATIVE)
def test_payloads_in_the_middle_of_blocks(codec, monkeypatch):
    monkeypatch.setattr(packing, "MOST_BUFFERED_RESULTS", 40)
    threaded_packer.cache_clear()
    found, _ = assert_same(FILES[codec])
    threaded_packer.cache_clear()
    assert len(found) > 100


@pytest.mark.parametrize(
    "how",
    [
        {"keep_records": True},
        {"label_keys": LabelKeys()},
        {"label_keys": LabelKeys("unique_id", "market")},
    ],
)
def test_what_else_payloads_hold(how):
    assert_same(FILES["deflate"], **how)


def markers(content):
    found = [content.find(samples.SYNC)]
    while (following := content.find(samples.SYNC, found[-1] + 16)) >= 0:
        found.append(following)
    return found


@pytest.mark.parametrize("codec", FILES)
def test_damage_in_the_middle(codec):
    """Each number of threads meets damage in each block, and each place of damage in a block."""
    content = FILES[codec]
    blocks = markers(content)
    for number, at in enumerate((1, 2, 7, 8)):
        for place, offset in enumerate((0, 17, 60, 400)):  # of marker, header, data and data
            changed = bytearray(content)
            changed[blocks[at] + offset] ^= 0x55
            found, _ = assert_same(bytes(changed), [THREADS[(number + place) % 3]])
            assert any(hasattr(part, "reason") for part in found)


def test_blocks_that_are_left_to_python_as_a_whole():
    content = PLAIN
    for at in (1, 2, 5, 9):
        name = content.index(b"c-", markers(content)[at])
        content = content[:name] + b"\xff" + content[name + 1 :]
    _, ahead = assert_same(content)
    assert ahead == 1  # the others of a batch are read one by one after such a block


@pytest.mark.parametrize("codec", NATIVE)
def test_files_that_end_early(codec):
    content = FILES[codec]
    end = markers(content)[12]
    for size in (end - 500, end - 1, end, end + 1, end + 15, end + 16, end + 17, end + 40):
        assert_same(content[:size])


@pytest.mark.parametrize("most", [200, 3_500, 16_000, 60_000])
def test_bounds_on_a_block(most):
    assert_same(FILES["deflate"], bounds=ReadBounds(max_decoded_bytes=most))
    assert_same(FILES["deflate"], bounds=ReadBounds(max_record_results=3))


def test_no_more_is_decoded_ahead_than_one_block_may_have():
    mosts = []
    pack_blocks = NativePacker.pack_blocks

    def noting(self, prepared, codec, blocks, most):
        mosts.append(most * (self.most_ahead + 1))
        return pack_blocks(self, prepared, codec, blocks, most)

    with mock.patch.object(NativePacker, "pack_blocks", noting):
        for decoded_bytes in (20_000, 64 * MEBIBYTE):
            read(FILES["deflate"], 3, bounds=ReadBounds(max_decoded_bytes=decoded_bytes))
            assert 0 < mosts.pop() <= decoded_bytes
            assert not mosts


@pytest.mark.parametrize("error", [RuntimeError("broken"), DamagedBlockError("it is odd")])
def test_errors_of_reading_a_record(error, monkeypatch):
    """What earlier blocks gave comes first; a damaged block is a row, other errors are raised."""
    calls_of_records = avro_decoder.calls_of_records

    def calls_of(records, *how):
        if broken["timestamp"] in [record["timestamp"] for record in records]:
            raise error
        return calls_of_records(records, *how)

    broken = next(
        row for row in ROWS[201:] if row["record_id"] == "\u2003" and (row["timestamp"] or 0) > 0
    )
    monkeypatch.setattr(avro_decoder, "calls_of_records", calls_of)
    outcomes = []
    for threads in (1, *THREADS):
        threaded_packer.cache_clear()
        packer = threaded_packer(threads)
        (shard,) = plan_shards(io.BytesIO(PLAIN), "a.avro", len(PLAIN))
        found = []
        try:
            found.extend(payloads_of_shard(shard, lambda _: io.BytesIO(PLAIN), packer))
        except RuntimeError as raised:
            found += [str(raised), *packer.rest()]
        outcomes.append(found)
    threaded_packer.cache_clear()
    assert outcomes[1:] == outcomes[:1] * len(THREADS)
    texts = [part if isinstance(part, str) else getattr(part, "reason", "") for part in outcomes[0]]
    assert any("broken" in text or "it is odd" in text for text in texts)


def test_blocks_that_expand_are_not_decoded_ahead(tmp_path):
    rows = [{**ROWS[0], "query": f"{at:04}" * 4 * MEBIBYTE} for at in range(20)]
    one, eight = peaks_of(rows, (1, 8), False, tmp_path)
    assert eight < one + 60


def test_payloads_do_not_pile_up_until_all_blocks_are_packed(tmp_path):
    """Texts that hardly take any bytes in the file are whole in payloads that keep them."""
    rows = [
        {**ROWS[0], "conversation_id": f"c{at}", "query": f"{at:04}" * 200_000}
        for at in range(1000)
    ]
    one, two = peaks_of(rows, (1, 2), True, tmp_path)
    assert two < one + 300  # both threads have blocks ahead, and a call gives 8 MiB or more


def peaks_of(rows, counts, keep, folder):
    """The largest size in MiB of a process that packs rows, for each count of threads."""
    path = folder / "a.avro"
    path.write_bytes(samples.avro_bytes(rows, "deflate"))
    processes = [in_process(pack_all, str(path), threads, keep) for threads in counts]
    assert {(process.returncode, process.stdout) for process in processes} == {
        (0, f"{len(rows)}\n")
    }
    return [process.memory / MEBIBYTE for process in processes]


def pack_all(path, threads, keep):
    """Print how many calls a file gives."""
    (file,) = find_local_files([path])
    packer = packer_for(Packing(shipped_rules(), keep_records=keep, threads=threads))
    calls = 0
    for shard in shards_of(file, None, DEFAULT_BOUNDS):
        calls += sum(packed.calls for packed in payloads_of_shard(shard, open_local, packer))
    print(calls)  # noqa: T201
