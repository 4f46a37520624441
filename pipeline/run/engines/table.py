"""The table of engines for --runner: what each is for, its options, and why."""

from __future__ import annotations

from msgspec import Struct

# After --job_server_timeout, by default 300 seconds, Beam's client fails and stops an engine that
# it started. This is a year.
_WATCH_FOR_A_YEAR = "--job_server_timeout=31536000"


class Engine(Struct, frozen=True):
    """One entry of the table of engines.

    Attributes:
      beam_name: Beam's name for the runner; "" for the FnApiRunner that `create` makes.
      reason: why this runner and these options.
      needs: what the user must install, start or give.
      gathering: why batch gathers conversations in state or with a GroupByKey: CPU of all processes
        per result, in early versions, with a stateful DoFn and a timer, as in streams, and with a
        GroupByKey; None if it was not measured.
      arguments: options that are always added.
      cannot_run: why it cannot be used; "" if it can.
      cannot_stream: why it cannot stream; "" if it can.
      in_memory: whether it keeps all data in the memory of this process. If so, they are limited,
        and a stateful DoFn folds conversations (`ScorePayloads.in_state`).
    """

    beam_name: str
    used_for: str
    reason: str
    needs: str = ""
    gathering: tuple[str, str] | None = None
    arguments: tuple[str, ...] = ()
    batch_arguments: tuple[str, ...] = ()
    stream_arguments: tuple[str, ...] = ()
    cannot_run: str = ""
    cannot_stream: str = ""
    in_memory: bool = False


FN_API = Engine(
    "",
    "batch on one machine",
    "Both names mean Beam's FnApiRunner: Beam's own DirectRunner picks an engine that it may "
    "download. This one delivers all elements of a key before its timers. Its cache of state is "
    "off, since it costs more than it saves. Of grouped data it keeps three copies in memory, of "
    "state one, which a conversation gives back when it is scored.",
    gathering=("9.5 us, 230 bytes of memory", "5 % less, but 614 bytes of memory"),
    cannot_stream="it fires timers of a stream too early",
    in_memory=True,
)

ENGINES: dict[str, Engine] = {
    "DirectRunner": FN_API,
    "FnApiRunner": FN_API,
    "PrismRunner": Engine(
        "PrismRunner",
        "streams on one machine; batch too",
        "Beam's local engine for streams. It splits bundles that make no progress, even stateful "
        "ones, and then loses state; the first option forbids splitting (apache/beam#35771).",
        needs="`goodgain prism`",
        gathering=("115 us", "85 us"),
        arguments=("--experiments=prism_disable_sdf_split", _WATCH_FOR_A_YEAR),
    ),
    "FlinkRunner": Engine(
        "FlinkRunner",
        "batch and streams on a cluster",
        "Without the first option, rows that a bundle emits at a checkpoint can be lost. In batch, "
        "each of the many stages would start its own Python workers; kept for some seconds, they "
        "serve the next stage; and Flink would copy each element between steps, though nothing "
        "changes it. Streams do not keep workers: dead ones would be kept too, and restarts would "
        "find them. A stream needs checkpoints, at which its files are published.",
        needs="a job server and a Python worker pool",
        gathering=("320 to 385 us", "97 to 111 us"),
        arguments=("--finish_bundle_before_checkpointing",),
        batch_arguments=("--environment_cache_millis=5000", "--faster_copy"),
        stream_arguments=("--checkpointing_interval=10000",),
    ),
    "SparkRunner": Engine(
        "SparkRunner",
        "batch on a cluster",
        "Python workers are kept for the next stage as on Flink.",
        needs="a job server and a Python worker pool",
        gathering=("1,490 us", "110 us"),
        arguments=(_WATCH_FOR_A_YEAR,),
        batch_arguments=("--environment_cache_millis=5000",),
        cannot_stream="Beam's runner for Spark has neither state nor timers in a stream",
    ),
    "DataflowRunner": Engine(
        "DataflowRunner",
        "batch and streams on Google Cloud",
        "Google's own service needs no further options.",
        needs="`pip install 'goodgain[gcp]'`",
    ),
    "PortableRunner": Engine(
        "PortableRunner",
        "any other job server",
        "Any engine behind a job endpoint. It gets no safety flags, so name the engine itself if "
        "it is in this table.",
        needs="`--job_endpoint`",
        arguments=(_WATCH_FOR_A_YEAR,),
    ),
    "DaskRunner": Engine(
        "",
        "",
        "Listed so that an error message says why it cannot be used.",
        cannot_run="it sends elements of one output of a step to the readers of another",
    ),
}
