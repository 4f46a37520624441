"""The settings in configs/flink/engines.yaml: versions, folders and ports of the engines."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIGURATION = REPOSITORY / "configs" / "flink"

Port = Annotated[int, msgspec.Meta(gt=1023, lt=32768)]


class Versions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The pinned release of each part."""

    flink: str
    beam: str
    spark: str
    kafka: str
    python: str
    java: int


class Ports(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The port on localhost of each service."""

    flink_rest: Port
    flink_rpc: Port
    job: Port
    artifact: Port
    expansion: Port
    worker_pool: Port
    kafka: Port
    kafka_controller: Port
    kafka_secure: Port
    java_expansion: Port
    spark_master: Port
    spark_page: Port
    spark_job: Port
    spark_artifact: Port
    spark_expansion: Port
    spark_worker_pool: Port


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    folder: str
    versions: Versions
    task_managers: Annotated[int, msgspec.Meta(ge=1)]
    spark_workers: Annotated[int, msgspec.Meta(ge=1)]
    ports: Ports


@dataclass(frozen=True)
class Settings:
    """The configuration with every folder as an absolute path."""

    folder: Path
    versions: Versions
    task_managers: int
    spark_workers: int
    ports: Ports

    @property
    def flink_jars(self) -> Path:
        """The jars of the Flink distribution."""
        return self.folder / f"flink-{self.versions.flink}"

    @property
    def runner_jars(self) -> Path:
        """The jars of Beam's job server, Kafka source, expansion service and Java worker.

        Beam ships its whole class path, 190 MB, with every job, except jars under a folder
        gradle/wrapper. These need not be shipped, since the cluster has them on its class path.
        """
        return self.folder / "gradle" / "wrapper" / f"beam-runner-{self.versions.beam}"

    @property
    def spark_home(self) -> Path:
        """Spark and Beam's job server for it, in `jars`; not shipped, like `runner_jars`."""
        versions = self.versions
        return self.folder / "gradle" / "wrapper" / f"spark-{versions.spark}-{versions.beam}"

    @property
    def kafka_jars(self) -> Path:
        """The jars of the Kafka broker."""
        return self.folder / f"kafka-{self.versions.kafka}"

    @property
    def worker_venv(self) -> Path:
        """The virtual environment of the cluster's Python workers."""
        return self.folder / f"venv-{self.versions.beam.rpartition('.')[0]}"

    @property
    def worker_python(self) -> Path:
        """The interpreter that submits jobs to the cluster and runs their workers."""
        return self.worker_venv / "bin" / "python"

    @property
    def worker_native(self) -> Path:
        """The folder into which `install_native` installs the native part for workers."""
        return self.folder / "native"

    @property
    def flink(self) -> Path:
        """Logs, pid files, checkpoints and temporary files of the Flink cluster."""
        return self.folder / "flink"

    @property
    def spark(self) -> Path:
        """Logs, pid files and temporary files of the Spark cluster."""
        return self.folder / "spark"

    @property
    def kafka(self) -> Path:
        """Logs, pid files and data of the Kafka broker."""
        return self.folder / "kafka"


def load_settings(path: Path = CONFIGURATION / "engines.yaml") -> Settings:
    """The settings in the file at `path`.

    Raises:
        msgspec.ValidationError: a field is missing, unknown, or outside its range.
    """
    file = msgspec.yaml.decode(path.read_bytes(), type=_File)
    return Settings(
        REPOSITORY / file.folder,
        file.versions,
        file.task_managers,
        file.spark_workers,
        file.ports,
    )
