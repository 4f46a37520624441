"""Options for Kafka and Pub/Sub reach the sources, and messages reveal no secret."""

import re

import pytest

from goodgain.pipeline.run.engines import engine_checks
from goodgain.pipeline.run.stream import sources
from goodgain.pipeline.run.stream.kafka_settings import read_settings
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import UsageError
from tests.core.direct import shipped_rules
from tests.pipeline.run.stream.rows import MINUTE, NOON

SECRET = "swordfish"
CLIENT = f"""# as kafka-console-consumer takes it
security.protocol = SASL_SSL
sasl.mechanism: PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
    username="reader" \\
    password="{SECRET}=\\\\\\u0021";

! the rest has its defaults
group.id=
"""
RULES = shipped_rules()
KAFKA = "kafka://a:9092,b:9092/traces, more"
PUBSUB = "pubsub://projects/p/subscriptions/s"


@pytest.fixture(autouse=True)
def _service_that_answers(monkeypatch):
    monkeypatch.setattr(engine_checks, "_answers", lambda host, port: True)


def kafka(**options):
    return config(KAFKA, expansion_service="x:1", **options)


def config(source, **options):
    return StreamConfig(input=source, output="out", **options)


@pytest.fixture
def client(tmp_path):
    path = tmp_path / "client.properties"
    path.write_text(CLIENT)
    return str(path)


def test_client_properties_are_read_as_by_the_tools_of_kafka(client):
    assert read_settings(client) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="reader" password="{SECRET}=\\!";',
        "group.id": "",
    }


def test_kafka_gets_topics_times_and_settings(client):
    source = sources.messages(kafka(kafka_consumer=client, kafka_timestamps="append"), RULES)
    assert source.bootstrap_servers == "a:9092,b:9092"
    assert list(source.topics) == ["traces", "more"]
    assert source.timestamps == "append"
    assert source.consumer["security.protocol"] == "SASL_SSL"
    assert source.expansion_service == "x:1"
    assert not sources.messages(kafka(), RULES).consumer


def test_kafka_needs_an_expansion_service():
    with pytest.raises(UsageError, match="give --expansion-service HOST:PORT of one that runs"):
        sources.messages(config(KAFKA), RULES)


def test_the_expansion_service_must_answer(monkeypatch):
    monkeypatch.setattr(engine_checks, "_answers", lambda host, port: False)
    message = "No expansion service answers at --expansion-service x:1"
    with pytest.raises(UsageError, match=message):
        sources.messages(kafka(), RULES)


def test_pubsub_gets_its_attributes():
    source = sources.messages(config(PUBSUB, timestamp_attribute="at", id_attribute="id"), RULES)
    assert (source.timestamp_attribute, source.id_attribute) == ("at", "id")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{SECRET}\n", "Line 1 of .* is not a setting"),
        (f"\n{SECRET}\\=={SECRET}\n", "Line 2 of .* is not a setting"),
        (f"a=\\\n{SECRET}\n# b\na={SECRET}\n", "Line 4 of .* sets the same name as line 1"),
        (f"{SECRET}==\n{SECRET}==\n", "Line 2 of .* sets the same name as line 1"),
        (f"a=\\u{SECRET}", "Line 1 of .* has a wrong escape"),
        (f"a={SECRET}\\ud83d", "Line 1 of .* has a wrong escape"),
        (f"bootstrap.servers={SECRET}:1", "sets bootstrap.servers, which goodgain sets itself"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_mistakes_are_reported_without_secrets(tmp_path, content, message):
    path = tmp_path / "client.properties"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=message) as error:
        sources.messages(kafka(kafka_consumer=str(path)), RULES)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("given", ["client.properties", "in/client.properties"])
def test_a_missing_file_is_named(tmp_path, given):
    path = str(tmp_path / given)
    with pytest.raises(UsageError, match=f"The file {re.escape(path)} of --kafka-consumer"):
        read_settings(path)


def test_secret_settings_are_not_part_of_the_configuration(client):
    chosen = config(KAFKA, kafka_consumer=client)
    assert SECRET not in chosen.model_dump_json()


@pytest.mark.parametrize(
    ("source", "option"),
    [
        (PUBSUB, {"kafka_consumer": "x"}),
        (KAFKA, {"id_attribute": "x"}),
        ("folder", {"kafka_timestamps": "append"}),
        ("folder", {"expansion_service": "localhost:8097"}),
        (KAFKA, {"idle": "5m"}),
        (KAFKA, {"ahead": "5m"}),
        (PUBSUB, {"poll": "5s"}),
        (PUBSUB, {"portion_bytes": 9}),
        (PUBSUB, {"backlog_order": "name"}),
    ],
)
def test_an_option_of_another_kind_of_source_is_refused(source, option):
    (name,) = option
    with pytest.raises(UsageError, match=f"--{name.replace('_', '-')} is for"):
        sources.check_options(config(source, **option))


def test_a_file_may_hold_the_defaults_of_options_of_another_kind_of_source():
    sources.check_options(kafka(poll="1s", backlog_order="time"))


def test_a_folder_may_have_a_name_like_a_login(tmp_path):
    (tmp_path / "a:b@c").mkdir()
    sources.check_input(config(str(tmp_path / "a:b@c")))


def test_since_reads_the_files_that_may_hold_conversations_of_its_window():
    """A conversation of the window may be a day old, and its first record a little earlier."""
    assert sources.folder(config("in"), RULES).source.since_ms is None
    chosen = load_config(
        StreamConfig, {"input": "in", "output": "out", "since": "2025-03-02T17:30", "window": "6h"}
    )
    assert chosen.since_window == NOON
    hour = 60 * MINUTE
    before = 24 * hour + 30 * MINUTE + hour + 5 * MINUTE
    assert sources.folder(chosen, RULES).source.since_ms == NOON - before


def test_since_is_for_folders_only():
    with pytest.raises(UsageError, match="--since is for folders only"):
        sources.check_options(kafka(since="2025-03-02"))
