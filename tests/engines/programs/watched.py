"""Score the files of a watched folder: `... .watched --input=IN --journal=KEPT --output=OUT`.

Each closed conversation is written to a file named by its id, each late record to one in `late`.
SIGTERM stops the source. For engines whose workers are threads of the program.
"""

import argparse
import signal
from pathlib import Path

import apache_beam as beam
import msgspec
from apache_beam.options.pipeline_options import PipelineOptions

from goodgain.pipeline.run.stream.stopping import THIS_PROCESS
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.streaming.closing import Closing
from goodgain.transforms.score_stream import ScoreStreamedPayloads
from goodgain.transforms.sources.folder_watch import FolderSource
from goodgain.transforms.sources.watch import WatchFolder
from tests.core.direct import scoring

OTHER = ".other"


class WriteFile(beam.DoFn):
    """Writes each element as JSON to its own file, and a repeated one that differs next to it.

    A restarted stream emits some elements again.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def process(self, element: ConversationScore | LateRow) -> None:
        row = getattr(element, "conversation", element)
        name = row.conversation_id
        if isinstance(row, LateRow):
            name = f"late/{name}-{row.iteration}"
        target = self._folder / name
        target.parent.mkdir(exist_ok=True)
        content = msgspec.json.encode(row, enc_hook=int)
        if target.exists() and target.read_bytes() != content:
            target = target.with_suffix(OTHER)
        temporary = target.with_suffix(".temporary")
        temporary.write_bytes(content)
        temporary.replace(target)


def main() -> None:
    """Run the pipeline with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("input", "journal", "output"):
        parser.add_argument(f"--{name}", required=True)
    arguments, options = parser.parse_known_args()
    source = FolderSource(arguments.input, arguments.journal, poll_seconds=0.1, settle_ms=0)
    pipeline = beam.Pipeline(options=PipelineOptions(options))
    traces = pipeline | WatchFolder(source, scoring().rules, end=THIS_PROCESS)
    scored = traces.payloads | ScoreStreamedPayloads(
        scoring(), Closing(gap=source.rule.quiet_ms), THIS_PROCESS
    )
    _ = scored.scores | "Rows" >> beam.ParDo(WriteFile(arguments.output))
    _ = scored.late | "Late" >> beam.ParDo(WriteFile(arguments.output))
    result = pipeline.run()
    signal.signal(signal.SIGTERM, lambda *_: THIS_PROCESS.request_stop())
    result.wait_until_finish()


if __name__ == "__main__":
    main()
