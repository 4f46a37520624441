"""Compares the payloads that Python and native code make from the same files or records."""

import io
from collections import Counter
from functools import cache
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.native import native_module
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring import score_payloads as native_scoring
from goodgain.transforms.core.scoring.native_packing import NativePacker
from goodgain.transforms.core.scoring.packing import Packer, Packing
from goodgain.transforms.core.scoring.shard_payloads import payloads_of_shard
from tests.core.direct import shipped_rules

needs_native = pytest.mark.skipif(native_module() is None, reason="the native part is not built")


def new_packer():
    """A packer in native code by the shipped rules, which nothing has used."""
    return NativePacker(Packing(shipped_rules()), native_module())


@cache
def packers(rules=None, keep_records=False, label_keys=None):
    """A packer of each kind: in Python, in native code."""
    packing = Packing(rules or shipped_rules(), keep_records, label_keys)
    return Packer(packing), NativePacker(packing, native_module())


@cache
def threaded_packer(threads=3, rules=None, keep_records=False, label_keys=None):
    """A packer in native code that reads blocks of Avro by several threads."""
    packing = Packing(rules or shipped_rules(), keep_records, label_keys, threads)
    return NativePacker(packing, native_module())


def read_given(packer, content, path, shard_bytes=1 << 30, adaptation=None, bounds=DEFAULT_BOUNDS):
    """Payloads and rejected rows of a file, each in the order in which they come.

    Payloads are only in order within a conversation, since native code flags the conversations of
    the rejected records of an Avro block when it has packed the others.
    """
    shards = [
        replace(shard, adaptation=adaptation)
        for shard in plan_shards(
            io.BytesIO(content), path, len(content), shard_bytes, bounds=bounds
        )
    ]
    found = [
        part
        for shard in shards
        for part in payloads_of_shard(shard, lambda _: io.BytesIO(content), packer)
    ]
    rejected = [part for part in found if isinstance(part, RejectedRecord)]
    payloads = [part for part in found if not isinstance(part, RejectedRecord)]
    return sorted(payloads, key=lambda one: one.conversation_id), rejected


def assert_same(
    content, path, shard_bytes=1 << 30, adaptation=None, bounds=DEFAULT_BOUNDS, **packing
):
    """Assert that both give the same payloads and rejected rows, and return those of Python.

    So do threads, where they read.
    Returns None without a check where native code is not built.
    """
    if native_module() is None:
        return None
    in_python, *native = (
        read_given(packer, content, path, shard_bytes, adaptation, bounds)
        for packer in (
            *packers(**packing),
            *([threaded_packer(**packing)] if ".avro" in path else []),
        )
    )
    assert native == [in_python] * len(native)
    return in_python


def payloads(packer, records):
    """The payloads that a packer makes from records, whose timestamps are their indexes."""
    given = [payload for at, record in enumerate(records) for payload in packer.add(record, at)]
    return [*given, *packer.rest()]


def assert_same_records(records, **how):
    """Assert that both packers make the same payloads from records, and return them."""
    in_python, native = (payloads(packer, records) for packer in packers(**how))
    assert native == in_python
    return in_python


def count_folds(monkeypatch):
    """Counts conversations given to native code from now on, by whether it folds them."""
    folds = Counter()
    native_folder = native_scoring._native_folder

    def counting(scoring):
        folder = native_folder(scoring)

        def fold(*arguments):
            found = folder.fold(*arguments)
            folds[found is not None] += 1
            return found

        return None if folder is None else SimpleNamespace(fold=fold)

    monkeypatch.setattr(native_scoring, "_native_folder", counting)
    return folds
