"""Count slow elements of one key: `python -m tests.engines.programs.slow_state --output=FOLDER`.

The smallest program in which an engine that splits stateful bundles loses state. For Prism, whose
workers are threads of the program.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import apache_beam as beam
from apache_beam.coders import VarIntCoder
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import ReadModifyWriteStateSpec, TimerSpec, on_timer
from apache_beam.utils.timestamp import Timestamp

# Prism splits a bundle that has shown no progress for 200 ms.
SECONDS_PER_ELEMENT = 0.3


class CountSlowly(beam.DoFn):
    """Counts the elements of a key in state, and emits their number at the end."""

    COUNT = ReadModifyWriteStateSpec("count", VarIntCoder())
    END = TimerSpec("end", TimeDomain.WATERMARK)

    def process(
        self,
        element: tuple[str, int],
        count=beam.DoFn.StateParam(COUNT),
        end=beam.DoFn.TimerParam(END),
    ) -> None:
        time.sleep(SECONDS_PER_ELEMENT)
        count.write((count.read() or 0) + 1)
        end.set(Timestamp(0))

    @on_timer(END)
    def emit(self, count=beam.DoFn.StateParam(COUNT)) -> Iterator[int]:
        yield count.read()


class WriteNumber(beam.DoFn):
    """Writes each number to the file `counted`."""

    def __init__(self, folder: str) -> None:
        self._file = Path(folder) / "counted"

    def process(self, element: int) -> None:
        self._file.write_text(str(element))


def main() -> None:
    """Run the pipeline with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--elements", type=int, required=True)
    arguments, options = parser.parse_known_args()
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        _ = (
            pipeline
            | beam.Create(range(arguments.elements), reshuffle=False)
            | beam.Map(under_one_key).with_output_types(tuple[str, int])
            | beam.ParDo(CountSlowly()).with_output_types(int)
            | beam.ParDo(WriteNumber(arguments.output))
        )


def under_one_key(element: int) -> tuple[str, int]:
    """An element with the key that all elements share."""
    return "one", element


if __name__ == "__main__":
    main()
