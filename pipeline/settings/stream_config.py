"""The configuration of a stream: every option with its type, default and help text, once."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from goodgain.pipeline.settings.means_config import MeansConfig
from goodgain.pipeline.settings.option_fields import ENGINE, GREATEST_SHARDS, option
from goodgain.pipeline.settings.option_types import (
    Instant,
    PositiveDuration,
    Text,
    duration_text,
)
from goodgain.pipeline.settings.struct_options import options_of
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.core.number import Number
from goodgain.transforms.core.option import COMMON, LIMITS, TIME
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.streaming.event_window import window_start
from goodgain.transforms.core.streaming.options import Closing

KafkaTimestamps = Literal["create", "append"]
BacklogOrder = Literal["time", "name"]


def _span(description: str, default: str | None = None) -> Any:
    return option(TIME, "SPAN", description, default)


@options_of(Closing)
class StreamConfig(MeansConfig):
    """The options of a stream (SPEC 7), one per field."""

    input: Text = option(
        COMMON,
        "SOURCE",
        "folder in which trace files appear, or kafka://HOST:PORT/TOPIC,TOPIC..., or "
        "pubsub://projects/PROJECT/subscriptions/NAME",
        for_workers=True,
    )
    kafka_consumer: Text | None = option(
        ENGINE,
        "FILE",
        "Kafka consumer settings, as for Kafka's own tools (NAME=VALUE): SASL, TLS, a group",
        None,
    )
    kafka_timestamps: KafkaTimestamps | None = option(
        ENGINE,
        "WHEN",
        "which time of a Kafka message is its event time: the producer's (create) "
        "or the broker's (append) (default: create)",
        None,
    )
    timestamp_attribute: Text | None = option(
        ENGINE,
        "NAME",
        "attribute of Pub/Sub messages that holds the event time; the publish time by default",
        None,
    )
    id_attribute: Text | None = option(
        ENGINE,
        "NAME",
        "attribute of Pub/Sub messages that identifies them, to drop messages delivered twice",
        None,
    )
    output: Text = option(COMMON, "DIR", "folder for everything that is written", for_workers=True)
    format: Format = option(COMMON, "FORMAT", "file format of the datasets", "avro", keyword="")
    overwrite: bool = option(
        COMMON,
        "",
        "replace the outputs of an earlier stream; with " + Remedy("since") + " only from there on",
        False,
    )
    since: Instant | None = option(
        COMMON,
        "TIME",
        "start over from the window of this date or time (UTC); rows of earlier windows stay",
        None,
    )
    gap: int
    allowed_lateness: int
    out_of_orderness: int
    idle: PositiveDuration | None = _span(
        "in a folder: advance the watermark after this long without records; the gap by default"
    )
    ahead: PositiveDuration | None = _span(
        "in a folder: largest watermark jump one record may cause, in case its clock is wrong; the "
        "gap by default"
    )
    max_open: int
    max_open_results: int
    max_open_bytes: int
    window: PositiveDuration = _span(
        "length of the windows, in UTC, over which means are computed", "1d"
    )
    live: bool
    flush: PositiveDuration = option(
        ENGINE, "SPAN", "longest time before a row is written to a file", "10s"
    )
    poll: PositiveDuration = option(
        ENGINE, "SPAN", "how often to look for new files in the folder", "1s"
    )
    portion_bytes: Number = option(
        LIMITS,
        "N",
        "most bytes of a folder's backlog to read before the watermark advances and conversations "
        "close",
        64 * 2**20,  # 0.7 million results of 100 bytes, which take 0.3 GB until they are scored
        ge=1,
    )
    backlog_order: BacklogOrder = option(
        ENGINE,
        "BY",
        "order in which a folder's backlog is read: by time of last change, or by name",
        "time",
    )
    shards: Number = option(
        ENGINE, "N", "number of files of each dataset per write", 1, ge=1, le=GREATEST_SHARDS
    )
    runner: Text = option(
        ENGINE, "RUNNER", "engine that runs the pipeline; its own options follow", "PrismRunner"
    )
    expansion_service: Text | None = option(
        ENGINE, "HOST:PORT", "Beam's Java expansion service, which Kafka needs", None
    )

    @field_validator("ahead")
    @classmethod
    def _check_at_most_gap(cls, ahead: int | None, info: ValidationInfo) -> int | None:
        gap = info.data.get("gap")
        if ahead is not None and gap is not None and ahead > gap:
            raise ValueError(
                "must be at most the gap ("
                + Remedy("gap", duration_text(gap))
                + "), or one wrong clock could close every conversation"
            )
        return ahead

    @property
    def since_window(self) -> int | None:
        """Start of the window from which rows are written, in ms; None = of all windows."""
        return None if self.since is None else window_start(self.since, self.window)

    def open_window(self, watermark: int) -> int:
        """Start of the first window that may still change when the watermark is here; in ms."""
        return window_start(watermark - self.gap - self.allowed_lateness, self.window)
