"""Streams whose panes and rows are recorded, on the runner that follows a script exactly."""

from random import Random

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.pipeline.results import rows
from goodgain.pipeline.run.stream import datasets
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.fingerprint import FingerprintCalls
from goodgain.transforms.score_stream import ScoreStreamedPayloads
from goodgain.transforms.stream_end import WITH_ENGINE
from goodgain.transforms.windowed_means import WindowedMeans
from tests.core.direct import scoring
from tests.golden import traces
from tests.transforms.streams import MINUTE, Script, at, collect_outputs, minute_of

_COSTS = ("tokens", "usd")


class StreamCase(Struct, frozen=True):
    """A stream and how it is scored; `closing` and `means` as in `WindowedMeans`."""

    name: str
    seed: int
    scoring: Scoring
    closing: Closing
    means: MeansOptions = MeansOptions()


STREAMS = (
    StreamCase(
        "live and costs",
        31,
        scoring(cost=_COSTS, budget=("tokens=100",), max_i=3),
        Closing(gap=10 * MINUTE, allowed_lateness=20 * MINUTE, live=True),
        MeansOptions((("arm",), ("arm", "market"))),
    ),
    StreamCase(
        "late and details",
        32,
        scoring(per_call=True, bounds=True, write_duplicates=True, max_i=3),
        Closing(gap=5 * MINUTE, allowed_lateness=15 * MINUTE),
        MeansOptions(cluster="query_id"),
    ),
)


def _script(case):
    """Records up to 12 minutes out of order; the watermark follows the newest by 3 minutes."""
    random = Random(case.seed)
    calls = []
    for number, record in enumerate(traces.records(case.seed, 8)):
        minute = 9 * int(record["conversation_id"].split("-")[1]) + record["iteration"]
        timed = {"timestamp": at(minute), "is_final": number % 11 == 0}
        calls.append(parse_mapping({**record, **timed}))
    arrivals = sorted(calls, key=lambda call: call.timestamp + random.randrange(12) * MINUTE)
    script, reached = Script(), 0
    for call in arrivals:
        script.arrive(call)
        if (newest := minute_of(call.timestamp) - 3) > reached:
            reached = newest
            script.watermark(reached)
    return script


def outputs_of_stream(case):
    """The rows of all datasets of a stream, by name, sorted."""
    with collect_outputs() as (pipeline, keep, given):
        scored = (
            pipeline
            | _script(case).end()
            | FingerprintCalls(Packing.of(case.scoring))
            | ScoreStreamedPayloads(case.scoring, case.closing, WITH_ENGINE)
        )
        means = scored.scores | WindowedMeans(
            case.scoring,
            case.closing,
            case.means,
            window=60 * MINUTE,
            end=WITH_ENGINE,
        )
        for name, elements in (
            *(("scores", scored.scores), ("late", scored.late), ("live", scored.live)),
            *(("rejected", scored.rejected), ("means", means.rows)),
            *(("missed", means.missed), ("warnings", means.warnings)),
        ):
            keep(name, elements)
    written = {
        "conversations": ("scores", datasets.conversation_rows),
        "iterations": ("scores", rows.iteration_rows),
        "calls": ("scores", rows.call_rows),
        "duplicates": ("scores", rows.duplicate_rows),
        "late": ("late", rows.struct_row),
        "live": ("live", datasets.live_rows),
        "rejected": ("rejected", rows.struct_row),
        "means": ("means", datasets.windowed_rows),
        "missed": ("missed", lambda missed: [asdict(missed)]),
        "warnings": ("warnings", datasets.warning_rows),
    }
    return {
        name: sorted((row for _, element in given[output] for row in rows_of(element)), key=_order)
        for name, (output, rows_of) in written.items()
    }


def _order(row):
    """Rows by what identifies them, so that a new column does not change their order."""
    names = (
        *("window_start", "slice", "metric", "i", "population", "pane", "code"),
        *("conversation_id", "turn", "iteration", "call_position", "rank", "revision", "timestamp"),
    )
    return [str(row.get(name)) for name in names]
