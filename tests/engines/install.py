"""Installs the engines from package registries into the folder that engines.yaml names.

Existing parts are kept. Each part is built in a temporary place and moved when it is complete.
"""

import contextlib
import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from goodgain.pipeline.run.engines.prism_build import build_program
from goodgain.transforms.core.errors import GoodGainError
from tests.engines.processes import EngineError, run_to_end
from tests.engines.settings import CONFIGURATION, REPOSITORY, Settings

COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
SPARK_POM = REPOSITORY / "configs" / "spark" / "runner-pom.xml"
_LOGGER = logging.getLogger(__name__)


def install_flink(settings: Settings) -> None:
    """Fetch Flink, Beam's runner for it and the Python workers' environment.

    Raises:
        EngineError: Java or Maven is missing, or a download failed.
    """
    require_java(settings)
    _install_flink_jars(settings)
    _install_maven_jars(CONFIGURATION / "runner-pom.xml", settings.runner_jars, settings)
    _install_worker_venv(settings)


def install_spark(settings: Settings) -> None:
    """Fetch Spark, Beam's runner for it and the Python workers' environment.

    Raises:
        EngineError: Java or Maven is missing, or a download failed.
    """
    require_java(settings)
    _install_maven_jars(SPARK_POM, settings.spark_home / "jars", settings)
    _install_worker_venv(settings)


def install_kafka(settings: Settings) -> None:
    """Fetch the Kafka broker and the Java side of Beam's Kafka source.

    Raises:
        EngineError: Java or Maven is missing, or a download failed.
    """
    require_java(settings)
    _install_maven_jars(CONFIGURATION / "kafka-pom.xml", settings.kafka_jars, settings)
    _install_maven_jars(CONFIGURATION / "runner-pom.xml", settings.runner_jars, settings)
    _install_worker_venv(settings)


def install_native(settings: Settings) -> None:
    """Build the wheel of the native part, and install it for workers that start later.

    Raises:
        EngineError: it cannot be built.
    """
    with tempfile.TemporaryDirectory() as folder:
        built = build_native(settings, Path(folder))
        pip = (str(settings.worker_python), "-m", "pip", "install", "--upgrade", "--no-deps")
        log = settings.folder / "log" / "install-native.log"
        target = ("--target", str(settings.worker_native), str(built))
        run_to_end([*pip, *target], log, "installing the native part")


def build_native(settings: Settings, folder: Path) -> Path:
    """Build the wheel of the native part into a folder, as `make wheels` does, and return its path.

    Raises:
        EngineError: it cannot be built.
    """
    pip = (str(settings.worker_python), "-m", "pip", "wheel", "--no-deps")
    log = settings.folder / "log" / "build-native.log"
    wheel = ("--wheel-dir", str(folder), str(REPOSITORY / "native"))
    run_to_end([*pip, *wheel], log, "building the native part")
    (built,) = folder.glob("*.whl")
    return built


def build_boot(settings: Settings) -> Path:
    """Build the program that starts Python workers in Beam's containers, in the version of Prism.

    It installs the packages that were staged with a job, and then starts the worker.

    Raises:
        EngineError: it cannot be built.
    """
    place = settings.folder / f"boot-{version('apache-beam')}" / "container"
    try:
        return build_program("Beam's boot program", "python/container", place)
    except GoodGainError as error:
        raise EngineError(str(error)) from error


def airflow_venv(settings: Settings) -> Path:
    """The folder of Airflow's environment, which need not exist yet."""
    return settings.folder / "airflow"


def install_airflow(settings: Settings) -> Path:
    """Install Airflow into its own environment, unless it exists, and return its path.

    Raises:
        EngineError: the installation failed.
    """
    venv = airflow_venv(settings)
    requirements = Path(__file__).with_name("airflow-requirements.txt")
    log = settings.folder / "log" / "install-airflow.log"
    _install_venv(venv, requirements, log, "Airflow, 500 MB")
    return venv


def require_program(name: str, why: str) -> str:
    """The path of a program.

    Raises:
        EngineError: it is not installed; the message includes `why` it is needed.
    """
    if path := shutil.which(name):
        return path
    raise EngineError(f"{name} is not on the PATH: {why}; install it and try again")


def require_java(settings: Settings) -> str:
    """The path of a Java that is new enough.

    Raises:
        EngineError: Java is missing or too old.
    """
    wanted = settings.versions.java
    java = require_program("java", f"Flink, Spark and Kafka run on Java {wanted}")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', answer)
    if found is None or int(found[1]) < wanted:
        raise EngineError(f"{java} is not Java {wanted} or newer; it prints: {answer.strip()}")
    return java


def _install_flink_jars(settings: Settings) -> None:
    if settings.flink_jars.exists():
        return
    release = settings.versions.flink
    with _placed_when_complete(settings.flink_jars, f"fetches Flink {release}, 220 MB") as folder:
        run_to_end(
            [
                *(sys.executable, "-m", "pip", "download", "--no-deps", f"--dest={folder}"),
                f"apache-flink-libraries=={release}",
            ],
            settings.folder / "log" / "install-flink.log",
            "fetching Flink",
        )
        (archive,) = folder.glob("*.tar.gz")
        with tarfile.open(archive) as content:
            for member in content:
                if "/deps/lib/" in member.name and member.isfile():
                    member.name = Path(member.name).name
                    content.extract(member, folder, filter="data")
        archive.unlink()


def _install_maven_jars(pom: Path, target: Path, settings: Settings) -> None:
    if target.exists():
        return
    maven = require_program("mvn", "Beam's runner and Kafka come from Maven Central")
    with _placed_when_complete(target, f"fetches the jars of {pom.name} with Maven") as folder:
        run_to_end(
            [
                *(maven, "--batch-mode", "--file", str(pom), COPY_JARS),
                f"-DoutputDirectory={folder}",
                f"-Dbeam.version={settings.versions.beam}",
                f"-Dkafka.version={settings.versions.kafka}",
                f"-Dspark.version={settings.versions.spark}",
            ],
            settings.folder / "log" / f"install-{target.name}.log",
            f"fetching the jars of {pom.name}",
        )


def _install_worker_venv(settings: Settings) -> None:
    _require_python(settings)
    _install_venv(
        settings.worker_venv,
        CONFIGURATION / "worker-requirements.txt",
        settings.folder / "log" / "install-venv.log",
        "the workers' environment, 700 MB",
        # Without dependencies, which are pinned separately; editable, so that workers run the
        # current code.
        further=["--no-deps", "--no-build-isolation", "--editable", str(REPOSITORY)],
    )


def _install_venv(
    venv: Path, requirements: Path, log: Path, what: str, further: list[str] | None = None
) -> None:
    """Create a virtual environment with exactly these packages, unless it exists.

    Args:
        further: arguments of pip for further packages.
    """
    fingerprint = hashlib.sha256(requirements.read_bytes()).hexdigest()
    # Not moved, unlike the other parts: scripts of an environment contain its path.
    marker = venv / "installed-requirements"
    if marker.exists() and marker.read_text() == fingerprint:
        return
    _LOGGER.info("makes %s: %s", what, venv)
    run_to_end([sys.executable, "-m", "venv", "--clear", str(venv)], log, "making a venv")
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install"]
    run_to_end([*pip, "--requirement", str(requirements)], log, f"installing {what}")
    if further:
        run_to_end([*pip, *further], log, f"installing {what}")
    marker.write_text(fingerprint)


def _require_python(settings: Settings) -> None:
    found = f"{sys.version_info.major}.{sys.version_info.minor}"
    if found != settings.versions.python:
        raise EngineError(
            f"the cluster's workers need Python {settings.versions.python}, and this is {found}: "
            f"run make clean install PYTHON3=python{settings.versions.python}"
        )


@contextlib.contextmanager
def _placed_when_complete(target: Path, what: str) -> Iterator[Path]:
    """An empty folder that is renamed to `target` if the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}-") as aside:
        folder = Path(aside) / target.name
        folder.mkdir()
        _LOGGER.info("%s", what)
        yield folder
        os.replace(folder, target)
