"""Engines for tests, installed and started for the first test that uses them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from goodgain.pipeline.run.engines.prism_build import BUILT_PRISM, build_prism
from tests.engines.cluster import Cluster
from tests.engines.kafka import Kafka
from tests.engines.settings import Settings, load_settings
from tests.engines.spark import SparkCluster


@pytest.fixture(scope="session")
def settings() -> Settings:
    return load_settings()


@pytest.fixture(scope="session")
def prism() -> Path:
    if not BUILT_PRISM.exists() and shutil.which("go") is None:
        pytest.skip("Prism is not built, and Go, which builds it, is not on the PATH")
    return build_prism()


@pytest.fixture(params=["prism", "embed"])
def local_engine(request: pytest.FixtureRequest) -> list[str]:
    """The options for an engine that needs no cluster."""
    if request.param == "embed":
        return ["--runner=PortableRunner", "--job_endpoint=embed"]
    built = request.getfixturevalue("prism")
    return ["--runner=PrismRunner", f"--prism_location={built}"]


@pytest.fixture(scope="session")
def started_cluster(settings: Settings) -> Iterator[Cluster]:
    _skip_without_java()
    with Cluster(settings).running() as cluster:
        yield cluster


@pytest.fixture
def cluster(started_cluster: Cluster) -> Cluster:
    """The cluster, with processes that an earlier test killed started again."""
    started_cluster.start()
    return started_cluster


@pytest.fixture(scope="session")
def spark(settings: Settings) -> Iterator[SparkCluster]:
    _skip_without_java()
    with SparkCluster(settings).running() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka(settings: Settings) -> Iterator[Kafka]:
    _skip_without_java()
    with Kafka(settings).running() as kafka:
        yield kafka


def _skip_without_java() -> None:
    if shutil.which("java") is None:
        pytest.skip("Flink, Spark and Kafka run on Java 17, and java is not on the PATH")
