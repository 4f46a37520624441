"""The processes of a Flink cluster that runs Beam's Python pipelines on one machine."""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.engines.flink_rest import FlinkRest
from tests.engines.install import require_java
from tests.engines.processes import Daemon, EngineError
from tests.engines.settings import CONFIGURATION, REPOSITORY, Settings

# Beam and Flink reach into packages that Java 17 keeps closed.
OPENED_PACKAGES = (
    "java.io",
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.text",
    "java.time",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.concurrent.locks",
    "sun.nio.ch",
)
# Only needed while the cluster runs, unlike logs, checkpoints and savepoints.
TEMPORARY_FOLDERS = ("upload", "tmp", "artifacts")
# The workers' environment has the project from the checkout that made it, perhaps another one.
_SOURCES = (str(REPOSITORY / "src"), str(REPOSITORY))
PRINT_WORKER_VERSIONS = (
    "import json, sys, apache_beam, goodgain, tests.engines.programs as programs;"
    "print(json.dumps([sys.prefix, apache_beam.__version__, goodgain.__file__]))"
)


def java_command(settings: Settings, class_path: str, *arguments: str) -> tuple[str, ...]:
    """A Java command line in which the closed packages are open."""
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES]
    return (require_java(settings), *opens, "-cp", class_path, *arguments)


def cluster_class_path(settings: Settings) -> str:
    """Flink's own jars, and those of Beam without its copies of Flink and of logging."""
    beam = [
        str(jar)
        for jar in sorted(settings.runner_jars.glob("*.jar"))
        if not jar.name.startswith(("flink-", "slf4j-"))
    ]
    return os.pathsep.join([f"{settings.flink_jars}/*", *beam])


def job_manager(settings: Settings) -> Daemon:
    """Flink's coordinator; ready when its REST interface answers."""
    return Daemon(
        "job-manager",
        _flink_command(
            settings,
            "-Xmx640m",
            "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
            "--executionMode",
            "cluster",
        ),
        settings.flink,
        ports=(settings.ports.flink_rest, settings.ports.flink_rpc),
        is_ready=FlinkRest(settings).answers,
    )


def task_manager(settings: Settings, number: int) -> Daemon:
    """A process with one slot; ready when the JobManager knows it."""
    name = f"task-manager-{number}"
    return Daemon(
        name,
        _flink_command(
            settings,
            "-Xmx640m",
            "-XX:MaxDirectMemorySize=512m",
            # Other collectors work in parallel, and take CPU from the Python workers.
            "-XX:+UseSerialGC",
            "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
            f"-Dtaskmanager.resource-id={name}",
        ),
        settings.flink,
        is_ready=lambda: name in FlinkRest(settings).task_managers(),
    )


def job_server(settings: Settings) -> Daemon:
    """The process that takes Beam pipelines and submits them to Flink as jobs."""
    ports = settings.ports
    return Daemon(
        "job-server",
        java_command(
            settings,
            f"{settings.runner_jars}/*",
            "-Xmx1500m",
            "org.apache.beam.runners.flink.FlinkJobServerDriver",
            f"--flink-master=localhost:{ports.flink_rest}",
            "--job-host=localhost",
            f"--job-port={ports.job}",
            f"--artifact-port={ports.artifact}",
            f"--expansion-port={ports.expansion}",
            f"--artifacts-dir={settings.flink / 'artifacts'}",
        ),
        settings.flink,
        ports=(ports.job, ports.artifact, ports.expansion),
    )


def worker_pool(settings: Settings, folder: Path, port: int) -> Daemon:
    """The process that starts Python workers, with the first `python` on its PATH."""
    return Daemon(
        "worker-pool",
        (
            "python",
            "-m",
            "tests.engines.worker_pool",
            f"--port={port}",
        ),
        folder,
        environment=worker_environment(settings),
        ports=(port,),
    )


def worker_environment(settings: Settings) -> dict[str, str]:
    """Environment variables for the workers' `python`, which imports the project and its tests."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return inherited | {
        "PATH": f"{settings.worker_venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
        # The last is empty unless a test has installed the native part for the workers.
        "PYTHONPATH": os.pathsep.join([*_SOURCES, str(settings.worker_native)]),
    }


def boot_command(settings: Settings, boot: Path, folder: Path) -> Path:
    """Write a command that starts a Python worker as in Beam's containers, and return its path.

    It first installs the packages that were staged with the job, into a folder of this worker.
    Without them the worker has no native part.

    Args:
        boot: Beam's boot program.
        folder: for the command, and for the folders of its workers.
    """
    command = folder / "boot"
    command.write_text(
        f"""#!/bin/sh -e
cd "$(mktemp -d {shlex.quote(str(folder))}/worker-XXXXXX)"
export PATH={shlex.quote(str(settings.worker_venv / "bin"))}:"$PATH"
export PIP_TARGET="$PWD/packages"
export PYTHONPATH={shlex.quote(os.pathsep.join(_SOURCES))}:"$PIP_TARGET"
export RUN_PYTHON_SDK_IN_DEFAULT_ENVIRONMENT=1
exec {shlex.quote(str(boot))} --semi_persist_dir="$PWD" "$@"
"""
    )
    command.chmod(0o755)
    return command


def environment_of(daemon: Daemon) -> dict[str, str]:
    """The environment variables of a running process, if the system provides them."""
    environment = Path(f"/proc/{daemon.pid()}/environ")
    if not environment.exists():
        return dict(daemon.environment)
    entries = environment.read_bytes().decode(errors="surrogateescape").split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def check_workers_python(settings: Settings, environment: dict[str, str]) -> None:
    """Check that the `python` of a worker pool with this environment is the right one.

    With a wrong one a job stays RUNNING forever, and only the log of the pool says why.

    Raises:
        EngineError: it is another Python, has another Beam, or cannot import the project.
    """
    python = shutil.which("python", path=environment["PATH"])
    answer = subprocess.run(
        [python or "python", "-c", PRINT_WORKER_VERSIONS],
        env=environment,
        capture_output=True,
        text=True,
    )
    if answer.returncode != 0:
        raise EngineError(
            f"the worker pool's Python, {python}, cannot import what workers need: "
            f"{(answer.stderr.strip() or 'it ended without a message').splitlines()[-1]}"
        )
    wanted = [
        str(settings.worker_venv),
        settings.versions.beam,
        str(REPOSITORY / "src" / "goodgain" / "__init__.py"),
    ]
    for found, expected, what in zip(
        json.loads(answer.stdout.splitlines()[-1]),
        wanted,
        ("environment", "version of Beam", "goodgain package"),
        strict=True,
    ):
        if found != expected:
            raise EngineError(
                f"the worker pool's Python, {python}, has the wrong {what}: "
                f"{found} instead of {expected}"
            )


def write_configuration(settings: Settings) -> None:
    """Write the configuration folder of Flink: config.yaml with ports and folders added."""
    folder = settings.flink
    content: dict[str, Any] = yaml.safe_load((CONFIGURATION / "config.yaml").read_text())
    content |= {
        "rest.port": settings.ports.flink_rest,
        "jobmanager.rpc.port": settings.ports.flink_rpc,
        "web.upload.dir": str(folder / "upload"),
        "io.tmp.dirs": str(folder / "tmp"),
        "state.checkpoints.dir": (folder / "checkpoints").as_uri(),
        "state.savepoints.dir": (folder / "savepoints").as_uri(),
    }
    for name in ("conf", "checkpoints", "savepoints", *TEMPORARY_FOLDERS):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "conf" / "config.yaml").write_text(yaml.safe_dump(content))
    log4j = CONFIGURATION / "log4j.properties"
    (folder / "conf" / log4j.name).write_bytes(log4j.read_bytes())


def _flink_command(settings: Settings, *arguments: str) -> tuple[str, ...]:
    conf = settings.flink / "conf"
    log4j = f"-Dlog4j.configurationFile={conf / 'log4j.properties'}"
    java = java_command(settings, cluster_class_path(settings), log4j, *arguments)
    return (*java, "--configDir", str(conf))
