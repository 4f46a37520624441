"""A Kafka broker, and the Java service that lets Python pipelines read from it."""

import json
import os
import shlex
from pathlib import Path

from tests.engines.flink import java_command, worker_environment
from tests.engines.install import install_kafka, require_program
from tests.engines.local_engine import LocalEngine
from tests.engines.processes import Daemon, run_to_end
from tests.engines.settings import CONFIGURATION, REPOSITORY, Settings

# The user for TLS. The password is only for this broker; tests check that no output contains it.
READER, PASSWORD = "reader", "swordfish-19094"
LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
# Any 16 bytes in URL-safe Base64, since there is only one cluster.
CLUSTER_ID = "Z29vZC1nYWluLWthZmthMQ"


class Kafka(LocalEngine):
    """One broker without ZooKeeper, and Beam's Java expansion service."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.broker = Daemon(
            "broker",
            java_command(
                self.settings,
                f"{self.settings.kafka_jars}/*",
                "-Xmx400m",
                "kafka.Kafka",
                str(self._properties),
            ),
            self.settings.kafka,
            ports=(
                self.settings.ports.kafka,
                self.settings.ports.kafka_controller,
                self.settings.ports.kafka_secure,
            ),
        )
        self.expansion_service = Daemon(
            "java-expansion",
            java_command(
                self.settings,
                # With the folder, because the service refuses a class path with nothing to ship.
                os.pathsep.join([f"{self.settings.runner_jars}/*", str(self._conf)]),
                "-Xmx400m",
                "org.apache.beam.sdk.expansion.service.ExpansionService",
                str(self.settings.ports.java_expansion),
                "--javaClassLookupAllowlistFile=*",
                "--defaultEnvironmentType=PROCESS",
                f"--defaultEnvironmentConfig={json.dumps({'command': str(self._worker_command)})}",
            ),
            self.settings.kafka,
            ports=(self.settings.ports.java_expansion,),
        )

    @property
    def daemons(self) -> tuple[Daemon, ...]:
        """All processes, in the order in which they start."""
        return (self.broker, self.expansion_service)

    @property
    def address(self) -> str:
        """The address of the broker for clients."""
        return f"localhost:{self.settings.ports.kafka}"

    @property
    def secure_address(self) -> str:
        """The address of the broker for clients that log in over TLS."""
        return f"localhost:{self.settings.ports.kafka_secure}"

    def client_settings(self, mechanism: str) -> str:
        """The settings of a client that logs in over TLS by a SASL mechanism."""
        return (
            "security.protocol=SASL_SSL\n"
            f"sasl.mechanism={mechanism}\n"
            f"sasl.jaas.config={LOGIN_MODULES[mechanism]} required \\\n"
            f'  username="{READER}" password="{PASSWORD}";\n'
            "ssl.truststore.type=PEM\n"
            f"ssl.truststore.location={self._certificate}\n"
        )

    @property
    def expansion_address(self) -> str:
        """The address of the expansion service for ReadFromKafka."""
        return f"localhost:{self.settings.ports.java_expansion}"

    def install(self) -> None:
        """Fetch what is missing; see `LocalEngine`."""
        install_kafka(self.settings)

    def prepare(self) -> None:
        """Write the program that starts Java workers, and format the storage of a new broker."""
        self._write_worker_command()
        if self.broker.pid() is None:
            self._format_storage()

    def check(self) -> None:
        """Check that the broker and the expansion service are healthy.

        Raises:
            EngineError: a check failed; the message names the log to read.
        """
        super().check()
        self.ask("check")

    def ask(self, *arguments: str) -> None:
        """Run `kafka_client` with these arguments.

        Raises:
            EngineError: it failed.
        """
        client = (str(self.settings.worker_python), "-m", "tests.engines.kafka_client")
        run_to_end(
            [*client, self.address, *arguments],
            self.settings.kafka / "log" / "client.log",
            "asking the Kafka broker",
            environment=worker_environment(self.settings),
        )

    def log_in(self, mechanism: str, password: str) -> None:
        """List the topics over TLS with `kafka_client`.

        Raises:
            EngineError: it failed, or the broker refused the login.
        """
        secure = (self.secure_address, str(self._certificate), mechanism)
        self.ask("log-in", *secure, READER, password)

    @property
    def _conf(self) -> Path:
        return self.settings.kafka / "conf"

    @property
    def _properties(self) -> Path:
        return self._conf / "kafka.properties"

    @property
    def _worker_command(self) -> Path:
        return self._conf / "start-java-worker"

    @property
    def _certificate(self) -> Path:
        return self._conf / "broker.pem"

    def _make_certificate(self) -> Path:
        """The broker's key, created together with its certificate unless that exists."""
        key = self._conf / "broker.p12"
        keytool = require_program("keytool", "it creates the broker's certificate")
        store = ("-alias", "broker", "-keystore", str(key), "-storepass", PASSWORD)
        made = ("-keyalg", "EC", "-dname", "CN=localhost", "-ext", "SAN=dns:localhost")
        exported = ("-rfc", "-file", str(self._certificate))
        log = self.settings.kafka / "log" / "keytool.log"
        if not self._certificate.exists():
            key.unlink(missing_ok=True)
            run_to_end([keytool, "-genkeypair", *store, *made], log, "making a certificate")
            run_to_end([keytool, "-exportcert", *store, *exported], log, "storing a certificate")
        return key

    def _format_storage(self) -> None:
        ports, data = self.settings.ports, self.settings.kafka / "data"
        self._properties.parent.mkdir(parents=True, exist_ok=True)
        key = self._make_certificate()
        login = "listener.name.sasl_ssl"
        self._properties.write_text(
            (CONFIGURATION / "kafka.properties").read_text()
            + f"log.dirs={data}\n"
            + f"controller.quorum.voters=1@localhost:{ports.kafka_controller}\n"
            + f"listeners=PLAINTEXT://localhost:{ports.kafka},"
            + f"SASL_SSL://localhost:{ports.kafka_secure},"
            + f"CONTROLLER://localhost:{ports.kafka_controller}\n"
            + f"advertised.listeners=PLAINTEXT://localhost:{ports.kafka},"
            + f"SASL_SSL://localhost:{ports.kafka_secure}\n"
            + f"ssl.keystore.location={key}\n"
            + f"ssl.keystore.password={PASSWORD}\n"
            + f"{login}.plain.sasl.jaas.config={LOGIN_MODULES['PLAIN']} required "
            + f'user_{READER}="{PASSWORD}";\n'
            + f"{login}.scram-sha-512.sasl.jaas.config={LOGIN_MODULES['SCRAM-SHA-512']} required;\n"
        )
        tool = java_command(
            self.settings, f"{self.settings.kafka_jars}/*", "kafka.tools.StorageTool"
        )
        run_to_end(
            [
                *(*tool, "format", "--ignore-formatted"),
                *("--cluster-id", CLUSTER_ID, "--config", str(self._properties)),
                "--add-scram",
                f"SCRAM-SHA-512=[name={READER},password={PASSWORD}]",
            ],
            self.settings.kafka / "log" / "format.log",
            "preparing Kafka's storage",
        )

    def _write_worker_command(self) -> None:
        """Write the program that Flink's TaskManagers start for each Java worker."""
        command = self._worker_command
        command.parent.mkdir(parents=True, exist_ok=True)
        python = shlex.quote(str(self.settings.worker_python))
        jars = shlex.quote(str(self.settings.runner_jars))
        root = shlex.quote(str(REPOSITORY))
        command.write_text(
            "#!/bin/sh\n"
            f'PYTHONPATH={root} exec {python} -m tests.engines.java_worker --jars={jars} "$@"\n'
        )
        command.chmod(0o755)
