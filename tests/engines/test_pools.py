"""Building a pool and scoring with it give the same bytes on every engine (SPEC 9)."""

import sys
from pathlib import Path
from random import Random

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from tests.core.pool.generated import runs
from tests.engines.cluster import Cluster
from tests.engines.processes import run_to_end
from tests.engines.spark import SparkCluster
from tests.pipeline.runs import FULL, contents, main, write_jsonl
from tests.pipeline.studies.pool.steps import files

pytestmark = pytest.mark.engines

WORLDS = 25


class Pooled:
    """Two runs over shared documents, their pool, and the scores of the first run with it.

    Attributes:
      pool, output: the expected folders, written on FnApiRunner.
    """

    def __init__(self, folder: Path) -> None:
        self._traces = {name: self._write(folder, name) for name in ("A", "B")}
        self.pool, self.output = folder / "pool", folder / "out"
        assert main([*self.build_arguments(self.pool)]) == ExitCode.DONE
        assert main([*self.run_arguments(self.output)]) == ExitCode.DONE

    def _write(self, folder: Path, name: str) -> str:
        records = []
        for seed in range(WORLDS):
            for record in runs(Random(seed)).get(name, ()):
                topic = record["attributes"].get("topic")
                named = {"topic": f"{seed} {topic}"} if topic else {}
                identity = f"{seed}-{record['conversation_id']}"
                records.append({**record, "conversation_id": identity, "attributes": named})
        return write_jsonl(folder / f"{name}.jsonl", records)

    def build_arguments(self, pool: Path) -> list[str]:
        named = [
            word for name, path in self._traces.items() for word in ("--run", f"{name}={path}")
        ]
        return ["pool", "build", *named, "--topic=topic", "--shards=3", f"--output={pool}"]

    def run_arguments(self, output: Path) -> list[str]:
        words = ["run", "--input", self._traces["A"], "--pool", str(self.pool), "--run-name=A"]
        return [*words, "--output", str(output), "--format=jsonl", "--allow-unlabelled", *FULL]

    def assert_same(self, pool: Path, output: Path) -> None:
        assert files(pool) == files(self.pool)
        assert contents(output) == contents(self.output)


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> Pooled:
    return Pooled(tmp_path_factory.mktemp("pooled"))


def test_local_engines_give_the_same_pools_and_scores(
    local_engine: list[str], pooled: Pooled, tmp_path: Path
) -> None:
    pool, output = tmp_path / "pool", tmp_path / "out"
    for arguments in (pooled.build_arguments(pool), pooled.run_arguments(output)):
        command = [sys.executable, "-m", "goodgain", *arguments, *local_engine]
        run_to_end(command, tmp_path / "log", arguments[0])
    pooled.assert_same(pool, output)


def test_flink_gives_the_same_pools_and_scores(
    cluster: Cluster, pooled: Pooled, tmp_path: Path
) -> None:
    pool, output = tmp_path / "pool", tmp_path / "out"
    cluster.goodgain(*pooled.build_arguments(pool))
    cluster.goodgain(*pooled.run_arguments(output))
    pooled.assert_same(pool, output)


def test_spark_gives_the_same_pools_and_scores(
    spark: SparkCluster, pooled: Pooled, tmp_path: Path
) -> None:
    pool, output = tmp_path / "pool", tmp_path / "out"
    spark.goodgain(*pooled.build_arguments(pool))
    spark.goodgain(*pooled.run_arguments(output))
    pooled.assert_same(pool, output)
