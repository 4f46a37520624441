"""Threads of native code: as many as cores in one process, and one on other engines."""

import os

import pytest

import goodgain.pipeline.run.hosts.batch
import goodgain.pipeline.run.hosts.process
import goodgain.transforms.read_payloads
from goodgain.pipeline.api.evaluate import evaluate
from goodgain.pipeline.inputs.local_files import count_usable_threads
from goodgain.transforms.core.scoring.packers import packer_for
from tests.pipeline.runs import SAMPLE, run

LOOPBACK = ("--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK")


@pytest.mark.parametrize(("cores", "threads"), [({5}, 1), ({0, 7}, 2), (set(range(64)), 4)])
def test_one_for_each_usable_core(cores, threads, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores, raising=False)
    assert count_usable_threads() == threads


@pytest.mark.parametrize(("cores", "threads"), [(None, 1), (3, 3), (8, 4)])
def test_where_the_system_does_not_tell_usable_cores(cores, threads, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert count_usable_threads() == threads


def threads_of(module, monkeypatch):
    """The numbers of threads of the packers that a module makes from now on."""
    made = []

    def noting(packing):
        made.append(packing.threads)
        return packer_for(packing)

    monkeypatch.setattr(module, "packer_for", noting)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "threads"), [((), 3), (LOOPBACK, 1)])
def test_of_a_run(engine, threads, tmp_path, monkeypatch):
    monkeypatch.setattr(goodgain.pipeline.run.hosts.batch, "count_usable_threads", lambda: 3)
    made = threads_of(goodgain.transforms.read_payloads, monkeypatch)
    assert run(tmp_path / "out", [SAMPLE], *engine) == 0
    assert set(made) == {threads}


def test_of_evaluate(monkeypatch):
    made = threads_of(goodgain.pipeline.run.hosts.process, monkeypatch)
    scored = []
    for threads in (1, 3):
        monkeypatch.setattr(
            goodgain.pipeline.run.hosts.process, "count_usable_threads", lambda n=threads: n
        )
        found = evaluate(SAMPLE)
        scored.append((list(found.conversations), list(found.rejected), found.manifest.reading))
    assert made == [1, 3]
    assert scored[0] == scored[1]
