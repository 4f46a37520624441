"""Rows of a bounded number of positions: `... .programs.batch --output=FOLDER`."""

import argparse

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from tests.engines.programs.counting import RowsOfPositions, at_event_time


def main() -> None:
    """Run the pipeline with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--positions", type=int, default=2000)
    arguments, options = parser.parse_known_args()
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        _ = (
            pipeline
            | beam.Create(range(arguments.positions), reshuffle=False)
            | beam.Map(at_event_time).with_output_types(int)
            | RowsOfPositions(arguments.output)
        )


if __name__ == "__main__":
    main()
