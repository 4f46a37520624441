"""The batch pipeline gives the same bytes on every engine as on FnApiRunner."""

import sys
from pathlib import Path

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.run.engines.table import ENGINES
from tests.engines.cluster import PATIENCE, Cluster
from tests.engines.engine_outputs import run_arguments, sample_files
from tests.engines.processes import run_to_end, wait_until
from tests.engines.spark import SparkCluster
from tests.pipeline.runs import FULL, MEANS, contents, main, manifest, write_jsonl

SHAPE = "jsonl"

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sample_files(tmp_path_factory.mktemp("traces"))


@pytest.fixture(scope="module", params=[FULL, MEANS], ids=["details", "plain"])
def options(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Options of a run: with details, which only Python computes, and without, folded natively."""
    return request.param


only_details = pytest.mark.parametrize("options", [FULL], indirect=True, ids=["details"])


@pytest.fixture(scope="module")
def expected(
    files: list[Path], options: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The outputs of FnApiRunner for these files."""
    output = tmp_path_factory.mktemp("expected") / "out"
    arguments = run_arguments(files, output, SHAPE, options)
    assert main([*arguments, "--runner=FnApiRunner"]) == ExitCode.DONE
    return output


def test_local_engines_give_the_same_outputs(
    local_engine: list[str],
    files: list[Path],
    options: tuple[str, ...],
    expected: Path,
    tmp_path: Path,
) -> None:
    arguments = run_arguments(files, tmp_path / "out", SHAPE, options)
    command = [sys.executable, "-m", "goodgain", *arguments, *local_engine]
    run_to_end(command, tmp_path / "log", "goodgain run")
    assert_same_outputs(tmp_path / "out", expected, local_engine[0].partition("=")[2])


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Path]:
    """`goodgain run` with judgments, over records whose order only their texts decide.

    Labels and records that are read again arrive at the end of event time, when engines fire the
    timers of conversations. The two records of a conversation are in two files, so they are never
    in one bundle.

    Returns:
      The arguments except for the output, and the outputs of FnApiRunner.
    """
    folder = tmp_path_factory.mktemp("judged")
    numbers = range(30)
    traces = [
        write_jsonl(
            folder / f"{part}.jsonl",
            [
                {
                    "conversation_id": f"c{number}",
                    "iteration": 1,
                    "results": [{"id": f"d{number}{part}"}, {"id": f"d{number}"}],
                }
                for number in numbers
            ],
        )
        for part in "ab"
    ]
    judgments = folder / "judgments.txt"
    judgments.write_text(
        "".join(f"c{number} 0 d{number}{part} 3\n" for number in numbers for part in ("a", "b", ""))
    )
    # In Avro: the bytes of Parquet depend on the version of pyarrow, which workers may not share.
    arguments = ["run", "--input", *traces, "--qrels", str(judgments), *FULL, "--format", "avro"]
    expected = folder / "expected"
    assert main([*arguments, "--output", str(expected), "--runner=FnApiRunner"]) == ExitCode.DONE
    return arguments, expected


def test_local_engines_give_the_same_outputs_with_judgments_and_ties(
    local_engine: list[str], judged: tuple[list[str], Path], tmp_path: Path
) -> None:
    arguments, expected = judged
    output = tmp_path / "out"
    command = [sys.executable, "-m", "goodgain", *arguments, "--output", str(output)]
    run_to_end([*command, *local_engine], tmp_path / "log", "run")
    assert contents(output) == contents(expected)


def test_flink_gives_the_same_outputs_with_judgments_and_ties(
    cluster: Cluster, judged: tuple[list[str], Path], tmp_path: Path
) -> None:
    arguments, expected = judged
    cluster.goodgain(*arguments, "--output", str(tmp_path / "out"))
    assert contents(tmp_path / "out") == contents(expected)


def test_spark_gives_the_same_outputs_with_judgments_and_ties(
    spark: SparkCluster, judged: tuple[list[str], Path], tmp_path: Path
) -> None:
    arguments, expected = judged
    spark.goodgain(*arguments, "--output", str(tmp_path / "out"))
    assert contents(tmp_path / "out") == contents(expected)


@pytest.mark.parametrize("parallelism", [1, 2])
def test_flink_gives_the_same_outputs(
    cluster: Cluster,
    files: list[Path],
    options: tuple[str, ...],
    expected: Path,
    tmp_path: Path,
    parallelism: int,
) -> None:
    arguments = run_arguments(files, tmp_path / "out", SHAPE, options)
    cluster.goodgain(*arguments, parallelism=parallelism)
    assert_same_outputs(tmp_path / "out", expected, "FlinkRunner")


@only_details
def test_flink_gives_the_same_outputs_after_losing_its_workers(
    cluster: Cluster, files: list[Path], expected: Path, tmp_path: Path
) -> None:
    arguments = run_arguments(files, tmp_path / "out", SHAPE)
    job = cluster.submit("goodgain", *arguments, folder=tmp_path)
    wait_until(lambda: job.id is not None, PATIENCE, f"job {job.name}; read {job.log}")
    wait_until(lambda: cluster.rest.finished_steps(job.id) > 2, PATIENCE, "the first steps")
    cluster.worker_pool.kill()
    assert not (tmp_path / "out" / "manifest.json").exists(), "the run was over before the loss"
    cluster.worker_pool.start()
    job.wait_until_done(PATIENCE)
    assert_same_outputs(tmp_path / "out", expected, "FlinkRunner")


def test_spark_gives_the_same_outputs(
    spark: SparkCluster,
    files: list[Path],
    options: tuple[str, ...],
    expected: Path,
    tmp_path: Path,
) -> None:
    spark.goodgain(*run_arguments(files, tmp_path / "out", SHAPE, options))
    assert_same_outputs(tmp_path / "out", expected, "SparkRunner")


@only_details
def test_spark_gives_the_same_outputs_after_losing_an_executor(
    spark: SparkCluster, files: list[Path], expected: Path, tmp_path: Path
) -> None:
    before = spark.finished_stages()
    client = spark.begin(*run_arguments(files, tmp_path / "out", SHAPE))
    wait_until(lambda: spark.finished_stages() > before + 1, PATIENCE, "the first stages")
    spark.kill_executor()
    assert not (tmp_path / "out" / "manifest.json").exists(), "the run was over before the loss"
    assert client.wait(PATIENCE) == ExitCode.DONE
    assert_same_outputs(tmp_path / "out", expected, "SparkRunner")


def assert_same_outputs(output: Path, expected: Path, engine: str) -> None:
    assert manifest(output)["engine"] == ENGINES[engine].beam_name
    for part in ("records", "conversations", "results"):
        assert manifest(output)[part] == manifest(expected)[part]
    assert manifest(expected)["records"]["redelivered"] > 0
    assert manifest(expected)["records"]["rejected"] > 0
    # Every file is sorted, so the rows need no sorting here.
    assert contents(output) == contents(expected)
