"""Rows of positions from an unbounded source: `... .programs.stream --output=FOLDER`."""

import argparse

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from tests.engines.programs.counting import RowsOfPositions
from tests.engines.programs.source import MarkEnd, ReadPositions, start


def main() -> None:
    """Run the pipeline with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--positions", type=int, required=True)
    parser.add_argument("--pace", type=int, default=400, help="positions per second")
    arguments, options = parser.parse_known_args()
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        _ = (
            pipeline
            | beam.Create([(arguments.pace, arguments.positions)])
            | beam.Map(start).with_output_types(tuple[float, int, int])
            | beam.ParDo(ReadPositions()).with_output_types(int)
            | beam.ParDo(MarkEnd(arguments.output, arguments.positions)).with_output_types(int)
            | RowsOfPositions(arguments.output)
        )


if __name__ == "__main__":
    main()
