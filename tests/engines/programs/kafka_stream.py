"""Rows of positions in a Kafka topic: `... .kafka_stream --output=FOLDER --brokers=... ...`."""

import argparse

import apache_beam as beam
from apache_beam.io.kafka import ReadFromKafka
from apache_beam.options.pipeline_options import PipelineOptions

from tests.engines.programs.counting import RowsOfPositions, position_of_record


def main() -> None:
    """Run the pipeline with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--brokers", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--java_expansion", required=True)
    arguments, options = parser.parse_known_args()
    with beam.Pipeline(options=PipelineOptions(options)) as pipeline:
        _ = (
            pipeline
            | ReadFromKafka(
                {"bootstrap.servers": arguments.brokers, "auto.offset.reset": "earliest"},
                [arguments.topic],
                timestamp_policy=ReadFromKafka.create_time_policy,
                expansion_service=arguments.java_expansion,
            )
            | beam.Map(position_of_record).with_output_types(int)
            | RowsOfPositions(arguments.output)
        )


if __name__ == "__main__":
    main()
