"""No wrong use of `goodgain stream` prints or keeps a password for Kafka."""

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.run.engines import engine_checks

SECRET = "SWORDFISH"
TOPIC = "kafka://h:9092/t"
JAAS = f'sasl.jaas.config=x required username="r" password="{SECRET}";'
SERVICE = "--expansion-service=localhost:1"
FILE = "FILE"  # stands for the path of the settings

SETTINGS_IN_PLACE_OF_A_FILE = [
    JAAS,
    f"sasl.jaas.config:{SECRET}",
    f"sasl.password {SECRET}",
    f'"{SECRET}"',
    f"security.protocol=SASL_SSL\n{JAAS}",
    f"{SECRET}\n",
    f"{SECRET}=" * 60,  # too long for a name of a file
]
ADDRESSES = [
    f"kafka://user:{SECRET}@h:9092",
    f"kafka://user:{SECRET}@h:9092/t",
    f"kafka://user:{SECRET}/{SECRET}@h:9092/t",
    f"kafka://h:9092,user:{SECRET}@i:9092/t",
    f"kafka://{SECRET}@h:9092/t",
    f"kafka:/user:{SECRET}@h:9092/t",
    f"user:{SECRET}@h:9092/t",
    f"kafka://h:9092/t?sasl.password={SECRET}",
    f"kafka://h:9092/t;sasl.password={SECRET}",
    f"kafka://user:\n{SECRET}@h:9092/t",
    f"amqp://user:{SECRET}@h/t",
    f"pubsub://user:{SECRET}@projects/p/subscriptions/s",
]
WRONG_FILES = [
    f"{SECRET}\n",
    f"{SECRET}==\n{SECRET}==\n",
    f"a=b\nsasl.password={SECRET}\nsasl.password={SECRET}\n",
    f"bootstrap.servers={SECRET}@h:1\n",
    f"password={SECRET}\\u12\n",
    f"\\u{SECRET}=a\n",
    f'a=\\\n  username="r"\n  password="{SECRET}";\n"{SECRET}"\n',
    f'{{"sasl.password": "{SECRET}"}}\n',
]
OTHER_OPTIONS = [
    ["--kafka-consumer", *JAAS.split()],  # without quotes
    [f"--kafka-consumer={FILE}", f"password={SECRET}"],
    [f"--kafka-consumers={JAAS}"],
    [f"--kafka-password={SECRET}"],
    [f"--kafka-consumer={FILE}", "--id-attribute=x"],
    [f"--kafka-consumer={FILE}", "--expansion-service=localhost"],
    [f"--kafka-consumer={FILE}", "--expansion-service=localhost:2"],
    [f"--kafka-consumer={FILE}", SERVICE],
]
CONFIGURATIONS = [
    f"kafka_consumer: '{JAAS}'\n",
    f"kafka_consumer: |\n  security.protocol=SASL_SSL\n  {JAAS}\n",
    f"kafka_consumer: [sasl.password={SECRET}]\n",
    f"kafka_consumer:\n  sasl.password: {SECRET}\n",
    f"kafka_consumer:\n  sasl.password: {SECRET}\n  sasl.password: {SECRET}\n",
    f'kafka_consumer: "{SECRET}\\0"\n',
    f"sasl.password: {SECRET}\n",
    f"kafka_consumer: sasl.password: {SECRET}\n",
    f"kafka_consumer: 'password={SECRET}\n",
    f"sasl.password={SECRET}\n",
    f"input: kafka://user:{SECRET}@h:9092/t\n",
]


@pytest.fixture
def service():
    """The port of a gRPC server without any service."""
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("localhost:0")
    server.start()
    yield port
    server.stop(None)


@pytest.fixture
def refused(tmp_path_factory, monkeypatch, caplog, capfd):
    """Run a command that must be refused, and give what it says; only ports 1 and `service` answer.

    Fails if the secret is in anything that it prints, logs or writes.
    """
    folder = tmp_path_factory.mktemp("secrets")  # the name of `tmp_path` has the parameters
    monkeypatch.chdir(folder)
    monkeypatch.setattr(engine_checks, "_answers", lambda host, port: port != 2)
    monkeypatch.setattr(engine_checks, "BUILT_PRISM", folder / "prism")
    (folder / "prism").touch()

    def run(words, settings="", runner="FlinkRunner", configuration=""):
        (folder / "client.properties").write_text(settings)
        (folder / "stream.yaml").write_text(configuration)
        flink = ["--job_endpoint=localhost:1", "--environment_type=LOOPBACK"]
        engine = ["--runner", runner, *(flink if runner == "FlinkRunner" else [])]
        words = [word.replace(FILE, str(folder / "client.properties")) for word in words]
        code = main(["stream", "--output", str(folder / "out"), *words, *engine])
        printed = capfd.readouterr()
        written = [path.read_text() for path in (folder / "out").rglob("*") if path.is_file()]
        for text in (printed.out, printed.err, caplog.text, *written):
            assert SECRET not in text
            assert "Traceback" not in text
        assert (code, printed.out) == (2, "")
        return printed.err

    return run


@pytest.mark.parametrize("shown", [[], ["--json"], ["--quiet"]])
@pytest.mark.parametrize("settings", SETTINGS_IN_PLACE_OF_A_FILE)
def test_settings_in_place_of_a_file(refused, settings, shown):
    said = refused(["--input", TOPIC, SERVICE, f"--kafka-consumer={settings}", *shown])
    assert said.startswith("goodgain: The file of --kafka-consumer cannot be read: ")
    assert "takes the path of a file of settings" in said


@pytest.mark.parametrize("runner", ["FlinkRunner", "PrismRunner", "FnApiRunner"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_login_in_the_address(refused, address, runner):
    said = refused(["--input", address, SERVICE], runner=runner)
    assert said.startswith("goodgain: The input holds a login or parameters")


@pytest.mark.parametrize("settings", WRONG_FILES)
def test_a_wrong_file(refused, settings):
    said = refused(["--input", TOPIC, SERVICE, f"--kafka-consumer={FILE}", "--json"], settings)
    assert said.startswith("goodgain: Line ")


@pytest.mark.parametrize("words", OTHER_OPTIONS)
def test_wrong_options(refused, words):
    refused(["--input", TOPIC, *words], f"sasl.password={SECRET}\n")


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_a_wrong_configuration(refused, text):
    source = [] if text.startswith("input") else ["--input", TOPIC]
    refused([*source, SERVICE, "--config=stream.yaml"], configuration=text)


def test_a_server_that_is_no_expansion_service(refused, service):
    words = ["--input", TOPIC, f"--expansion-service=localhost:{service}"]
    said = refused([*words, f"--kafka-consumer={FILE}"], f"sasl.password={SECRET}\n")
    assert f"localhost:{service} does not provide Beam's Kafka source" in said
