"""Sources of a stream, from `--input`: a folder, a Kafka topic or a Pub/Sub subscription."""

from __future__ import annotations

import re
from pathlib import Path

import apache_beam as beam

from goodgain.pipeline.run.engines.engine_checks import check_server
from goodgain.pipeline.run.stream.kafka_settings import read_settings
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import UsageError, missing_file
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.streaming.watermark import WatermarkRule
from goodgain.transforms.sources.folder_source import FolderSource
from goodgain.transforms.sources.kafka import ReadKafkaTraces
from goodgain.transforms.sources.pubsub import ReadPubSubTraces
from goodgain.transforms.sources.watch import WatchFolder
from goodgain.transforms.stream_end import WITH_ENGINE, StreamEnd

# A login or parameters in an address, also one whose beginning is misspelt.
_SECRETS = re.compile(r"//.*[@?=]|:.*@", re.DOTALL)
_KAFKA = re.compile(r"kafka://(?P<servers>[^/]+)/(?P<topics>[^/]+)")
_PUBSUB = re.compile(r"pubsub://(?P<subscription>projects/[^/]+/subscriptions/[^/]+)")
_OPTIONS_OF = {
    "kafka://": ("kafka_consumer", "kafka_timestamps", "expansion_service"),
    "pubsub://": ("timestamp_attribute", "id_attribute"),
    "folders": ("since", "idle", "ahead", "poll", "portion_bytes", "backlog_order"),
}
_MILLIS = 1_000  # of a second


def messages(config: StreamConfig, packing: Packing) -> beam.PTransform:
    """The source for a topic or a subscription.

    Raises:
      UsageError: the input is neither, its settings or its service cannot be used, or an option is
        for another kind of source.
    """
    check_options(config)
    if kafka := _KAFKA.fullmatch(config.input):
        return ReadKafkaTraces(
            kafka["servers"],
            [topic.strip() for topic in kafka["topics"].split(",")],
            packing,
            timestamps=config.kafka_timestamps or "create",
            consumer=read_settings(config.kafka_consumer) if config.kafka_consumer else None,
            expansion_service=_expansion_service(config),
            adaptation=config.adaptation,
            bounds=config.read_bounds,
        )
    if pubsub := _PUBSUB.fullmatch(config.input):
        return ReadPubSubTraces(
            pubsub["subscription"],
            packing,
            config.timestamp_attribute,
            config.id_attribute,
            adaptation=config.adaptation,
            bounds=config.read_bounds,
        )
    raise UsageError(
        f"Input {config.input} cannot be streamed; use a folder, kafka://HOST:PORT/TOPIC or "
        "pubsub://projects/PROJECT/subscriptions/NAME."
    )


def check_input(config: StreamConfig) -> None:
    """Make sure that the input may be shown.

    Raises:
      UsageError: it may hold a password; the message does not repeat it.
    """
    if _SECRETS.search(config.input) and not Path(config.input).is_dir():
        raise UsageError(
            "The input holds a login or parameters, which messages would show: give an address "
            "like kafka://HOST:PORT/TOPIC, and a login to Kafka in the file of --kafka-consumer."
        )


def _expansion_service(config: StreamConfig) -> str:
    """The service that provides Kafka's source; Beam would download one."""
    service = config.expansion_service
    if service is None:
        raise UsageError(
            "Kafka needs Beam's Java expansion service, which Beam would download: give "
            "--expansion-service HOST:PORT of one that runs."
        )
    check_server("expansion service", "--expansion-service", service)
    return service


def check_options(config: StreamConfig) -> None:
    """Make sure that no option is for another kind of source.

    Raises:
      UsageError: one is.
    """
    scheme, is_address, _ = config.input.partition("://")
    own = f"{scheme}://" if is_address else "folders"
    default = StreamConfig.model_validate({"input": config.input, "output": config.output})
    for kind, names in _OPTIONS_OF.items():
        for name in names:
            if kind != own and getattr(config, name) != getattr(default, name):
                raise UsageError(
                    Remedy(name) + f" is for {kind} only; the input is {config.input}."
                )


def check_folder(config: StreamConfig) -> None:
    """Make sure that the input is a folder.

    Raises:
      UsageError: it is not a source, is the output folder, or an option is for another kind of
        source.
    """
    check_options(config)
    path = Path(config.input)
    if not path.is_dir():
        message = f"Input {config.input} is not a folder: create it, or give that of the files."
        raise missing_file(config.input, message, "files in a folder")
    if path.resolve() == Path(config.output).resolve():
        raise UsageError(f"Input and output are both {config.input}; use two folders.")


def folder(
    config: StreamConfig,
    packing: Packing,
    end: StreamEnd = WITH_ENGINE,
    ends_when_silent: bool = False,
) -> WatchFolder:
    """The source for a folder; see `WatchFolder`."""
    since = config.since_window
    if since is not None:
        # A conversation of the window may have begun in the files of this time before it.
        since -= config.max_open + config.gap + config.allowed_lateness + config.out_of_orderness
    source = FolderSource(
        folder=config.input,
        rule=WatermarkRule(
            out_of_orderness_ms=config.out_of_orderness,
            ahead_ms=config.gap if config.ahead is None else config.ahead,
            idle_ms=config.gap if config.idle is None else config.idle,
            quiet_ms=config.gap,
        ),
        since_ms=since,
        poll_seconds=config.poll / _MILLIS,
        portion_bytes=config.portion_bytes,
        by_name=config.backlog_order == "name",
        adaptation=config.adaptation,
        bounds=config.read_bounds,
    )
    return WatchFolder(source, packing, ends_when_silent, end)
